#include "store/tier_choice.h"

#include <algorithm>

namespace gpusight::store {
namespace {

constexpr std::array kMin = {RollupPart::kMin};
constexpr std::array kMax = {RollupPart::kMax};
constexpr std::array kSum = {RollupPart::kSum};
constexpr std::array kCount = {RollupPart::kCount};
constexpr std::array kMean = {RollupPart::kSum, RollupPart::kCount};
constexpr std::array kLast = {RollupPart::kLast};
constexpr std::array kAll = {RollupPart::kLast,    RollupPart::kMin,   RollupPart::kMax,
                             RollupPart::kSum,     RollupPart::kFirst, RollupPart::kCount,
                             RollupPart::kIncrease};
static_assert(kAll.size() == kRollupParts);

// Functions that need nothing but whole rows, and what of the rows.
struct WholeRows {
  std::string_view function;
  std::span<const RollupPart> parts;
};
constexpr std::array kOfWholeRows = {
    WholeRows{"avg_over_time", kMean},  WholeRows{"count_over_time", kCount},
    WholeRows{"last_over_time", kLast}, WholeRows{"max_over_time", kMax},
    WholeRows{"min_over_time", kMin},   WholeRows{"sum_over_time", kSum},
};

// nullptr for any other function, and for instant selectors.
const WholeRows* find_whole_rows(const model::SelectHints& hints) {
  if (hints.range_ms == 0) return nullptr;
  const auto found = std::ranges::find(kOfWholeRows, hints.function, &WholeRows::function);
  return found == kOfWholeRows.end() ? nullptr : &*found;
}

bool has_steps(const model::SelectHints& hints) {
  return hints.end_ms - hints.range_ms > hints.start_ms;
}

// Whether every window of the query begins and ends where rows of the tier do.
bool are_windows_whole(const model::SelectHints& hints, int64_t resolution_ms) {
  return hints.start_ms % resolution_ms == 0 && hints.range_ms % resolution_ms == 0 &&
         (!has_steps(hints) || hints.step_ms % resolution_ms == 0) &&
         hints.end_ms % resolution_ms == 0;
}

bool reaches(const Reach& reach, Tier tier, int64_t start_ms) {
  const auto& first = reach[static_cast<size_t>(tier)];
  return first && *first <= start_ms;
}

std::optional<int64_t> earlier(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// Minutes answer as samples do where an instant selector looks at their ends only. Rows of hours
// would have it look back further than samples.
std::optional<Tier> exact_instant_tier(const Reach& reach, const model::SelectHints& hints,
                                       int64_t start_ms) {
  const bool wants_times = hints.function == "timestamp";
  const bool is_whole = !wants_times && hints.step_ms >= 2 * kMinuteMs &&
                        hints.lookback_ms >= 2 * kMinuteMs && are_windows_whole(hints, kMinuteMs) &&
                        reaches(reach, Tier::kMinute, start_ms);
  return is_whole ? std::optional(Tier::kMinute) : std::nullopt;
}

std::optional<Tier> exact_tier(const Reach& reach, const model::SelectHints& hints,
                               int64_t start_ms) {
  if (hints.range_ms == 0) return exact_instant_tier(reach, hints, start_ms);
  if (find_whole_rows(hints) == nullptr) return std::nullopt;
  std::optional<Tier> coarsest;
  for (const TierRow& tier : kTiers) {
    if (tier.resolution_ms == 0 || !reaches(reach, tier.tier, start_ms)) continue;
    if (are_windows_whole(hints, tier.resolution_ms)) coarsest = tier.tier;
  }
  return coarsest;
}

Tier fine_tier(const Reach& reach, const model::SelectHints& hints, int64_t start_ms) {
  const int64_t longest_ms = (hints.range_ms > 0 ? hints.range_ms : hints.step_ms) / 2;
  std::optional<Tier> reaching;
  for (const TierRow& tier : kTiers) {
    if (!reaches(reach, tier.tier, start_ms)) continue;
    if (tier.resolution_ms <= longest_ms || tier.resolution_ms == 0) return tier.tier;
    if (!reaching) reaching = tier.tier;
  }
  return reaching.value_or(Tier::kRaw);
}

// The coarsest tier beyond that which was chosen that may stand in for it inside the window.
void choose_inside(const Reach& reach, const model::SelectHints& hints, TierChoice& choice) {
  const bool is_rolled = choice.tier != Tier::kRaw;
  if (!is_rolled || has_steps(hints) || find_whole_rows(hints) == nullptr) return;
  for (const TierRow& other : kTiers) {
    const auto& first = reach[static_cast<size_t>(other.tier)];
    if (other.tier <= choice.tier || !first) continue;
    choice.inside = other.tier;
    choice.inside_from_ms = *first - other.resolution_ms;
  }
}

std::span<const RollupPart> parts_for(const model::SelectHints& hints) {
  if (hints.range_ms == 0) return kLast;
  const WholeRows* whole = find_whole_rows(hints);
  return whole != nullptr ? whole->parts : std::span<const RollupPart>(kAll);
}

}  // namespace

Result<Reach> reach_of(Db& db) {
  Reach reach;
  Stmt first = TRY(db.prepare("SELECT first_ms FROM chunk WHERE tier=?1 ORDER BY last_ms LIMIT 1"));
  for (const TierRow& tier : kTiers) {
    std::optional<int64_t>& of_tier = reach[static_cast<size_t>(tier.tier)];
    if (TRY(first.bind(1, static_cast<int64_t>(tier.tier)).step())) {
      of_tier = first.number(0);
    }
    first.reset();
    // What is raw and not rolled up yet is rolled up on reading.
    of_tier = earlier(of_tier, reach[0]);
  }
  return reach;
}

TierChoice choose_tier(const Reach& reach, const model::SelectHints& hints) {
  TierChoice choice{.parts = parts_for(hints)};
  std::optional<int64_t> beginning;
  for (const auto& tier : reach) beginning = earlier(beginning, tier);
  if (!beginning) return choice;
  // The start itself is not wanted.
  const int64_t start_ms = std::max(hints.start_ms + 1, *beginning);
  const auto exact = exact_tier(reach, hints, start_ms);
  choice.tier = exact ? *exact : fine_tier(reach, hints, start_ms);
  choose_inside(reach, hints, choice);
  return choice;
}

}  // namespace gpusight::store
