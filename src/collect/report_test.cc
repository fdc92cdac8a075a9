#include <gtest/gtest.h>

#include "collect/source.h"

namespace gpusight::collect {
namespace {

using catalog::MetricId;
using model::Reason;

class ReportTest : public testing::Test {
 protected:
  const model::Value& last() { return report_.subjects()[0].samples.back().value; }
  FakeClock clock_;
  Report report_{clock_, 1};
};

// FAULT-010, FAULT-024
TEST_F(ReportTest, ImpossibleNumbersAreDroppedAndCountedNeverClamped) {
  report_.about("GPU-1");
  report_.set(MetricId::kGpuUtilization, 1.02);
  EXPECT_EQ(last().reason(), Reason::kImplausible);
  EXPECT_EQ(last().number(), std::nullopt);
  report_.set(MetricId::kGpuTemperature, 255);
  EXPECT_TRUE(last().is_absent());
  report_.set(MetricId::kGpuPower, 4294967.295);
  EXPECT_TRUE(last().is_absent());
  report_.set(MetricId::kGpuMemoryUsed, 18446744073709551615.0);
  EXPECT_TRUE(last().is_absent());
  EXPECT_EQ(report_.implausible(), 4u);
}

TEST_F(ReportTest, NumbersAreRoundedToTheCataloguesResolutionAsTheyEnter) {
  report_.about("GPU-1");
  report_.set(MetricId::kGpuPower, 612.12345, std::chrono::seconds(1));
  EXPECT_EQ(last().number(), 612.123);
  EXPECT_EQ(last().window(), std::chrono::seconds(1));
  EXPECT_EQ(last().read_at(), clock_.mono());
}

TEST_F(ReportTest, CompanionsNeedAnOrderedPlausiblePair) {
  report_.about("GPU-1");
  report_.set_range(MetricId::kGpuPower, 700, 300, {});
  EXPECT_TRUE(report_.subjects()[0].samples.empty());
  report_.set_range(MetricId::kGpuPower, 300, 700, {});
  ASSERT_EQ(report_.subjects()[0].samples.size(), 2u);
  EXPECT_EQ(report_.subjects()[0].samples[0].metric, MetricId::kGpuPowerMin);
  EXPECT_EQ(report_.subjects()[0].samples[1].value.number(), 700);
}

TEST_F(ReportTest, ReadingsGoToTheSubjectThatTheyAreAbout) {
  report_.about("GPU-1");
  report_.set(MetricId::kGpuUp, 1);
  report_.about(kHost);
  report_.set(MetricId::kHostLoad1, 0.5);
  report_.about("GPU-1");
  report_.set(MetricId::kGpuProcesses, 2);
  ASSERT_EQ(report_.subjects().size(), 2u);
  EXPECT_EQ(report_.subjects()[0].samples.size(), 2u);
  EXPECT_EQ(report_.subjects()[1].samples.size(), 1u);
}

}  // namespace
}  // namespace gpusight::collect
