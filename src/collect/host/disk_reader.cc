#include "collect/host/disk_reader.h"

#include <algorithm>
#include <array>
#include <optional>

namespace gpusight::collect::host {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr MetricId kAll[] = {MetricId::kHostDiskRead, MetricId::kHostDiskWritten,
                             MetricId::kHostDiskBusy};
constexpr Duration kLookUpEvery = std::chrono::seconds(30);
constexpr double kSectorBytes = 512;  // the unit of this file, whatever the disk's own sectors are
// Numbers behind the name, from Documentation/admin-guide/iostats.rst.
constexpr size_t kSectorsRead = 2;
constexpr size_t kSectorsWritten = 6;
constexpr size_t kBusyMilliseconds = 9;
constexpr size_t kNumbers = 11;

struct DiskLine {
  uint64_t major = 0;
  uint64_t minor = 0;
  std::string_view name;
  std::array<uint64_t, kNumbers> numbers{};
};

std::optional<DiskLine> parse_line(std::string_view line) {
  DiskLine parsed;
  const auto major = take_uint(line);
  const auto minor = take_uint(line);
  if (!major || !minor) return std::nullopt;
  parsed.major = *major;
  parsed.minor = *minor;
  parsed.name = take_word(line);
  for (uint64_t& number : parsed.numbers) {
    const auto read = take_uint(line);
    if (!read) return std::nullopt;
    number = *read;
  }
  return parsed;
}

void put(const DiskLine& line, std::string_view label, Report& report) {
  const auto number = [&](size_t at) { return static_cast<double>(line.numbers[at]); };
  report.set(MetricId::kHostDiskRead, number(kSectorsRead) * kSectorBytes, {}, label);
  report.set(MetricId::kHostDiskWritten, number(kSectorsWritten) * kSectorBytes, {}, label);
  report.set(MetricId::kHostDiskBusy, number(kBusyMilliseconds) * 1e-3, {}, label);
}

}  // namespace

void DiskReader::poll(Report& report) {
  if (!file_.read()) return file_.absent(report, kAll);
  if (report.now() - looked_up_at_ >= kLookUpEvery) {
    rows_.clear();
    looked_up_at_ = report.now();
  }
  size_t lines = 0;
  size_t disks = 0;
  std::string_view text = file_.text();
  const bool has_text = !text.empty();
  while (!text.empty()) {
    const auto line = parse_line(take_line(text));
    if (!line || !row_of(lines++, line->major, line->minor, line->name).counts) continue;
    if (disks == kMostDisks) {
      faults_.report("host disks", "more disks than are kept; the last of the list are left out");
      break;
    }
    ++disks;
    put(*line, plain_label(line->name, scratch_), report);
  }
  if (has_text && lines == 0) {
    file_.not_understood();
    return file_.absent(report, kAll);
  }
  file_.understood();
  if (disks > 0) return;
  for (const MetricId metric : kAll) report.absent(metric, Reason::kNotSupported);
}

const DiskReader::Row& DiskReader::row_of(size_t at, uint64_t major, uint64_t minor,
                                          std::string_view name) {
  if (at < rows_.size()) {
    const Row& row = rows_[at];
    if (row.major == major && row.minor == minor && row.name == name) return row;
    rows_.resize(at);  // the list changed from here on
  }
  return rows_.emplace_back(
      Row{.major = major, .minor = minor, .name = std::string(name), .counts = counts(name)});
}

bool DiskReader::counts(std::string_view name) const {
  for (const std::string_view prefix : {"loop", "ram", "zram"}) {
    if (name.starts_with(prefix)) return false;
  }
  std::string folder = "/sys/block/";
  const size_t start = folder.size();
  folder += name;
  std::replace(folder.begin() + static_cast<ptrdiff_t>(start), folder.end(), '/', '!');
  if (!root_.exists(folder)) return false;
  if (root_.read_int(folder + "/size") == 0) return false;
  if (root_.read_int(folder + "/hidden") == 1) return false;
  return root_.list(folder + "/slaves").empty();
}

}  // namespace gpusight::collect::host
