#include "collect/nvml/process_accounts.h"

#include <algorithm>

namespace gpusight::collect::nvml {
namespace {

constexpr double kPerCent = 0.01;
constexpr uint64_t kMostMemory = 1'000'000'000'000'000;
constexpr double kLongestLife = 1e9;  // seconds: no machine runs so long

std::optional<double> share(uint32_t percent) {
  return percent <= 100 ? std::optional(percent * kPerCent) : std::nullopt;
}

// The driver tells how long a process has lived once that is over; until then the start says it.
std::optional<double> life_of(const AccountingStats& stats, uint64_t now_us) {
  if (stats.is_running == 0) return static_cast<double>(stats.lived_ms) / 1000;
  if (stats.started_us == 0 || stats.started_us > now_us) return std::nullopt;
  const double lived = static_cast<double>(now_us - stats.started_us) / 1e6;
  return lived <= kLongestLife ? std::optional(lived) : std::nullopt;
}

model::Accounting accounting_of(const AccountingStats& stats, uint64_t now_us) {
  model::Accounting told{.utilization_ratio = share(stats.gpu_percent),
                         .memory_utilization_ratio = share(stats.memory_percent),
                         .seconds = life_of(stats, now_us)};
  if (stats.most_memory <= kMostMemory) {
    told.most_memory_bytes = static_cast<double>(stats.most_memory);
  }
  return told;
}

}  // namespace

void ProcessAccounts::set_on(bool is_on) {
  MutexLock lock(mutex_);
  is_on_ = is_on;
  if (!is_on) entries_.clear();
}

std::optional<model::Accounting> ProcessAccounts::of(uint32_t pid) {
  MutexLock lock(mutex_);
  if (!is_on_) return std::nullopt;
  const auto at = entries_.find(pid);
  if (at != entries_.end()) return at->second.told;
  if (entries_.size() < kMost) entries_.emplace(pid, Entry{});
  return std::nullopt;
}

void ProcessAccounts::keep(const std::set<uint32_t>& pids) {
  MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return !pids.contains(entry.first); });
}

uint64_t ProcessAccounts::wanted_calls() const {
  MutexLock lock(mutex_);
  return std::min<uint64_t>(kMostCalls, entries_.size());
}

std::vector<uint32_t> ProcessAccounts::longest_ago() const {
  MutexLock lock(mutex_);
  std::vector<std::pair<std::optional<MonoTime>, uint32_t>> order;
  order.reserve(entries_.size());
  for (const auto& [pid, entry] : entries_) order.emplace_back(entry.asked_at, pid);
  std::ranges::sort(order);
  if (order.size() > kMostCalls) order.resize(kMostCalls);
  std::vector<uint32_t> pids;
  pids.reserve(order.size());
  for (const auto& [asked_at, pid] : order) pids.push_back(pid);
  return pids;
}

void ProcessAccounts::read(Conversation& talk, const DriverClock& driver, const Clock& clock) {
  if (talk.api().accounting_stats == nullptr) return;
  for (const uint32_t pid : longest_ago()) {
    if (talk.fate().is_over() || !talk.has_room_for(1)) return;  // the others next time
    AccountingStats stats{};
    const MonoTime start = talk.report().now();
    // Not a question of what the device supports: one process may not be known.
    const Return code = talk.api().accounting_stats(talk.handle(), pid, &stats);
    talk.report().count_call(talk.report().now() - start);
    if (code == Return::kGpuIsLost || ends_generation(code)) return;
    MutexLock lock(mutex_);
    const auto at = entries_.find(pid);
    if (at == entries_.end()) continue;
    at->second.asked_at = start;
    at->second.told.reset();
    if (code == Return::kSuccess) at->second.told = accounting_of(stats, driver.now_us(clock));
  }
}

}  // namespace gpusight::collect::nvml
