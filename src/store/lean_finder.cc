#include "store/lean_finder.h"

#include <algorithm>
#include <cmath>

namespace gpusight::store {
namespace {

using column_format::Lean;

// A metric's relatives stand near it in the catalogue's order.
constexpr size_t kMostOffers = 24;
constexpr size_t kLeastValues = 64;
// So many numbers, evenly over the column, tell whether two columns go together.
constexpr size_t kSamples = 192;
// Below this there is little to win: half a logarithm of it are the bits saved for each number.
constexpr double kUnexplainedWorthTrying = 0.85;
// What leans costs reading another, and no other may lean on it: not for a little.
constexpr double kLeaningWorthIt = 0.92;
constexpr double kLargestFactor = 65536.0 * 65536.0;

// Sums over pairs, from which a line through them follows.
struct Pairs {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  void add(double a, double b) {
    n += 1;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
    yy += b * b;
  }
  double variance_x() const { return xx - x * x / n; }
  double variance_y() const { return yy - y * y / n; }
  double covariance() const { return xy - x * y / n; }
  double unexplained(double factor) const {
    const double whole = variance_y();
    if (!(whole > 0)) return 1;
    return (whole - 2 * factor * covariance() + factor * factor * variance_x()) / whole;
  }
};

template <typename Each>
void for_each_sample(size_t count, const Each& each) {
  const size_t step = std::max<size_t>(1, count / kSamples);
  for (size_t i = 1; i < count; i += step) each(i);
}

int64_t to_factor(double factor) {
  factor *= 65536;
  return std::fabs(factor) < kLargestFactor ? std::llround(factor) : 0;
}

double difference(int64_t a, int64_t b) {
  return static_cast<double>(
      static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)));
}

bool is_constant(std::span<const int64_t> values) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == values.front(); });
}

}  // namespace

void LeanFinder::offer(uint32_t id, const ChunkColumn& column, std::span<const int64_t> values) {
  if (column.form != ChunkColumn::Form::kQuanta || values.size() < kLeastValues ||
      is_constant(values)) {
    return;
  }
  if (size_ == 0) next_ = 0;
  if (offers_.size() < kMostOffers) offers_.resize(kMostOffers);
  Offer& offer = offers_[next_];
  offer.id = id;
  offer.column = &column;
  offer.values = values;
  if (!column.states.empty()) {
    offer.copied.assign(values.begin(), values.end());
    offer.values = offer.copied;
  }
  next_ = (next_ + 1) % kMostOffers;
  size_ = std::min(size_ + 1, kMostOffers);
}

LeanFinder::Fit LeanFinder::fit_level(const Offer& offer, std::span<const int64_t> values) const {
  Pairs pairs;
  for_each_sample(values.size(), [&](size_t i) {
    pairs.add(difference(offer.values[i], offer.values[0]), difference(values[i], values[0]));
  });
  const double variance = pairs.variance_x();
  if (!(variance > 0)) return {};
  const double factor = pairs.covariance() / variance;
  const Lean lean{.id = offer.id, .factor = to_factor(factor), .is_sum = false};
  if (lean.factor == 0) return {};
  return {.offer = &offer, .lean = lean, .unexplained = pairs.unexplained(factor)};
}

LeanFinder::Fit LeanFinder::fit_sum(const Offer& offer, std::span<const int64_t> values) const {
  Pairs pairs;
  for_each_sample(values.size(), [&](size_t i) {
    pairs.add(static_cast<double>(offer.values[i]), difference(values[i], values[i - 1]));
  });
  if (!(pairs.xx > 0)) return {};
  // What something grows by is proportional to it: a line through zero.
  const double factor = pairs.xy / pairs.xx;
  const Lean lean{.id = offer.id, .factor = to_factor(factor), .is_sum = true};
  if (lean.factor == 0) return {};
  return {.offer = &offer, .lean = lean, .unexplained = pairs.unexplained(factor)};
}

void LeanFinder::take_away(const Fit& fit, std::span<const int64_t> values,
                           std::vector<int64_t>& out) const {
  column_format::Prediction prediction(fit.lean);
  out.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(values[i]) -
                                  prediction.next(fit.offer->values[i]));
  }
}

std::optional<Lean> LeanFinder::find(const ChunkColumn& column, std::span<const int64_t> values,
                                     NumberEncoder& numbers) {
  if (column.form != ChunkColumn::Form::kQuanta || values.size() < kLeastValues || size_ == 0 ||
      is_constant(values)) {
    return std::nullopt;
  }
  Fit best[2];
  for (size_t i = 0; i < size_; ++i) {
    const Offer& offer = offers_[i];
    if (offer.column->states != column.states) continue;
    const Fit fits[2] = {fit_level(offer, values), fit_sum(offer, values)};
    for (size_t k = 0; k < 2; ++k) {
      if (fits[k].offer != nullptr && fits[k].unexplained < best[k].unexplained) best[k] = fits[k];
    }
  }
  std::optional<Lean> found;
  double alone = -1;
  for (const Fit& fit : best) {
    if (fit.offer == nullptr || fit.unexplained > kUnexplainedWorthTrying) continue;
    if (alone < 0) alone = numbers.estimate_bits(values);
    take_away(fit, values, other_rest_);
    const double leaning = numbers.estimate_bits(other_rest_);
    if (leaning > alone * kLeaningWorthIt - 64) continue;
    alone = leaning;
    found = fit.lean;
    rest_.swap(other_rest_);
  }
  return found;
}

}  // namespace gpusight::store
