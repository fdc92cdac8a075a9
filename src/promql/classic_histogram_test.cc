#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "promql/instant_functions.h"

namespace gpusight::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Buckets = std::vector<Bucket>;

double quantile_of(double q, Buckets buckets) { return bucket_quantile(q, buckets).value; }
double fraction_of(double lower, double upper, Buckets buckets) {
  return bucket_fraction(lower, upper, buckets);
}

// Ten observations up to 1, thirty up to 2, ten up to 4, ten beyond.
const Buckets kSome = {{1, 10}, {2, 40}, {4, 50}, {kInf, 60}};

TEST(BucketQuantile, InterpolatesInsideOfABucket) {
  EXPECT_DOUBLE_EQ(quantile_of(0.5, kSome), 1 + 20.0 / 30);      // rank 30
  EXPECT_DOUBLE_EQ(quantile_of(0.75, kSome), 2 + 2 * 5.0 / 10);  // rank 45
  EXPECT_DOUBLE_EQ(quantile_of(0.1, kSome), 0.6);                // rank 6, from zero up
  EXPECT_EQ(quantile_of(0, kSome), 0);
}

TEST(BucketQuantile, InTheLastBucketItIsTheHighestBoundKnown) {
  EXPECT_EQ(quantile_of(0.9, kSome), 4);
  EXPECT_EQ(quantile_of(1, kSome), 4);
}

TEST(BucketQuantile, BucketsMayComeInAnyOrder) {
  EXPECT_DOUBLE_EQ(quantile_of(0.75, {{kInf, 60}, {4, 50}, {1, 10}, {2, 40}}), 3);
}

TEST(BucketQuantile, EqualBoundsAreAdded) {
  EXPECT_DOUBLE_EQ(quantile_of(0.75, {{1, 10}, {2, 15}, {2, 25}, {4, 50}, {kInf, 60}}), 3);
}

TEST(BucketQuantile, OutsideOfItsRangeIsInfinite) {
  EXPECT_EQ(quantile_of(-0.1, kSome), -kInf);
  EXPECT_EQ(quantile_of(1.1, kSome), kInf);
  EXPECT_TRUE(std::isnan(quantile_of(kNan, kSome)));
}

TEST(BucketQuantile, NeedsTheLastBucketAndAnotherAndObservations) {
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{1, 10}, {2, 40}})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{kInf, 10}})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{kInf, 10}, {kInf, 20}})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{1, 0}, {kInf, 0}})));
}

TEST(BucketQuantile, AFirstBucketAtOrBelowZeroHasNoLowerBound) {
  const Buckets negative = {{-2, 10}, {0, 20}, {kInf, 20}};
  EXPECT_EQ(quantile_of(0.25, negative), -2);
  EXPECT_DOUBLE_EQ(quantile_of(0.75, negative), -1);
  EXPECT_EQ(quantile_of(0.1, {{0, 10}, {1, 20}, {kInf, 20}}), 0);
}

TEST(BucketQuantile, CountsThatSinkAreRaisedAndItIsSaid) {
  Buckets buckets = {{1, 10}, {2, 8}, {4, 20}, {kInf, 20}};
  const BucketQuantile found = bucket_quantile(0.75, buckets);
  EXPECT_TRUE(found.forced_monotonic);
  EXPECT_EQ(found.lowest_raised, 2);
  EXPECT_EQ(found.highest_raised, 2);
  EXPECT_EQ(found.largest_drop, 2);
  EXPECT_DOUBLE_EQ(found.value, 2 + 2 * 5.0 / 10);  // rank 15 between 10 at 2 and 20 at 4
}

TEST(BucketQuantile, NoiseOfFloatsIsMendedInSilence) {
  Buckets sinking = {{1, 1}, {2, 1 - 1e-13}, {kInf, 2}};
  const BucketQuantile found = bucket_quantile(0.5, sinking);
  EXPECT_FALSE(found.forced_monotonic);
  EXPECT_EQ(sinking[1].count, 1);
  // Rising by noise is no observation either: the median is in the first bucket.
  Buckets rising = {{1, 1}, {2, 1 + 1e-13}, {kInf, 2}};
  EXPECT_FALSE(bucket_quantile(0.5, rising).forced_monotonic);
  EXPECT_EQ(rising[1].count, 1);
  // Measured against the sum of both: 1.9e-12 of difference is 0.95e-12 of it.
  Buckets at_the_limit = {{1, 1}, {2, 1 - 1.9e-12}, {kInf, 2}};
  EXPECT_FALSE(bucket_quantile(0.5, at_the_limit).forced_monotonic);
  Buckets beyond_it = {{1, 1}, {2, 1 - 2.1e-12}, {kInf, 2}};
  EXPECT_TRUE(bucket_quantile(0.5, beyond_it).forced_monotonic);
}

TEST(BucketQuantile, SurvivesCountsAndBoundsThatAreNan) {
  EXPECT_EQ(quantile_of(0.5, {{1, 1}, {2, 2}, {kInf, kNan}}), 2);
  EXPECT_EQ(quantile_of(0.5, {{kNan, 5}, {1, 1}, {2, 2}, {kInf, 2}}), 1);
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{kNan, 5}})));
}

TEST(BucketFraction, IsTheShareBetweenTwoValues) {
  EXPECT_DOUBLE_EQ(fraction_of(0, 1, kSome), 10.0 / 60);
  EXPECT_DOUBLE_EQ(fraction_of(1, 2, kSome), 30.0 / 60);
  EXPECT_DOUBLE_EQ(fraction_of(1.5, 3, kSome), 20.0 / 60);
  EXPECT_DOUBLE_EQ(fraction_of(0.5, 1, kSome), 5.0 / 60);
  EXPECT_DOUBLE_EQ(fraction_of(-kInf, 2, kSome), 40.0 / 60);
  EXPECT_DOUBLE_EQ(fraction_of(2, kInf, kSome), 20.0 / 60);
  EXPECT_EQ(fraction_of(-kInf, kInf, kSome), 1);
}

TEST(BucketFraction, InTheLastBucketNothingIsKnownOfWhere) {
  EXPECT_EQ(fraction_of(4, 1e9, kSome), 0);
  EXPECT_DOUBLE_EQ(fraction_of(1e9, kInf, kSome), 10.0 / 60);
}

TEST(BucketFraction, BoundsTheWrongWayRoundHoldNothing) {
  EXPECT_EQ(fraction_of(2, 1, kSome), 0);
  EXPECT_EQ(fraction_of(2, 2, kSome), 0);
}

TEST(BucketFraction, BelowZeroItReachesDownForEver) {
  const Buckets negative = {{-2, 10}, {0, 20}, {kInf, 20}};
  EXPECT_DOUBLE_EQ(fraction_of(-kInf, -2, negative), 0.5);
  EXPECT_DOUBLE_EQ(fraction_of(-1, 0, negative), 0.25);
  EXPECT_EQ(fraction_of(-9, -5, negative), 0);
}

TEST(BucketFraction, OfNothingIsNan) {
  EXPECT_TRUE(std::isnan(fraction_of(0, 1, {})));
  EXPECT_TRUE(std::isnan(fraction_of(0, 1, {{1, 5}})));
  EXPECT_TRUE(std::isnan(fraction_of(0, 1, {{1, 0}, {kInf, 0}})));
  EXPECT_TRUE(std::isnan(fraction_of(kNan, 1, kSome)));
  EXPECT_TRUE(std::isnan(fraction_of(0, kNan, kSome)));
}

TEST(BucketFraction, IsTheInverseOfTheQuantile) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Buckets buckets;
    double count = 0;
    for (int i = 1; i <= 8; ++i) {
      count += static_cast<double>(1 + random() % 40);
      buckets.push_back({i * 0.5, count});
    }
    buckets.push_back({kInf, count});
    double before = 0;
    for (double q = 0.05; q < 1; q += 0.05) {
      const double value = quantile_of(q, buckets);
      EXPECT_GE(value, before);
      EXPECT_NEAR(fraction_of(-kInf, value, buckets), q, 1e-12);
      before = value;
    }
  }
}

}  // namespace
}  // namespace gpusight::promql
