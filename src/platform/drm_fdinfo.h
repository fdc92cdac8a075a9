// What a DRM driver says of one client, an open descriptor of a GPU's node: /proc/PID/fdinfo/FD, in
// the common form that drivers have had since Linux 5.19. Pure; the text is from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpusight::platform {

// One engine, or several alike under one name. Counters count since the client was opened and may
// go backwards: keep the larger until it is passed.
struct DrmEngine {
  std::string name;  // "gfx", "render", "rcs"
  std::optional<uint64_t> busy_ns;
  std::optional<uint64_t> cycles;        // busy, of total_cycles or of max_hertz
  std::optional<uint64_t> total_cycles;  // that passed, busy or not
  std::optional<uint64_t> max_hertz;
  uint64_t capacity = 1;  // how many engines the name stands for
};

// Bytes in one region of memory: "vram", "gtt", "system".
struct DrmRegion {
  std::string name;
  std::optional<uint64_t> total;  // shared and not yet backed included
  std::optional<uint64_t> shared;
  std::optional<uint64_t> resident;  // in memory now; older drivers call it "memory"
};

struct DrmClient {
  std::string driver;
  std::string address;         // of the PCI device, lower case; empty: not told
  std::optional<uint64_t> id;  // the same on every descriptor of one client
  std::vector<DrmEngine> engines;
  std::vector<DrmRegion> regions;

  const DrmEngine* engine(std::string_view name) const;
  const DrmRegion* region(std::string_view name) const;
};

inline constexpr size_t kMostDrmEngines = 64;
inline constexpr size_t kMostDrmRegions = 32;

// kNotFound: the descriptor is of no DRM client. Keys and units that are not known are passed over;
// a number without a unit is of bytes.
Result<DrmClient> parse_drm_fdinfo(std::string_view text);

}  // namespace gpusight::platform
