// A moment as users write it. Pure but for the local time zone; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace gpusight::cli {

// Milliseconds since 1970 of
//   2026-11-30T03:12:00.5Z, 2026-11-30T03:12+08:00   as RFC 3339 has it, seconds may be left out
//   2026-11-30 03:12:00, 2026-11-30                  local time
//   03:12, 03:12:30                                  local time, the last one there was
//   1764472320.5                                     Unix seconds
//   now, -1h30m                                      so long ago
// nullopt for anything else.
std::optional<int64_t> parse_moment(std::string_view text, WallTime now);

// "2026-11-30T03:12:00.500Z"
std::string moment_text(int64_t time_ms);

}  // namespace gpusight::cli
