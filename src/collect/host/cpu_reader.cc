#include "collect/host/cpu_reader.h"

#include <algorithm>
#include <charconv>

namespace gpusight::collect::host {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr std::string_view kModeNames[] = {"user",   "nice", "system",  "idle",
                                           "iowait", "irq",  "softirq", "steal"};
constexpr size_t kIdle = 3;
constexpr size_t kIowait = 4;
constexpr size_t kModesOfAnyKernel = 4;
constexpr double kSecondsPerTick = 0.01;  // USER_HZ is 100, see platform/proc.h
constexpr uint64_t kMostTicks =
    1'000'000'000'000'000;             // what the catalogue allows: beyond it, garbage
constexpr uint32_t kMostCores = 8192;  // the most that a Linux kernel is built for
constexpr MetricId kAll[] = {MetricId::kHostCpuUtilization, MetricId::kHostCpuCoreUtilization,
                             MetricId::kHostCpuSeconds};

bool is_quiet(size_t mode) { return mode == kIdle || mode == kIowait; }

}  // namespace

void CpuReader::poll(Report& report) {
  if (!file_.read()) return file_.absent(report, kAll);
  const MonoTime now = report.now();
  ++reading_;
  Total total;
  std::optional<Line> whole;
  size_t cores = 0;
  std::string_view text = file_.text();
  // The processors stand first; what follows is long and of no interest.
  while (text.starts_with("cpu")) {
    const auto line = parse_line(take_line(text));
    if (!line) continue;
    if (line->is_core) {
      poll_core(*line, now, total, report);
      ++cores;
    } else {
      whole = line;
    }
  }
  if (!whole && cores == 0) {
    file_.not_understood();
    return file_.absent(report, kAll);
  }
  file_.understood();
  if (cores == 0) {
    report.absent(MetricId::kHostCpuCoreUtilization, Reason::kNotSupported);
    advance(whole_, whole->ticks, now, total);
    whole_.seen_in = reading_;
  }
  if (total.all > 0) {
    report.set(MetricId::kHostCpuUtilization, total.busy / total.all, total.window);
  } else {
    report.absent(MetricId::kHostCpuUtilization, Reason::kWarmingUp);
  }
  report_modes(whole ? &*whole : nullptr, total, report);
}

std::optional<CpuReader::Line> CpuReader::parse_line(std::string_view line) {
  Line parsed;
  const std::string_view name = take_word(line).substr(3);
  if (!name.empty()) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), parsed.core);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    if (parsed.core >= kMostCores) return std::nullopt;
    parsed.is_core = true;
  }
  while (parsed.modes < kModes) {
    const auto ticks = take_uint(line);
    if (!ticks) break;
    if (*ticks > kMostTicks) return std::nullopt;
    parsed.ticks[parsed.modes++] = *ticks;
  }
  if (parsed.modes < kModesOfAnyKernel) return std::nullopt;
  return parsed;
}

void CpuReader::poll_core(const Line& line, MonoTime now, Total& total, Report& report) {
  char digits[12];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), line.core).ptr;
  const std::string_view label(digits, end - digits);
  if (line.core >= cores_.size()) cores_.resize(line.core + 1);
  Core& core = cores_[line.core];
  if (core.seen_in == reading_) return;  // named twice: garbage
  const std::optional<Share> share = advance(core, line.ticks, now, total);
  core.seen_in = reading_;
  if (share) {
    report.set(MetricId::kHostCpuCoreUtilization, share->ratio, share->window, label);
  } else {
    report.absent(MetricId::kHostCpuCoreUtilization, Reason::kWarmingUp, label);
  }
}

// The share since the core's last reading, added to `total`; nullopt when there is none to compare
// with or no tick has passed.
std::optional<CpuReader::Share> CpuReader::advance(Core& core, const Ticks& ticks, MonoTime now,
                                                   Total& total) const {
  const bool was_here = core.seen_in != 0 && core.seen_in + 1 == reading_;
  const Ticks before = core.ticks;
  const Duration window = now - core.since;
  const bool quiet_went_back = ticks[kIdle] + ticks[kIowait] < before[kIdle] + before[kIowait];
  bool went_back = quiet_went_back;
  uint64_t all = 0;
  for (size_t mode = 0; mode < kModes; ++mode) {
    went_back = went_back || (!is_quiet(mode) && ticks[mode] < before[mode]);
    all += ticks[mode] - before[mode];  // unsigned: right in the end, if nothing went back
  }
  if (was_here && !went_back && all == 0) return std::nullopt;  // the old reading stands
  core.ticks = ticks;
  core.since = now;
  if (!was_here || went_back) return std::nullopt;
  const uint64_t quiet = ticks[kIdle] + ticks[kIowait] - before[kIdle] - before[kIowait];
  for (size_t mode = 0; mode < kModes; ++mode) {
    // Idle and iowait may have gone back.
    total.change[mode] += static_cast<double>(static_cast<int64_t>(ticks[mode] - before[mode]));
  }
  const auto busy = static_cast<double>(all - quiet);
  total.busy += busy;
  total.all += static_cast<double>(all);
  total.window = std::max(total.window, window);
  return Share{busy / static_cast<double>(all), window};
}

void CpuReader::report_modes(const Line* whole, const Total& total, Report& report) {
  if (!carried_) {
    if (whole == nullptr) return report.absent(MetricId::kHostCpuSeconds, Reason::kDriverError);
    carried_.emplace();
    std::ranges::copy(whole->ticks, carried_->begin());
    modes_ = whole->modes;
  } else {
    for (size_t mode = 0; mode < kModes; ++mode) (*carried_)[mode] += total.change[mode];
  }
  for (size_t mode = 0; mode < kModes; ++mode) {
    if (mode >= modes_) {
      report.absent(MetricId::kHostCpuSeconds, Reason::kNotSupported, kModeNames[mode]);
      continue;
    }
    highest_[mode] = std::max(highest_[mode], (*carried_)[mode]);
    report.set(MetricId::kHostCpuSeconds, highest_[mode] * kSecondsPerTick, {}, kModeNames[mode]);
  }
}

}  // namespace gpusight::collect::host
