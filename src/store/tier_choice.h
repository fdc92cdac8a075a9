// Which tier answers a selector, and which parts of its rows.
//
// Where a coarser tier gives the very answer that raw samples would give, it is read instead of
// them: the windows of min, max, sum, count, avg and last over time are whole rows where start,
// step and range are multiples of the resolution. min, max, count and last are then bit by bit
// those of raw samples. A sum, and the mean made of it, is exact where raw samples are rounded
// one by one before they are added: the two differ by at most 2^-52 of the sum of the magnitudes.
//
// An instant selector whose steps are whole minutes, two or more apart, reads the `last` of
// minutes: the last sample up to a step is that of the row which ends there. Only a series that
// ended inside of a minute is still there at its end.
//
// Otherwise it is the finest tier that reaches back to the beginning of the range (or to the
// beginning of all that is recorded) and whose rows are no longer than half a step, or half the
// range of a range selector. Where none is that fine, the finest that reaches back.
//
// Inside of a single window, whole rows of a yet coarser tier stand for those of the tier chosen.
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
  // A coarser tier whose rows stand for those of `tier` where they lie in the window whole and
  // after `inside_from_ms`; nullopt for none.
  std::optional<Tier> inside;
  int64_t inside_from_ms = 0;
};
TierChoice choose_tier(const Reach& reach, const model::SelectHints& hints);

}  // namespace gpusight::store
