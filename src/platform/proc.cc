#include "platform/proc.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpusight::platform {
namespace {

constexpr size_t kNameBytes = 64;  // the kernel keeps 15 of a program, up to 63 of its own threads
constexpr size_t kFileBytes = 16384;
constexpr uint64_t kMostPages = 1ULL << 40;
constexpr std::string_view kFirstPidNamespace = "pid:[4026531836]";  // PROC_PID_INIT_INO

std::string path_of(std::string_view pid, std::string_view file) {
  std::string path = "/proc/";
  path.append(pid).append(1, '/').append(file);
  return path;
}

uint64_t page_bytes() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

Status corrupt(std::string_view what) { return {Code::kCorrupt, std::string(what)}; }

// The line of `text` that starts with `key`, without the key.
std::optional<std::string_view> line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) return line.substr(key.size());
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace

Result<ProcStat> parse_proc_stat(std::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return corrupt("stat: no name in parentheses");
  }
  ProcStat stat;
  stat.comm = clean_text(text.substr(open + 1, close - open - 1), kNameBytes);
  // What follows the name, field 3 of proc(5) first.
  const std::vector<std::string_view> fields = split_words(text.substr(close + 1));
  constexpr size_t kState = 3 - 3;
  constexpr size_t kFlags = 9 - 3;
  constexpr size_t kUserTime = 14 - 3;
  constexpr size_t kSystemTime = 15 - 3;
  constexpr size_t kThreads = 20 - 3;
  constexpr size_t kStartTime = 22 - 3;
  constexpr size_t kResidentPages = 24 - 3;
  if (fields.size() <= kResidentPages || fields[kState].size() != 1) {
    return corrupt("stat: too few fields");
  }
  const auto flags = parse_uint(fields[kFlags]);
  const auto start = parse_uint(fields[kStartTime]);
  const auto user = parse_uint(fields[kUserTime]);
  const auto system = parse_uint(fields[kSystemTime]);
  const auto threads = parse_uint(fields[kThreads]);
  const auto resident = parse_uint(fields[kResidentPages]);
  if (!flags || !start || !user || !system || !threads || !resident) {
    return corrupt("stat: a field is no number");
  }
  stat.state = fields[kState].front();
  stat.flags = static_cast<uint32_t>(*flags);
  stat.cpu_ticks = *user + *system;
  stat.threads = static_cast<uint32_t>(std::min<uint64_t>(*threads, UINT32_MAX));
  stat.start_ticks = *start;
  stat.resident_bytes = std::min(*resident, kMostPages) * page_bytes();
  return stat;
}

Result<ProcStatus> parse_proc_status(std::string_view text) {
  // The name is the first line and has its line breaks escaped, so no later line can be forged.
  const auto uid_line = line_of(text, "Uid:");
  if (!uid_line) return corrupt("status: no Uid line");
  const std::vector<std::string_view> uids = split_words(*uid_line);
  if (uids.size() != 4) return corrupt("status: Uid line is cut");
  std::array<uint32_t, 2> parsed{};
  for (size_t i = 0; i < parsed.size(); ++i) {
    const auto uid = parse_uint(uids[i]);
    if (!uid || *uid > UINT32_MAX) return corrupt("status: a uid is no number");
    parsed[i] = static_cast<uint32_t>(*uid);
  }
  ProcStatus status{.real_uid = parsed[0], .effective_uid = parsed[1]};
  for (const std::string_view word : split_words(line_of(text, "NSpid:").value_or(""))) {
    const auto pid = parse_int(word);
    if (!pid) return corrupt("status: NSpid is no number");
    status.namespace_pids.push_back(*pid);
  }
  return status;
}

Result<ProcStat> read_proc_stat(const RootFs& root, std::string_view pid) {
  return parse_proc_stat(TRY(root.read(path_of(pid, "stat"), kFileBytes)));
}

Result<ProcStatus> read_proc_status(const RootFs& root, std::string_view pid) {
  return parse_proc_status(TRY(root.read(path_of(pid, "status"), kFileBytes)));
}

Result<std::string> read_proc_cgroup(const RootFs& root, std::string_view pid) {
  return root.read(path_of(pid, "cgroup"), kFileBytes);
}

std::optional<int64_t> read_boot_time_unix_s(const RootFs& root) {
  const auto text = root.read("/proc/stat", 8 << 20);
  if (!text.ok()) return std::nullopt;
  const auto line = line_of(*text, "btime ");
  const auto boot = line ? parse_int(*line) : std::nullopt;
  return boot && *boot > 0 ? boot : std::nullopt;
}

Result<uint64_t> read_memory_total(const RootFs& root) {
  const std::string text = TRY(root.read("/proc/meminfo", 64 << 10));
  const auto words = split_words(line_of(text, "MemTotal:").value_or(""));
  const auto kib = words.size() == 2 ? parse_uint(words[0]) : std::nullopt;
  if (!kib || words[1] != "kB" || *kib > UINT64_MAX / 1024) return corrupt("meminfo: no MemTotal");
  return *kib * 1024;
}

bool is_machine_pid_namespace(const RootFs& root) {
  const auto own = root.link_name("/proc/self/ns/pid");
  const auto self = read_proc_status(root, "self");
  const bool outside = self.ok() && self->namespace_pids.size() > 1;
  if (!outside && own.value_or(std::string(kFirstPidNamespace)) == kFirstPidNamespace) return true;
  const auto second = read_proc_stat(root, "2");
  return second.ok() && second->is_kernel_thread();
}

}  // namespace gpusight::platform
