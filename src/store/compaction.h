// Keeping the database in shape: small chunks become large ones, and what is raw is rolled up.
// Each call does one step in a transaction of its own, so that commits never wait long.
//
// Not thread-safe; for the connection that writes.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/chunk_table.h"

namespace gpusight::store {

// Rows of a merged chunk at most: four hours of seconds. More pack hardly better, and all columns
// of a group are in memory at once.
inline constexpr size_t kMergedRows = 16384;
static_assert(kMergedRows <= kMaxChunkRows);

struct Compactor {
  Db& db;
  ChunkLoader& loader;
  ChunkEncoder& encoder;
};

// Merges the chunks of one group in one window that is over by `now_ms`, the newest committed tick.
// False when there is nothing to merge. A damaged chunk is left as it is.
Result<bool> merge_step(const Compactor& compactor, int64_t now_ms);

// Rolls one group up over one window that is over by `now_ms`. False when all are rolled up.
Result<bool> roll_step(const Compactor& compactor, int64_t now_ms);

}  // namespace gpusight::store
