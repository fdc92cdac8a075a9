// Which tier answers a selector, and which parts of its rows.
//
// Where a coarser tier gives the very answer that raw samples would give, it is read instead of
// them: the windows of min, max, sum, count, avg and last over time are whole rows where start,
// step and range are multiples of the resolution. min, max, count and last are then bit by bit
// those of raw samples. A sum, and the mean made of it, is exact where raw samples are rounded
// one by one before they are added: the two differ by at most 2^-52 of the sum of the magnitudes.
//
// Otherwise it is the finest tier that reaches back to the beginning of the range (or to the
// beginning of all that is recorded) and whose rows are no longer than half a step, or half the
// range of a range selector. Where none is that fine, the finest that reaches back.
//
// Pure but for reach_of(), which asks the database.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "model/queryable.h"
#include "store/chunk_codec.h"
#include "store/sqlite_db.h"
#include "store/tiers.h"

namespace gpusight::store {

// The first time that a tier has a row for; nullopt when it has none. (That a rolled-up row stands
// for a while before its time does not make it reach further back than the samples it is made of.)
using Reach = std::array<std::optional<int64_t>, kTierCount>;
Result<Reach> reach_of(Db& db);

struct TierChoice {
  Tier tier = Tier::kRaw;
  // What the selector's function looks at, at least one; constant data. Only `last` tells of rows
  // that have but stale markers, which functions of whole windows pass over.
  std::span<const RollupPart> parts;
};
TierChoice choose_tier(const Reach& reach, const model::SelectHints& hints);

}  // namespace gpusight::store
