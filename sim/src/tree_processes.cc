// The processes of the simulated machine below proc/, and the users they belong to.
#include <algorithm>
#include <cmath>
#include <set>

#include "tree_writer.h"

namespace gpusight::sim {
namespace {

constexpr double kTicksPerSecond = 100;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// When it began, in clock ticks since the machine was started.
long long start_ticks(const Scenario& scenario, const ProcessSpec& process, double at) {
  double begin = std::isinf(process.from) ? 60 - scenario.uptime_seconds : process.from;
  if (process.every_seconds > 0) {
    const double base = std::isinf(process.from) ? 0 : process.from;
    begin = base + std::floor((at - base) / process.every_seconds) * process.every_seconds;
  }
  return std::llround(std::max(0.0, begin + scenario.uptime_seconds) * kTicksPerSecond);
}

// Arguments separated by zero bytes, as the kernel keeps them.
std::string command_line(const ProcessSpec& process) {
  std::string text = process.command;
  std::replace(text.begin(), text.end(), ' ', '\0');
  return text + '\0';
}

void write_process(const Scenario& scenario, const RunningProcess& running, double at,
                   TreeWriter& out) {
  const ProcessSpec& process = *running.spec;
  const std::string folder = "proc/" + std::to_string(running.pid) + "/";
  const std::string comm = base_name(process.name).substr(0, 15);
  const std::string pid = std::to_string(running.pid);
  const long long began = start_ticks(scenario, process, at);
  const double lived = std::max(0.0, at + scenario.uptime_seconds - began / kTicksPerSecond);
  const auto user_ticks = static_cast<long long>(lived * kTicksPerSecond * 0.6);
  out.put(folder + "stat",
          pid + " (" + comm + ") S 1 " + pid + " " + pid + " 0 -1 4194304 1000 0 0 0 " +
              std::to_string(user_ticks) + " " + std::to_string(user_ticks / 10) +
              " 0 0 20 0 8 0 " + std::to_string(began) +
              " 8589934592 262144 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
  const std::string uid = std::to_string(process.uid);
  out.put(folder + "status", "Name:\t" + comm + "\nState:\tS (sleeping)\nTgid:\t" + pid +
                                 "\nPid:\t" + pid + "\nPPid:\t1\nUid:\t" + uid + "\t" + uid + "\t" +
                                 uid + "\t" + uid + "\nGid:\t" + uid + "\t" + uid + "\t" + uid +
                                 "\t" + uid + "\nVmRSS:\t 1048576 kB\nThreads:\t8\nNSpid:\t" + pid +
                                 "\n");
  out.line(folder + "comm", comm);
  out.put(folder + "cmdline", command_line(process));
  out.line(folder + "cgroup", process.cgroup);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Takes away the processes of an earlier instant.
void remove_gone(const std::set<std::string>& here, TreeWriter& out) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(out.root() / "proc", error)) {
    const std::string name = entry.path().filename().string();
    if (is_number(name) && here.count(name) == 0) std::filesystem::remove_all(entry.path(), error);
  }
}

void write_users(const Scenario& scenario, TreeWriter& out) {
  std::set<unsigned> uids = {0};
  for (const ProcessSpec& process : scenario.processes) uids.insert(process.uid);
  std::string text;
  for (const unsigned uid : uids) {
    const std::string number = std::to_string(uid);
    const std::string name = uid == 0 ? "root" : "user" + number;
    text += name + ":x:" + number + ":" + number + "::/home/" + name + ":/bin/sh\n";
  }
  out.put("etc/passwd", text);
}

}  // namespace

void write_processes(const Scenario& scenario, double at, TreeWriter& out) {
  std::set<std::string> here;
  for (const ProcessSpec& process : scenario.processes) {
    const std::optional<RunningProcess> running = running_at(process, at);
    if (!running || !here.insert(std::to_string(running->pid)).second) continue;
    write_process(scenario, *running, at, out);
  }
  remove_gone(here, out);
  write_users(scenario, out);
}

}  // namespace gpusight::sim
