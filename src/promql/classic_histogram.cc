// Quantiles and fractions of classic histograms. Inside of a bucket observations are taken to lie
// evenly. Source: Prometheus 3's documentation of histogram_quantile() and histogram_fraction().
#include <algorithm>
#include <cmath>
#include <limits>

#include "promql/instant_functions.h"

namespace gpusight::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Differences between counts that are this small against their sum come from arithmetic on floats.
constexpr double kNoise = 1e-12;

bool differ_by_noise_only(double a, double b) {
  constexpr double kSmallest = std::numeric_limits<double>::min();
  const double sum = std::abs(a) + std::abs(b);
  const double difference = std::abs(a - b);
  if (a == 0 || b == 0 || sum < kSmallest) return difference < kNoise * kSmallest;
  return difference / std::min(sum, std::numeric_limits<double>::max()) < kNoise;
}

// By bound; counts of equal bounds are added, a bound that is NaN bounds nothing. False where the
// highest bound is not +Inf.
bool sort_and_join(std::vector<Bucket>& buckets) {
  std::erase_if(buckets, [](const Bucket& bucket) { return std::isnan(bucket.upper_bound); });
  std::ranges::stable_sort(buckets, {}, &Bucket::upper_bound);
  if (buckets.empty() || buckets.back().upper_bound != kInf) return false;
  size_t last = 0;
  for (size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i].upper_bound == buckets[last].upper_bound) {
      buckets[last].count += buckets[i].count;
    } else {
      buckets[++last] = buckets[i];
    }
  }
  buckets.resize(last + 1);
  return true;
}

// A bucket has all the observations of those below it. Says what had to be raised for that by more
// than noise.
BucketQuantile make_monotonic(std::vector<Bucket>& buckets) {
  BucketQuantile made;
  double highest = buckets.front().count;
  for (Bucket& bucket : buckets) {
    if (bucket.count == highest) continue;
    const bool is_noise = differ_by_noise_only(bucket.count, highest);
    if (is_noise || bucket.count < highest) {
      if (!is_noise) {
        if (!made.forced_monotonic) made.lowest_raised = bucket.upper_bound;
        made.highest_raised = bucket.upper_bound;
        made.largest_drop = std::max(made.largest_drop, highest - bucket.count);
        made.forced_monotonic = true;
      }
      bucket.count = highest;
    } else {
      highest = bucket.count;  // NaN too, which then stands above all
    }
  }
  return made;
}

// The first bucket of all but the last with a count of at least `rank`; the last if there is none.
// (By halves, as it matters where a NaN makes the counts unordered.)
size_t bucket_of_rank(const std::vector<Bucket>& buckets, double rank) {
  size_t low = 0;
  size_t high = buckets.size() - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (buckets[middle].count >= rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

double value_at_rank(const std::vector<Bucket>& buckets, double rank) {
  const size_t at = bucket_of_rank(buckets, rank);
  // Nothing is known of how far the last bucket reaches up, nor a first one that lies below zero
  // down.
  if (at == buckets.size() - 1) return buckets[buckets.size() - 2].upper_bound;
  if (at == 0 && buckets[0].upper_bound <= 0) return buckets[0].upper_bound;
  const double low = at > 0 ? buckets[at - 1].upper_bound : 0;
  const double below = at > 0 ? buckets[at - 1].count : 0;
  const double inside = buckets[at].count - below;
  return low + (buckets[at].upper_bound - low) * ((rank - below) / inside);
}

// How many observations are taken to lie below `value`.
double rank_of(const std::vector<Bucket>& buckets, double value) {
  double low = buckets.front().upper_bound <= 0 ? -kInf : 0;
  double below = 0;
  for (const Bucket& bucket : buckets) {
    if (low >= value) return below;
    if (bucket.upper_bound > value) {
      if (low == -kInf) return bucket.count;
      return below + (bucket.count - below) * (value - low) / (bucket.upper_bound - low);
    }
    low = bucket.upper_bound;
    below = bucket.count;
  }
  return buckets.back().count;
}

}  // namespace

BucketQuantile bucket_quantile(double quantile, std::vector<Bucket>& buckets) {
  if (std::isnan(quantile)) return {.value = kNan};
  if (quantile < 0) return {.value = -kInf};
  if (quantile > 1) return {.value = kInf};
  if (!sort_and_join(buckets)) return {.value = kNan};
  BucketQuantile found = make_monotonic(buckets);
  const double observations = buckets.back().count;
  if (buckets.size() < 2 || observations == 0) return {.value = kNan};
  found.value = value_at_rank(buckets, quantile * observations);
  return found;
}

double bucket_fraction(double lower, double upper, std::vector<Bucket>& buckets) {
  if (!sort_and_join(buckets)) return kNan;
  const double observations = buckets.back().count;
  if (observations == 0 || std::isnan(lower) || std::isnan(upper)) return kNan;
  if (lower >= upper) return 0;
  const double below_lower = std::min(observations, rank_of(buckets, lower));
  const double below_upper = std::min(observations, rank_of(buckets, upper));
  return (below_upper - below_lower) / observations;
}

}  // namespace gpusight::promql
