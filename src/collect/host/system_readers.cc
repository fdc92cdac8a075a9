#include "collect/host/system_readers.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace gpusight::collect::host {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr MetricId kLoads[] = {MetricId::kHostLoad1, MetricId::kHostLoad5, MetricId::kHostLoad15};
constexpr MetricId kUptime[] = {MetricId::kHostUptime};
constexpr MetricId kMemory[] = {MetricId::kHostMemoryTotal, MetricId::kHostMemoryAvailable,
                                MetricId::kHostMemoryUsed, MetricId::kHostSwapTotal,
                                MetricId::kHostSwapUsed};
constexpr std::string_view kResources[] = {"cpu", "memory", "io"};

// The lines of /proc/meminfo that are wanted, in bytes.
struct MemoryLines {
  std::optional<double> total, free, available, buffers, cached, swap_total, swap_free;

  std::optional<double>* find(std::string_view key) {
    if (key == "MemTotal:") return &total;
    if (key == "MemFree:") return &free;
    if (key == "MemAvailable:") return &available;
    if (key == "Buffers:") return &buffers;
    if (key == "Cached:") return &cached;
    if (key == "SwapTotal:") return &swap_total;
    if (key == "SwapFree:") return &swap_free;
    return nullptr;
  }
};

MemoryLines parse_meminfo(std::string_view text) {
  MemoryLines lines;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    std::optional<double>* wanted = lines.find(take_word(line));
    if (wanted == nullptr) continue;
    const auto kibibytes = take_uint(line);
    // Everything in this file is in units of 1024 bytes, called kB there.
    if (kibibytes) *wanted = static_cast<double>(*kibibytes) * 1024;
  }
  return lines;
}

// The number of "total=123456" in a line of a pressure file, in seconds.
std::optional<double> total_of(std::string_view line) {
  constexpr std::string_view kKey = "total=";
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    if (!word.starts_with(kKey)) continue;
    const auto microseconds = parse_uint(word.substr(kKey.size()));
    if (microseconds) return static_cast<double>(*microseconds) * 1e-6;
  }
  return std::nullopt;
}

// One kind of pressure ("some" or "full") of one resource.
struct Pressure {
  std::optional<double> seconds;
  Reason reason = Reason::kNotSupported;
};

void parse_pressure(KernelFile& file, Pressure& some, Pressure& full) {
  bool has_full = false;
  std::string_view text = file.text();
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view kind = take_word(line);
    if (kind == "some") some.seconds = total_of(line);
    if (kind == "full") full.seconds = total_of(line);
    has_full = has_full || kind == "full";
  }
  // Before Linux 5.13 the file of the cpu has no such line, and that is in order.
  if (some.seconds && (full.seconds || !has_full)) return file.understood();
  file.not_understood();
  some.reason = full.reason = file.reason();
}

void put_pressure(MetricId metric, const std::array<Pressure, 3>& found, Report& report) {
  const bool none = std::ranges::all_of(found, [&](const Pressure& pressure) {
    return !pressure.seconds && pressure.reason == found.front().reason;
  });
  if (none) return report.absent(metric, found.front().reason);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].seconds) {
      report.set(metric, *found[i].seconds, {}, kResources[i]);
    } else {
      report.absent(metric, found[i].reason, kResources[i]);
    }
  }
}

}  // namespace

void LoadReader::poll(Report& report) {
  if (!file_.read()) return file_.absent(report, kLoads);
  std::string_view text = file_.text();
  std::array<double, 3> loads{};
  for (double& load : loads) {
    const auto number = parse_double(take_word(text));
    if (!number) {
      file_.not_understood();
      return file_.absent(report, kLoads);
    }
    load = *number;
  }
  file_.understood();
  for (size_t i = 0; i < loads.size(); ++i) report.set(kLoads[i], loads[i]);
}

void UptimeReader::poll(Report& report) {
  if (!file_.read()) return file_.absent(report, kUptime);
  std::string_view text = file_.text();
  const auto uptime = parse_double(take_word(text));
  if (!uptime) {
    file_.not_understood();
    return file_.absent(report, kUptime);
  }
  file_.understood();
  report.set(MetricId::kHostUptime, *uptime);
}

void MemoryReader::poll(Report& report) {
  if (!file_.read()) return file_.absent(report, kMemory);
  MemoryLines lines = parse_meminfo(file_.text());
  if (!lines.available && lines.free && lines.buffers && lines.cached) {
    lines.available = *lines.free + *lines.buffers + *lines.cached;
  }
  if (!lines.total || !lines.available) {
    file_.not_understood();
  } else {
    file_.understood();
  }
  const auto put = [&](MetricId metric, std::optional<double> bytes) {
    bytes ? report.set(metric, *bytes) : report.absent(metric, Reason::kDriverError);
  };
  const auto difference = [](std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional(*a - *b) : std::nullopt;
  };
  // Fewer than none used is a number that cannot be: set() drops it and counts it.
  put(MetricId::kHostMemoryTotal, lines.total);
  put(MetricId::kHostMemoryAvailable, lines.available);
  put(MetricId::kHostMemoryUsed, difference(lines.total, lines.available));
  put(MetricId::kHostSwapTotal, lines.swap_total);
  put(MetricId::kHostSwapUsed, difference(lines.swap_total, lines.swap_free));
}

PressureReader::PressureReader(const platform::RootFs& root, log::FaultLog& faults)
    : files_{KernelFile{root, "/proc/pressure/cpu", faults, KernelFile::OnFailure::kUnsupported},
             KernelFile{root, "/proc/pressure/memory", faults, KernelFile::OnFailure::kUnsupported},
             KernelFile{root, "/proc/pressure/io", faults, KernelFile::OnFailure::kUnsupported}} {}

void PressureReader::poll(Report& report) {
  std::array<Pressure, 3> some;
  std::array<Pressure, 3> full;
  for (size_t i = 0; i < files_.size(); ++i) {
    KernelFile& file = files_[i];
    if (file.read()) {
      parse_pressure(file, some[i], full[i]);
    } else {
      some[i].reason = full[i].reason = file.reason();
    }
  }
  put_pressure(MetricId::kHostPressureWaiting, some, report);
  put_pressure(MetricId::kHostPressureStalled, full, report);
}

}  // namespace gpusight::collect::host
