#include <gtest/gtest.h>

#include "catalog/event_kind.h"
#include "catalog/message.h"
#include "catalog/metric.h"
#include "catalog/metric_set.h"

namespace gpusight::catalog {
namespace {

TEST(Catalogue, FindsRowsByNameAndByWireNumber) {
  ASSERT_NE(find_metric("gpu_power_watts"), nullptr);
  EXPECT_EQ(find_metric("gpu_power_watts")->id, MetricId::kGpuPower);
  EXPECT_EQ(find_metric("gpu_power_watt"), nullptr);
  EXPECT_EQ(find_metric_by_wire(15)->name, "gpu_power_watts");
  EXPECT_EQ(find_metric_by_wire(60000), nullptr);
}

TEST(Catalogue, CompanionsStandBesideTheirMean) {
  EXPECT_EQ(metric(*companion(MetricId::kGpuPower, Stat::kMax)).name, "gpu_power_watts_max");
  EXPECT_EQ(companion(MetricId::kGpuTemperature, Stat::kMin), std::nullopt);
}

TEST(Catalogue, NumbersAreRoundedOnceToTheResolution) {
  const MetricRow& power = metric(MetricId::kGpuPower);
  EXPECT_EQ(quantize(power, 612.1234), 612123);
  EXPECT_EQ(value_of(power, 612123), 612.123);
  const MetricRow& clock = metric(MetricId::kGpuClock);
  EXPECT_EQ(quantize(clock, 1980e6), 1980);
  EXPECT_EQ(value_of(clock, 1980), 1.98e9);
  EXPECT_EQ(quantize(power, 1e300), std::nullopt);
  EXPECT_EQ(quantize(power, -std::numeric_limits<double>::infinity()), std::nullopt);
}

TEST(MetricSets, AreNamedByNamePatternAndGroup) {
  const auto power = named_metrics("gpu_power_watts");
  ASSERT_TRUE(power.has_value());
  EXPECT_TRUE(power->has(MetricId::kGpuPower));
  EXPECT_TRUE(power->has(*companion(MetricId::kGpuPower, Stat::kMax)));
  EXPECT_FALSE(power->has(MetricId::kGpuPowerAverage));

  const auto links = named_metrics("gpu_nvlink_*");
  ASSERT_TRUE(links.has_value());
  EXPECT_TRUE(links->has(MetricId::kGpuNvlinkState));
  EXPECT_FALSE(links->has(MetricId::kGpuPcieReplays));
  EXPECT_TRUE(named_metrics("*_mean_*")->has(MetricId::kGpuPcieReceiveMean));

  const auto activity = named_metrics("activity");
  ASSERT_TRUE(activity.has_value());
  EXPECT_TRUE(activity->has(MetricId::kGpuSmActivity));
  EXPECT_FALSE(activity->has(MetricId::kGpuUtilization));
}

TEST(MetricSets, WhatNamesNothingIsToldFromWhatMayNotBeNamed) {
  for (const char* nothing : {"", "gpu_power", "gpu_power_watts ", "GPU_*", "gpu_*_parsecs", "?"}) {
    EXPECT_EQ(named_metrics(nothing), std::nullopt) << nothing;
  }
  const auto all = named_metrics("*");
  ASSERT_TRUE(all.has_value());
  EXPECT_FALSE(all->has(MetricId::kGpuUp));
  EXPECT_FALSE(all->has(MetricId::kSelfCpu));
  EXPECT_TRUE(all->has(MetricId::kHostUptime));
  EXPECT_TRUE(named_metrics("gpu_up")->empty());
}

TEST(Messages, ArgumentsAreFilledInAndMissingOnesStayVisible) {
  const std::string arguments[] = {"79", "gpu has fallen off the bus"};
  EXPECT_EQ(format_message(MessageId::kEventXid, Lang::kEnglish, arguments),
            "XID 79: gpu has fallen off the bus");
  EXPECT_EQ(format_message(MessageId::kEventXid, Lang::kEnglish), "XID {0}: {1}");
  EXPECT_EQ(format_message(MessageId::kEventXid, Lang::kChinese, arguments),
            "XID 79：gpu has fallen off the bus");
}

TEST(Messages, EveryTranslationHasTheSameSlots) {
  for (const MessageRow& row : messages()) {
    for (const std::string_view slot : {"{0}", "{1}", "{2}", "{3}", "{4}"}) {
      EXPECT_EQ(row.text.en.find(slot) != std::string_view::npos,
                row.text.zh.find(slot) != std::string_view::npos)
          << row.key << " " << slot;
    }
  }
}

TEST(EventKinds, KnowTheirCountersAndXidNames) {
  EXPECT_EQ(event_kind(EventKind::kXid).counter, MetricId::kGpuXidErrors);
  EXPECT_EQ(xid_name(79), "gpu has fallen off the bus");
  EXPECT_EQ(xid_name(15), "");
  EXPECT_EQ(xid_name(176), "pcie correctable error fault");
}

// FAULT-059
TEST(EventKinds, AnXidOfAProgramsOwnMakingIsNoFaultOfTheDevice) {
  for (const uint64_t harmless : {13, 31, 43, 45, 94}) {
    EXPECT_EQ(xid_severity(harmless), Severity::kWarning) << harmless;
  }
  for (const uint64_t grave : {48, 62, 64, 74, 79, 95, 119, 140}) {
    EXPECT_EQ(xid_severity(grave), Severity::kError) << grave;
  }
  EXPECT_EQ(xid_severity(15), Severity::kWarning);  // nobody knows it
  EXPECT_EQ(xid_severity(999), Severity::kWarning);
}

}  // namespace
}  // namespace gpusight::catalog
