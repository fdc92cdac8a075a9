// How long history is kept, and letting go of what is older.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "store/sqlite_db.h"
#include "store/tiers.h"

namespace gpusight::store {

struct Retention {
  // A tier is kept at least as long as the finer ones: it may answer in their place.
  std::array<Duration, kTierCount> keep = {kTiers[0].keep, kTiers[1].keep, kTiers[2].keep};
  uint64_t max_bytes = uint64_t{2} << 30;  // of the database, what is free in it left out
  Duration keep_events = std::chrono::hours(24 * 365);
  int64_t max_events = 200'000;
};

// Pages in use, in bytes.
Result<uint64_t> used_bytes(Db& db);

// One step: forgets a few chunks that are too old at `now_ms` (nullopt: nobody knows), or, where
// the database is larger than it may be, the oldest of the finest tier that has any beyond what is
// still to be rolled up; then the next tier's, then events. Gives pages back to the file system
// where many are free. False when nothing is left to do. A transaction of its own.
Result<bool> trim_history(Db& db, const Retention& retention, std::optional<int64_t> now_ms);

}  // namespace gpusight::store
