#include "collect/nvml/process_shares.h"

#include <algorithm>
#include <cmath>

namespace gpusight::collect::nvml {
namespace {

using model::Process;
using model::Reason;
using model::Value;

constexpr size_t kFirstRows = 128;
constexpr size_t kMostRows = 8192;
constexpr int kMostTries = 3;
constexpr double kTenthsOfPercent = 1000;  // of one, as the catalogue resolves ratios
constexpr uint32_t kMostPercent = 100;
constexpr uint64_t kFutureUs = 2'000'000;
constexpr uint64_t kFirstLookUs = 1'000'000;
// The slowest boards sample once a second: silence that lasts longer is idleness.
constexpr uint64_t kSilenceUs = 1'000'000;

void set_all(Process& process, const Value& value) {
  process.utilization_ratio = value;
  process.memory_utilization_ratio = value;
  process.encoder_utilization_ratio = value;
  process.decoder_utilization_ratio = value;
}

void copy_shares(const Process& from, Process& to) {
  to.utilization_ratio = from.utilization_ratio;
  to.memory_utilization_ratio = from.memory_utilization_ratio;
  to.encoder_utilization_ratio = from.encoder_utilization_ratio;
  to.decoder_utilization_ratio = from.decoder_utilization_ratio;
}

bool is_sound(const ProcessShare& row) {
  return std::max({row.sm, row.memory, row.encoder, row.decoder}) <= kMostPercent;
}

}  // namespace

// The list may grow between two calls: more room, a few times.
Return ProcessShareReader::ask(Conversation& talk) {
  size_t room = std::max(rows_.size(), kFirstRows);
  for (int attempt = 1;; ++attempt) {
    rows_.assign(room, ProcessShare{});
    ProcessShares request{.version = struct_version<ProcessShares>(1),
                          .count = static_cast<uint32_t>(room),
                          .last_seen_us = last_seen_us_,
                          .shares = rows_.data()};
    const Return code = talk.ask(Query::kProcessShares, 0, talk.api().process_shares, &request);
    if (code == Return::kSuccess) {
      rows_.resize(std::min<size_t>(request.count, room));
      return code;
    }
    const bool may_retry = attempt < kMostTries && room < kMostRows;
    if (code != Return::kInsufficientSize || !may_retry) return code;
    room = more_room(room, request.count, kMostRows);
  }
}

Return ProcessShareReader::ask_v1(Conversation& talk) {
  size_t room = std::max(rows_v1_.size(), kFirstRows);
  for (int attempt = 1;; ++attempt) {
    rows_v1_.assign(room, ProcessShareV1{});
    auto count = static_cast<unsigned>(room);
    const Return code =
        talk.ask(Query::kProcessSharesV1, 0, talk.api().process_shares_v1, rows_v1_.data(), &count,
                 static_cast<unsigned long long>(last_seen_us_));
    if (code == Return::kSuccess) {
      rows_.clear();
      for (const ProcessShareV1& row : std::span(rows_v1_).first(std::min<size_t>(count, room))) {
        rows_.push_back(
            {row.timestamp_us, row.pid, row.sm, row.memory, row.encoder, row.decoder, 0, 0});
      }
      return code;
    }
    const bool may_retry = attempt < kMostTries && room < kMostRows;
    if (code != Return::kInsufficientSize || !may_retry) return code;
    room = more_room(room, count, kMostRows);
  }
}

// Sound rows by process; moves on what was seen. False when there was none.
bool ProcessShareReader::gather(uint64_t now_us, const std::vector<Process>& processes,
                                Report& report) {
  shares_.clear();
  uint64_t newest_us = last_seen_us_;
  for (const ProcessShare& row : rows_) {
    if (row.pid == 0 && row.timestamp_us == 0) continue;  // of the ring, and not in use
    const bool is_listed = std::ranges::any_of(
        processes, [&](const Process& process) { return process.pid == int64_t{row.pid}; });
    const bool is_future = row.timestamp_us > now_us + kFutureUs;
    if (row.pid == 0 || row.timestamp_us == 0 || is_future || !is_sound(row)) {
      report.count_implausible();
      const bool is_new = row.timestamp_us > last_seen_us_ && !is_future;
      if (is_listed && is_new) shares_[row.pid].has_garbage = true;
      continue;
    }
    if (row.timestamp_us <= last_seen_us_) continue;  // told before
    newest_us = std::max(newest_us, row.timestamp_us);
    if (!is_listed) continue;  // it is gone
    Share& share = shares_[row.pid];
    ++share.count;
    share.sm += row.sm;
    share.memory += row.memory;
    share.encoder += row.encoder;
    share.decoder += row.decoder;
  }
  return std::exchange(last_seen_us_, newest_us) != newest_us;
}

void ProcessShareReader::put(const Share& share, Duration window, Report& report,
                             Process& process) {
  if (share.count == 0 && share.has_garbage) {
    return set_all(process, Value::absent(Reason::kImplausible));
  }
  const auto mean = [&](double sum) {
    const double percent = share.count == 0 ? 0 : sum / static_cast<double>(share.count);
    return report.fresh(std::round(percent * 10) / kTenthsOfPercent, window);
  };
  process.utilization_ratio = mean(share.sm);
  process.memory_utilization_ratio = mean(share.memory);
  process.encoder_utilization_ratio = mean(share.encoder);
  process.decoder_utilization_ratio = mean(share.decoder);
}

void ProcessShareReader::read(Conversation& talk, std::vector<Process>& processes) {
  Report& report = talk.report();
  const uint64_t now_us = driver_.now_us(clock_);
  // Without a time the driver would give an average over all that it remembers; one that lies in
  // the future, after the clock was set back, would make us deaf.
  if (last_seen_us_ == 0 || last_seen_us_ > now_us + kFutureUs) {
    last_seen_us_ = now_us - std::min(now_us, kFirstLookUs);
  }
  const uint64_t before_us = last_seen_us_;
  Return code = ask(talk);
  if (is_unsupported(code)) code = ask_v1(talk);
  if (is_empty(code)) {
    rows_.clear();
  } else if (code != Return::kSuccess) {
    for (Process& process : processes) set_all(process, Value::absent(reason_of(code)));
    last_.clear();
    return;
  }
  const bool has_news = gather(now_us, processes, report);
  const bool is_silent = !has_news && now_us > before_us + kSilenceUs;
  const auto window = std::chrono::microseconds(has_news ? last_seen_us_ - before_us
                                                         : now_us - std::min(now_us, before_us));
  for (Process& process : processes) {
    const auto known = last_.find(process.pid);
    if (has_news || is_silent || known == last_.end()) {
      const auto share = shares_.find(process.pid);
      put(share == shares_.end() ? Share{} : share->second, window, report, process);
    } else {
      copy_shares(known->second, process);  // the driver has not sampled again yet
    }
  }
  last_.clear();
  for (const Process& process : processes) last_.emplace(process.pid, process);
}

}  // namespace gpusight::collect::nvml
