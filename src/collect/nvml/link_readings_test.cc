// Links of a GPU, and what stands in where a driver has no field of them, on a fake library.
#include "collect/nvml/link_readings.h"

#include "collect/nvml/field_tables.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;
using model::Reason;

class NvmlLinks : public TestMachine {
 protected:
  FakeGpu& gpu() { return fake_.gpus[0]; }
  void count_links(unsigned links) { gpu().set_field(91, ValueType::kUint32, links); }
  void next() {
    clock_.advance(std::chrono::seconds(10));
    slow();
  }
};

// A counter is read in one way for good: another one's count would look like a reset.
TEST_F(NvmlLinks, AnotherCounterDoesNotStandInForOneThatFailsForAWhile) {
  count_links(1);
  gpu().set_field_of(0, 163, ValueType::kUint64, 5000);
  gpu().set_field(32, ValueType::kUint64, 3);
  gpu().numbers["nvmlDeviceGetNvLinkErrorCounter:2"] = {4};
  open();
  slow();
  EXPECT_EQ(number(kGpuNvlinkCrcErrors, "0"), 5000);
  gpu().scoped_fields[{163, 0}].result = Return::kUnknown;
  next();
  EXPECT_EQ(number(kGpuNvlinkCrcErrors, "0"), std::nullopt);
  EXPECT_EQ(reason(kGpuNvlinkCrcErrors), Reason::kDriverError);
  gpu().set_field_of(0, 163, ValueType::kUint64, 5001);
  next();
  EXPECT_EQ(number(kGpuNvlinkCrcErrors, "0"), 5001);
}

// And one that was taken first stays when the other appears.
TEST_F(NvmlLinks, TheCounterThatAnsweredFirstStays) {
  count_links(1);
  gpu().set_field(32, ValueType::kUint64, 3);
  gpu().set_field_of(0, 163, ValueType::kUint64, 0);
  gpu().scoped_fields[{163, 0}].result = Return::kUnknown;
  open();
  slow();
  EXPECT_EQ(number(kGpuNvlinkCrcErrors, "0"), 3);
  gpu().set_field_of(0, 163, ValueType::kUint64, 5000);
  next();
  EXPECT_EQ(number(kGpuNvlinkCrcErrors, "0"), 3);
}

TEST_F(NvmlLinks, ErrorsThatNoFieldNumbersAreAskedByCall) {
  count_links(18);
  for (unsigned link = 0; link < 12; ++link) {
    gpu().set_field(link < 6 ? 39 + link : 102 + link - 6, ValueType::kUint64, link);
  }
  for (unsigned link = 0; link < 18; ++link) {
    gpu().numbers["nvmlDeviceGetNvLinkErrorCounter:" + std::to_string(link * 10 + 3)] = {100 +
                                                                                         link};
  }
  open();
  slow();
  EXPECT_EQ(number(kGpuNvlinkCrcDataErrors, "11"), 11);
  EXPECT_EQ(number(kGpuNvlinkCrcDataErrors, "12"), 112);
  EXPECT_EQ(number(kGpuNvlinkCrcDataErrors, "17"), 117);
  const int before = fake_.calls("nvmlDeviceGetNvLinkErrorCounter");
  next();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetNvLinkErrorCounter") - before, 6);
  EXPECT_EQ(reason(kGpuNvlinkEccErrors), Reason::kNotSupported);
}

TEST_F(NvmlLinks, ErrorRatiosAreUnpacked) {
  count_links(3);
  gpu().set_field_of(0, 222, ValueType::kUint64, 3 << 8 | 12);
  gpu().set_field_of(0, 220, ValueType::kUint64, 15 << 8 | 255);  // none was seen
  gpu().set_field_of(1, 222, ValueType::kUint64, 1 << 16);        // nothing that could be one
  open();
  slow();
  EXPECT_DOUBLE_EQ(*number(kGpuNvlinkSymbolErrorRatio, "0"), 3e-12);
  EXPECT_EQ(number(kGpuNvlinkEffectiveErrorRatio, "0"), 0);
  EXPECT_EQ(reason(kGpuNvlinkSymbolErrorRatio, "GPU-0", "1"), Reason::kImplausible);
}

TEST_F(NvmlLinks, WhatIsCountedByKindIsTheSumOverAllLinksOrNothing) {
  count_links(2);
  for (unsigned link = 0; link < 2; ++link) {
    gpu().set_field_of(link, 206, ValueType::kUint64, 1 + link);
    gpu().set_field_of(link, 235, ValueType::kUint64, 1000);
    gpu().set_field_of(link, 250, ValueType::kUint64, 7);
    gpu().set_field_of(link, 212, ValueType::kUint64, 1);
  }
  gpu().scoped_fields[{212, 1}].result = Return::kUnknown;
  open();
  slow();
  EXPECT_EQ(number(kGpuNvlinkPacketErrors, "malformed"), 3);
  EXPECT_EQ(number(kGpuNvlinkFecBlocks, "0"), 2000);
  EXPECT_EQ(number(kGpuNvlinkFecBlocks, "15"), 14);
  EXPECT_EQ(number(kGpuNvlinkPacketErrors, "discarded"), std::nullopt);
  EXPECT_EQ(value(kGpuNvlinkFecBlocks, "3"), nullptr);
}

TEST_F(NvmlLinks, EachLinkHasItsMeanRateFromTheHardwaresCounters) {
  count_links(2);
  gpu().has_gpm = true;
  gpu().gpm = {{62, 10}, {63, 20}, {64, 30}, {65, 40}};
  open();
  slow();
  EXPECT_EQ(reason(kGpuNvlinkLinkReceiveMean), Reason::kWarmingUp);
  next();
  EXPECT_EQ(number(kGpuNvlinkLinkReceiveMean, "0"), 10 * 1024 * 1024);
  EXPECT_EQ(number(kGpuNvlinkLinkTransmitMean, "0"), 20 * 1024 * 1024);
  EXPECT_EQ(number(kGpuNvlinkLinkReceiveMean, "1"), 30 * 1024 * 1024);
  EXPECT_EQ(number(kGpuNvlinkLinkTransmitMean, "1"), 40 * 1024 * 1024);
  EXPECT_EQ(value(kGpuNvlinkLinkReceiveMean, "0")->window(), std::chrono::seconds(10));
  EXPECT_EQ(value(kGpuNvlinkLinkReceiveMean, "2"), nullptr);
}

TEST_F(NvmlLinks, ABoardWithoutLinksIsNotAskedForTheirRates) {
  gpu().has_gpm = true;
  open();
  slow();
  next();
  EXPECT_EQ(fake_.calls("nvmlGpmSampleGet"), 0);
  EXPECT_EQ(reason(kGpuNvlinkLinkReceiveMean), Reason::kNotSupported);
}

TEST_F(NvmlLinks, LinksBetweenTheChipsOfAPackageHaveSeriesOfTheirOwn) {
  gpu().set_field(170, ValueType::kUint32, 2);
  for (unsigned link = 0; link < 2; ++link) {
    gpu().set_field_of(link, 171, ValueType::kUint32, 1 - link);
    gpu().set_field_of(link, 172, ValueType::kUint32, 44'712);
    gpu().set_field_of(link, 231, ValueType::kUint32, link);
    gpu().set_field_of(link, 232, ValueType::kUint32, 4);
    gpu().set_field_of(link, 233, ValueType::kUint32, 5);
    gpu().set_field_of(link, 234, ValueType::kUint32, 0);
  }
  gpu().numbers["nvmlDeviceGetC2cModeInfoV"] = {1};
  open();
  slow();
  EXPECT_EQ(number(kGpuC2cState, "0"), 1);
  EXPECT_EQ(number(kGpuC2cState, "1"), 0);
  EXPECT_EQ(number(kGpuC2cSpeed, "1"), 44'712e6);
  EXPECT_EQ(number(kGpuC2cCrcErrors, "1"), 1);
  EXPECT_EQ(number(kGpuC2cReplays, "0"), 4);
  EXPECT_EQ(number(kGpuC2cRepeatedReplays, "0"), 5);
  EXPECT_EQ(number(kGpuC2cPowerState, "0"), 0);
  EXPECT_EQ(*model::find_fact(opened_.generation->devices()[0], "c2c"), "on");
}

TEST_F(NvmlLinks, AFabricThatThereIsNotIsNoState) {
  gpu().numbers["nvmlDeviceGetGpuFabricInfoV"] = {0, 0, 3};
  open();
  slow();
  EXPECT_EQ(reason(kGpuFabricState), Reason::kNotSupported);
  EXPECT_EQ(reason(kGpuFabricClique), Reason::kNotSupported);
  EXPECT_EQ(reason(kGpuFabricHealth), Reason::kNotSupported);
}

TEST_F(NvmlLinks, CliqueAndClusterAreKnownWhenRegistrationIsComplete) {
  gpu().numbers["nvmlDeviceGetGpuFabricInfoV"] = {2, 0, 3};
  open();
  slow();
  EXPECT_EQ(number(kGpuFabricState), 2);
  EXPECT_EQ(reason(kGpuFabricClique), Reason::kWarmingUp);
  EXPECT_EQ(model::find_fact(opened_.generation->devices()[0], "fabric_cluster"), nullptr);
  gpu().numbers["nvmlDeviceGetGpuFabricInfoV"] = {3, 0, 3};
  open();
  slow();
  EXPECT_EQ(number(kGpuFabricState), 3);
  EXPECT_EQ(number(kGpuFabricClique), 7);
  EXPECT_EQ(number(kGpuFabricHealth), 3);
  EXPECT_EQ(*model::find_fact(opened_.generation->devices()[0], "fabric_cluster"),
            "abababab-abab-abab-abab-abababababab");
}

}  // namespace
}  // namespace gpusight::collect::nvml
