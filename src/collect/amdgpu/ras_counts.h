// Memory and bus errors that amdgpu counts by the part of the chip (RAS), and pages of memory that
// it took out of use. Every read of a count makes the driver ask and clear the hardware's counters
// and add them to its totals: they are read once a minute, and the totals told again in between.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collect/amdgpu/amd_device.h"
#include "collect/amdgpu/file_reader.h"
#include "collect/source.h"

namespace gpusight::collect::amdgpu {

struct RasCount {
  std::optional<uint64_t> corrected;
  std::optional<uint64_t> uncorrected;
  std::optional<uint64_t> deferred;
};
// "ue: 0", "ce: 12" and "de: 1", a line each; what is not there is not told, as when the driver
// says "Query currently inaccessible".
RasCount parse_ras_count(std::string_view text);

struct BadPages {
  uint64_t retired = 0;
  uint64_t pending = 0;  // to be retired when they are free, or failed to
};
// Lines "0xPAGE : 0xSIZE : R", P or F.
BadPages parse_bad_pages(std::string_view text);

class RasCounts {
 public:
  RasCounts(const platform::RootFs& root, const AmdDevice& gpu);
  void read(Report& report, FileReader& reader);
  static std::span<const catalog::MetricId> metrics();

 private:
  struct Block {
    std::string name;  // "umc"
    std::string path;
    RasCount count;
    RasCount told;  // what it told last of each kind
    std::optional<model::Reason> failure;
  };
  using Kind = std::optional<uint64_t> RasCount::*;
  void put(Report& report, Kind kind, catalog::MetricId by_block,
           std::optional<catalog::MetricId> total) const;
  void ask(FileReader& reader);

  std::vector<Block> blocks_;
  std::string pages_path_;  // empty: none
  std::optional<BadPages> pages_;
  std::optional<MonoTime> asked_at_;
};

}  // namespace gpusight::collect::amdgpu
