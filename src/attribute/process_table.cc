#include "attribute/process_table.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "attribute/cgroup_path.h"
#include "attribute/masked_arguments.h"
#include "base/log.h"
#include "base/text.h"

namespace gpusight::attribute {
namespace {

using model::HostUse;
using model::Owner;
using model::OwnerState;
using platform::ProcStat;

constexpr size_t kNameBytes = 64;
// Time of a processor is counted in hundredths of a second: over less than this it says little.
constexpr Duration kShortestCpuSpan = std::chrono::seconds(1);
constexpr size_t kIdDigits = 64;
constexpr size_t kShownDigits = 12;  // as the runtimes' own tools show ids

// Drivers give a path, some with arguments, which may hold secrets: the name is the last part of
// it.
std::string command_of(std::string_view driver_name) {
  driver_name = driver_name.substr(0, driver_name.find(' '));
  return clean_text(driver_name.substr(driver_name.rfind('/') + 1), kNameBytes);
}

// Told by /proc that we may not know, or told nonsense: nothing is claimed.
bool is_unknowable(Code code) { return code == Code::kPermissionDenied || code == Code::kCorrupt; }

std::string shown_id(const std::string& id) {
  return id.size() == kIdDigits ? id.substr(0, kShownDigits) : id;
}

// Longer command lines than are shown are read, so that a secret is not cut from its name.
constexpr size_t kCommandLineBytes = 16384;

// Empty where the pid has passed to another process.
std::string find_arguments(const platform::RootFs& root, int64_t pid, uint64_t start_ticks) {
  const std::string number = std::to_string(pid);
  const auto text = root.read("/proc/" + number + "/cmdline", kCommandLineBytes);
  if (!text.ok()) return "";
  const auto stat = platform::read_proc_stat(root, number);
  if (!stat.ok() || stat->start_ticks != start_ticks) return "";
  return masked_arguments(*text);
}

// What the thread that asks runtimes owns: it may outlive the table.
struct ContainerFinder {
  explicit ContainerFinder(platform::RootFs root) : names(std::move(root), &clock) {}
  SystemClock clock;
  ContainerNames names;
};

}  // namespace

ProcessTable::ProcessTable(platform::RootFs root, const Clock* clock)
    : root_(std::move(root)),
      clock_(clock),
      foreign_(!platform::is_machine_pid_namespace(root_)),
      users_(root_),
      arguments_([root = root_](
                     const ProcessKey& key) { return find_arguments(root, key.first, key.second); },
                 clock),
      containers_(
          [finder = std::make_shared<ContainerFinder>(root_)](const ContainerKey& key) {
            return finder->names.find(key.first, key.second);
          },
          clock) {}

void ProcessTable::resolve(std::span<model::Process> processes) {
  resolve_lists(std::span(&processes, 1));
}

void ProcessTable::resolve_lists(std::span<const std::span<model::Process>> lists) {
  begin_call();
  for (const std::span<model::Process> list : lists) {
    for (model::Process& process : list) resolve_one(process);
  }
}

void ProcessTable::begin_call() {
  ++call_;
  new_in_call_ = 0;
  boot_read_ = false;
  if (!foreign_) users_.refresh();
}

void ProcessTable::resolve_one(model::Process& process) {
  const uint64_t told_start = std::exchange(process.start_ticks, 0);
  process.owner = Owner{};
  process.host = HostUse{};
  if (foreign_) {
    process.owner.state = OwnerState::kForeign;
    return;
  }
  if (const Entry* entry = entry_of(process.pid, told_start)) {
    process.start_ticks = entry->start_ticks;
    process.owner = entry->owner;
    process.host = entry->host;
  }
  if (process.owner.command.empty()) process.owner.command = command_of(process.driver_name);
}

// The entry as of this call; nullptr when there is none and none can be made now.
ProcessTable::Entry* ProcessTable::entry_of(int64_t pid, uint64_t told_start) {
  auto it = entries_.find(pid);
  if (it == entries_.end()) {
    if (new_in_call_ >= kNewPerCall || !make_room()) return nullptr;
    it = entries_.emplace(pid, Entry{}).first;
  }
  Entry& entry = it->second;
  entry.used_in = call_;
  // Whoever tells the start has just read it from /proc: the process is still the one we know.
  const bool is_same =
      told_start != 0 && told_start == entry.start_ticks && entry.owner.state == OwnerState::kKnown;
  if (is_same && call_ - entry.looked_at_in < kCallsBetweenLooks) return &entry;
  if (entry.looked_at_in != call_) {
    entry.looked_at_in = call_;
    char digits[24];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), pid).ptr;
    look_again({digits, static_cast<size_t>(end - digits)}, entry);
    if (entry.owner.state == OwnerState::kKnown) look_elsewhere(pid, entry);
  }
  return &entry;
}

void ProcessTable::look_again(std::string_view pid, Entry& entry) {
  const Result<ProcStat> stat = platform::read_proc_stat(root_, pid);
  if (!stat.ok()) {
    if (is_unknowable(stat.status().code())) {
      entry = Entry{.looked_at_in = call_, .used_in = call_};
    } else {
      // A pid whose first look finds nothing has used up its part of the budget, too.
      if (entry.owner.state == OwnerState::kPending) ++new_in_call_;
      entry.owner.state = OwnerState::kExited;
      entry.host = HostUse{.arguments = std::move(entry.host.arguments),
                           .cgroup = std::move(entry.host.cgroup)};
    }
    return;
  }
  if (entry.owner.state == OwnerState::kKnown && entry.start_ticks == stat->start_ticks) {
    const bool is_renamed = std::exchange(entry.owner.command, stat->comm) != stat->comm;
    if (is_renamed || ++entry.looks % kLooksBetweenPlaces == 0) look_at_place(pid, entry);
    look_at_host(*stat, entry);
    return;
  }
  entry = Entry{.start_ticks = stat->start_ticks, .looked_at_in = call_, .used_in = call_};
  if (new_in_call_ >= kNewPerCall) return;
  ++new_in_call_;
  look_up(pid, *stat, entry);
}

void ProcessTable::look_up(std::string_view pid, const ProcStat& stat, Entry& entry) {
  look_at_place(pid, entry);
  const auto status = platform::read_proc_status(root_, pid);
  if (!status.ok() && is_unknowable(status.status().code())) return;
  // The pid may have passed to another process between the two readings; what status said is
  // believed only if the start time still stands.
  const auto again = platform::read_proc_stat(root_, pid);
  const bool same = again.ok() && again->start_ticks == stat.start_ticks;
  if (again.ok() && !same) return;  // the next call finds the new process
  Owner& owner = entry.owner;
  owner.command = stat.comm;
  owner.start_unix_ms = start_unix_ms(stat.start_ticks);
  if (!same || !status.ok()) {
    owner.state = OwnerState::kExited;
    return;
  }
  // The real uid: who started it, whatever rights the program took on since.
  owner.uid = status->real_uid;
  owner.user = users_.name_of(status->real_uid);
  owner.state = OwnerState::kKnown;
  look_at_host(stat, entry);
}

void ProcessTable::look_at_host(const ProcStat& stat, Entry& entry) {
  HostUse& host = entry.host;
  host.is_zombie = stat.state == 'Z';
  host.threads = stat.threads;
  host.memory_bytes = static_cast<double>(stat.resident_bytes);
  const MonoTime now = clock_->mono();
  const auto span = entry.cpu_at ? std::optional(now - *entry.cpu_at) : std::nullopt;
  if (span && *span < kShortestCpuSpan) return;
  // Counted up by each thread on its own, the sum may be read a tick short of the one before.
  if (span && stat.cpu_ticks >= entry.cpu_ticks) {
    const auto spent = static_cast<double>(stat.cpu_ticks - entry.cpu_ticks);
    host.cpu_ratio = spent / static_cast<double>(platform::kClockTicksPerSecond) / seconds(*span);
  }
  entry.cpu_ticks = stat.cpu_ticks;
  entry.cpu_at = now;
}

void ProcessTable::look_at_place(std::string_view pid, Entry& entry) {
  const Result<std::string> text = platform::read_proc_cgroup(root_, pid);
  if (!text.ok()) return;
  CgroupPlace place = parse_cgroup(*text);
  Owner& owner = entry.owner;
  const bool has_names = !place.container_id.empty() && place.container_id == owner.container_id;
  entry.host.cgroup = std::move(place.path);
  if (has_names) return;  // where it was
  owner.container = shown_id(place.container_id);
  owner.container_id = std::move(place.container_id);
  owner.runtime = std::move(place.runtime);
  owner.pod = std::move(place.pod_uid);
  owner.job = std::move(place.job);
  owner.unit = std::move(place.unit);
  owner.image.clear();
  owner.pod_namespace.clear();
}

void ProcessTable::look_elsewhere(int64_t pid, Entry& entry) {
  if (auto arguments = arguments_.ask({pid, entry.start_ticks})) {
    entry.host.arguments = *std::move(arguments);
  }
  Owner& owner = entry.owner;
  if (owner.container_id.empty()) return;
  const auto found = containers_.ask({owner.container_id, owner.runtime});
  if (!found || *found == ContainerName{}) return;
  if (!found->name.empty()) owner.container = found->name;
  if (!found->image.empty()) owner.image = found->image;
  if (found->pod.empty()) return;
  owner.pod = found->pod;
  owner.pod_namespace = found->pod_namespace;
}

// Drops the entry unused for longest when the table is full; false if all are in use.
bool ProcessTable::make_room() {
  if (entries_.size() < kMaxEntries) return true;
  const auto oldest =
      std::ranges::min_element(entries_, {}, [](const auto& item) { return item.second.used_in; });
  if (oldest->second.used_in == call_) {
    if (refused_++ == 0) {
      log::warning("attribute: more than {} processes at once; the rest have no owner",
                   kMaxEntries);
    }
    return false;
  }
  entries_.erase(oldest);
  return true;
}

std::optional<int64_t> ProcessTable::start_unix_ms(uint64_t start_ticks) {
  if (!boot_read_) {
    boot_unix_s_ = platform::read_boot_time_unix_s(root_);
    boot_read_ = true;
  }
  constexpr uint64_t kCenturyTicks = 100ULL * 366 * 86400 * platform::kClockTicksPerSecond;
  constexpr int64_t kLatestBoot = 1LL << 40;
  if (!boot_unix_s_ || *boot_unix_s_ > kLatestBoot || start_ticks > kCenturyTicks) {
    return std::nullopt;
  }
  const auto since_boot_ms =
      static_cast<int64_t>(start_ticks * 1000 / platform::kClockTicksPerSecond);
  return *boot_unix_s_ * 1000 + since_boot_ms;
}

}  // namespace gpusight::attribute
