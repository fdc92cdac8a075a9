// CPU, memory, disks, network, pressure and sensors of the simulated machine.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tree_writer.h"
#include "waveform.h"

namespace gpusight::sim {
namespace {

constexpr double kTicksPerSecond = 100;
constexpr double kWavePeriod = 45;  // seconds in which the load swings once
constexpr double kSwing = 0.4;      // by this share of the mean
constexpr double kTau = 6.283185307179586;

// Share of the CPUs in use at an instant, and its integral since the machine was started.
double load_at(const Scenario& scenario, double since_boot) {
  return scenario.host.load * (1 + kSwing * std::sin(kTau * since_boot / kWavePeriod));
}

double busy_since_boot(const Scenario& scenario, double since_boot) {
  const double swing = kSwing * kWavePeriod / kTau;
  return scenario.host.load *
         (since_boot + swing * (1 - std::cos(kTau * since_boot / kWavePeriod)));
}

std::string count(double value) { return std::to_string(static_cast<long long>(value)); }

std::string decimal(double value) {
  // Written by hand: the numbers of /proc know no locale.
  const long long cents = std::llround(value * 100);
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%02lld", cents / 100, cents % 100);
  return text;
}

std::string cpu_line(const std::string& name, double total_ticks, double busy_ticks) {
  const double system = busy_ticks * 0.2;
  const double wait = busy_ticks * 0.03;
  return name + " " + count(busy_ticks * 0.77) + " 0 " + count(system) + " " +
         count(total_ticks - busy_ticks) + " " + count(wait) + " 0 0 0 0 0\n";
}

void write_cpu(const Scenario& scenario, double boot, TreeWriter& out) {
  const unsigned cpus = scenario.host.cpus;
  const double total = boot * kTicksPerSecond;
  const double busy = busy_since_boot(scenario, boot) * kTicksPerSecond;
  std::string text = cpu_line("cpu ", total * cpus, busy * cpus);
  std::string info;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    // No two cores are alike, yet together they are the mean.
    const double part = 1 + 0.3 * noise(scenario.seed, 900, static_cast<std::int64_t>(cpu));
    text += cpu_line("cpu" + std::to_string(cpu), total, std::min(total, busy * part));
    info += "processor\t: " + std::to_string(cpu) + "\nmodel name\t: Simulated CPU\n\n";
  }
  text += "intr 0\nctxt " + count(boot * 40000) + "\nbtime 1000000000\nprocesses " +
          count(4000 + boot * 3) + "\nprocs_running 3\nprocs_blocked 0\n";
  out.put("proc/stat", text);
  out.put("proc/cpuinfo", info);
  const std::string range = cpus == 1 ? "0" : "0-" + std::to_string(cpus - 1);
  out.line("sys/devices/system/cpu/online", range);
  out.line("sys/devices/system/cpu/possible", range);
  const double load = load_at(scenario, boot) * cpus;
  out.line("proc/loadavg", decimal(load) + " " + decimal(load * 0.97) + " " +
                               decimal(scenario.host.load * cpus) + " 3/900 2990000");
  out.line("proc/uptime",
           decimal(boot) + " " + decimal(cpus * (boot - busy_since_boot(scenario, boot))));
}

void write_memory(const Scenario& scenario, double boot, TreeWriter& out) {
  const double total = scenario.host.memory_gib * 1048576.0;
  const double used = total * (0.25 + 0.2 * load_at(scenario, boot));
  const double cached = total * 0.3;
  const auto row = [](const char* name, double kib) {
    return std::string(name) + ": " + count(kib) + " kB\n";
  };
  out.put("proc/meminfo", row("MemTotal", total) + row("MemFree", total - used - cached) +
                              row("MemAvailable", total - used) + row("Buffers", total * 0.01) +
                              row("Cached", cached) + row("SwapCached", 0) +
                              row("SwapTotal", 8388608) + row("SwapFree", 8300000) +
                              row("Dirty", 2048) + row("Shmem", total * 0.005) +
                              row("SReclaimable", total * 0.01));
  out.put("proc/vmstat", "pgpgin " + count(boot * 1200) + "\npgpgout " + count(boot * 2600) +
                             "\npswpin 12\npswpout 340\npgfault " + count(boot * 9000) +
                             "\npgmajfault " + count(boot * 2) + "\noom_kill 0\n");
}

void write_disks_and_network(double boot, TreeWriter& out) {
  const auto disk = [&](const char* device, double read, double written) {
    return "   " + std::string(device) + " " + count(boot * 30) + " 0 " + count(boot * read) + " " +
           count(boot * 12) + " " + count(boot * 45) + " 0 " + count(boot * written) + " " +
           count(boot * 40) + " 0 " + count(boot * 50) + " " + count(boot * 52) + " 0 0 0 0 0 0\n";
  };
  out.put("proc/diskstats",
          disk("259 0 nvme0n1", 42000, 18000) + disk("259 1 nvme0n1p1", 41000, 18000));
  const auto interface = [&](const char* name, double received, double sent) {
    return std::string(name) + ": " + count(boot * received) + " " + count(boot * received / 900) +
           " 0 0 0 0 0 0 " + count(boot * sent) + " " + count(boot * sent / 900) + " 0 0 0 0 0 0\n";
  };
  out.put("proc/net/dev",
          "Inter-|   Receive                                                |  Transmit\n"
          " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
          "drop fifo colls carrier compressed\n" +
              interface("    lo", 4000, 4000) + interface("  eth0", 2400000, 900000));
}

void write_pressure(const Scenario& scenario, double boot, TreeWriter& out) {
  const double share = load_at(scenario, boot);
  const auto rows = [&](double some, double full) {
    const auto one = [&](const char* name, double percent) {
      return std::string(name) + " avg10=" + decimal(percent) + " avg60=" + decimal(percent * 0.9) +
             " avg300=" + decimal(percent * 0.8) + " total=" + count(boot * percent * 10000) + "\n";
    };
    return one("some", some) + one("full", full);
  };
  out.put("proc/pressure/cpu", rows(share * 8, 0));
  out.put("proc/pressure/io", rows(share * 3, share));
  out.put("proc/pressure/memory", rows(0, 0));
}

void write_sensors(const Scenario& scenario, double boot, TreeWriter& out) {
  const double heat = load_at(scenario, boot);
  const std::string cpu = "sys/class/hwmon/hwmon0/";
  out.line(cpu + "name", "k10temp");
  out.line(cpu + "temp1_label", "Tctl");
  out.line(cpu + "temp1_input", count((38 + 45 * heat) * 1000));
  const std::string disk = "sys/class/hwmon/hwmon1/";
  out.line(disk + "name", "nvme");
  out.line(disk + "temp1_label", "Composite");
  out.line(disk + "temp1_input", count((36 + 6 * heat) * 1000));
  out.line(disk + "temp1_crit", "84850");
}

void write_nodes(const Scenario& scenario, TreeWriter& out) {
  unsigned nodes = 1;
  for (const GpuSpec& gpu : scenario.gpus) nodes = std::max(nodes, gpu.numa_node + 1);
  for (unsigned node = 0; node < nodes; ++node) {
    const unsigned first = scenario.host.cpus * node / nodes;
    const unsigned last = scenario.host.cpus * (node + 1) / nodes;
    if (last == first) continue;
    out.line("sys/devices/system/node/node" + std::to_string(node) + "/cpulist",
             std::to_string(first) + "-" + std::to_string(last - 1));
  }
}

void write_names(const Scenario& scenario, TreeWriter& out) {
  char machine_id[40];
  std::snprintf(machine_id, sizeof machine_id, "%016llx%016llx",
                static_cast<unsigned long long>(mix(scenario.seed, 1)),
                static_cast<unsigned long long>(mix(scenario.seed, 2)));
  out.line("etc/machine-id", machine_id);
  out.line("etc/hostname", scenario.host.hostname);
  out.line("proc/sys/kernel/hostname", scenario.host.hostname);
  out.line("proc/sys/kernel/osrelease", "6.1.0-sim-amd64");
  out.line("proc/sys/kernel/pid_max", "4194304");
  out.put("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Simulated GNU/Linux\"\n");
}

}  // namespace

void write_host(const Scenario& scenario, double at, TreeWriter& out) {
  const double boot = std::max(1.0, at + scenario.uptime_seconds);
  write_cpu(scenario, boot, out);
  write_memory(scenario, boot, out);
  write_disks_and_network(boot, out);
  write_pressure(scenario, boot, out);
  write_sensors(scenario, boot, out);
  write_nodes(scenario, out);
  write_names(scenario, out);
}

}  // namespace gpusight::sim
