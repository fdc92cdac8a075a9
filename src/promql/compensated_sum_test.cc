#include "promql/compensated_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>
#include <vector>

namespace gpusight::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double careful_sum(const std::vector<double>& numbers) {
  CompensatedSum sum;
  for (const double x : numbers) sum.add(x);
  return sum.result();
}

double careful_mean(const std::vector<double>& numbers) {
  CompensatedMean mean;
  for (const double x : numbers) mean.add(x);
  return mean.result();
}

TEST(CompensatedSum, KeepsWhatRoundingTakesAway) {
  EXPECT_EQ(compensated_sum(std::vector<double>{1, 1e100, 1, -1e100}), 2);
  EXPECT_EQ(careful_sum({1, 1e100, 1, -1e100}), 2);
  EXPECT_EQ(compensated_sum(std::vector<double>(10, 0.1)), 1);
  EXPECT_EQ(compensated_mean(std::vector<double>(10, 0.1)), 0.1);
}

TEST(CompensatedSum, OfNothingIsZeroAndItsMeanNan) {
  EXPECT_EQ(compensated_sum({}), 0);
  EXPECT_TRUE(std::isnan(compensated_mean({})));
}

TEST(CompensatedSum, InfinitiesAndNanActAsInPlainAddition) {
  EXPECT_EQ(compensated_sum(std::vector<double>{1, kInf, 2}), kInf);
  EXPECT_EQ(compensated_sum(std::vector<double>{-kInf, 1}), -kInf);
  EXPECT_TRUE(std::isnan(compensated_sum(std::vector<double>{kInf, -kInf})));
  EXPECT_TRUE(std::isnan(compensated_sum(std::vector<double>{1, kNan, 2})));
  EXPECT_EQ(compensated_mean(std::vector<double>{kInf}), kInf);
  EXPECT_EQ(compensated_mean(std::vector<double>{1, kInf, 2}), kInf);
  EXPECT_EQ(compensated_mean(std::vector<double>{-kInf, kMax, kMax}), -kInf);
  EXPECT_TRUE(std::isnan(compensated_mean(std::vector<double>{kInf, 1, -kInf})));
  EXPECT_TRUE(std::isnan(compensated_mean(std::vector<double>{kNan, 1})));
}

TEST(CompensatedSum, AnOverflowStaysInfinite) {
  EXPECT_EQ(compensated_sum(std::vector<double>{kMax, kMax, -kMax, -kMax}), kInf);
}

TEST(CompensatedMean, GoesOnWhereTheSumOverflows) {
  EXPECT_EQ(compensated_mean(std::vector<double>{kMax, kMax}), kMax);
  EXPECT_DOUBLE_EQ(compensated_mean(std::vector<double>{-kMax, -kMax, -kMax}), -kMax);
  // Rounding leaves something of ±kMax, twice each, but next to nothing.
  EXPECT_LT(std::abs(compensated_mean(std::vector<double>{kMax, kMax, -kMax, -kMax})), kMax / 1e15);
}

TEST(CompensatedSum, TheQuickWayGivesTheSameBits) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> exponent(-200, 200);
  std::uniform_int_distribution<size_t> size(1, 300);
  for (int round = 0; round < 500; ++round) {
    std::vector<double> numbers(size(random));
    for (double& x : numbers) {
      x = std::pow(10, round % 2 == 0 ? exponent(random) : exponent(random) / 50);
      if (random() % 2 == 0) x = -x;
      if (random() % 16 == 0) x = 0;
    }
    EXPECT_EQ(std::bit_cast<uint64_t>(compensated_sum(numbers)),
              std::bit_cast<uint64_t>(careful_sum(numbers)));
    EXPECT_EQ(std::bit_cast<uint64_t>(compensated_mean(numbers)),
              std::bit_cast<uint64_t>(careful_mean(numbers)));
  }
}

}  // namespace
}  // namespace gpusight::promql
