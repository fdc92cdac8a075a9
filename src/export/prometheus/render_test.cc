#include "export/prometheus/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "export/prometheus/golden.h"
#include "export/prometheus/render_fixture.h"

namespace gpusight::prometheus {
namespace {

using catalog::MetricId;
using model::Reason;
using model::Value;
using testing::HasSubstr;
using testing::Not;

constexpr MonoTime kNow{std::chrono::seconds(5000)};
Value fresh(double number) { return Value::fresh(number, kNow, {}, 1); }

// Small, with every shape of value there is.
model::Snapshot example() {
  model::Snapshot s;
  s.sequence = 123;
  s.wall = WallTime(std::chrono::milliseconds(1767225600123));
  s.mono = kNow;
  s.interval = std::chrono::seconds(1);
  s.host_name = "box";
  s.simulated = true;
  s.host = {{MetricId::kHostCpuUtilization, "", fresh(0.25)},
            {MetricId::kHostDiskRead, "nvme0n1", fresh(1.5e12)}};
  s.self = {{MetricId::kSelfTicks, "", fresh(123)}};
  model::DeviceSnapshot gpu;
  gpu.device = std::make_shared<const model::Device>(model::Device{.uuid = "GPU-1",
                                                                   .vendor = "nvidia",
                                                                   .name = "NVIDIA \"A100\"",
                                                                   .driver = "580.105.08",
                                                                   .pci = "0000:19:00.0",
                                                                   .index = 0});
  gpu.samples = {
      {MetricId::kGpuUp, "", fresh(1)},
      {MetricId::kGpuPower, "", fresh(612.123)},
      {MetricId::kGpuPowerMin, "", fresh(100)},
      {MetricId::kGpuPowerLimit, "", Value::absent(Reason::kNotSupported)},
      {MetricId::kGpuEnergy, "", fresh(8000000.5)},
      {MetricId::kGpuClock, "graphics", fresh(1.98e9)},
      {MetricId::kGpuClock, "video", Value::absent(Reason::kDriverError)},
      {MetricId::kGpuFanSpeed, "", Value::absent(Reason::kNotSupported)},
      {MetricId::kGpuXidErrors, "", fresh(0)},
  };
  model::DeviceSnapshot mig;
  mig.device = std::make_shared<const model::Device>(model::Device{.uuid = "MIG-1",
                                                                   .kind = model::DeviceKind::kMig,
                                                                   .vendor = "nvidia",
                                                                   .name = "MIG 1g.10gb",
                                                                   .parent = "GPU-1",
                                                                   .gpu_instance = 7,
                                                                   .compute_instance = 0,
                                                                   .profile = "1g.10gb"});
  mig.samples = {{MetricId::kGpuUp, "", fresh(1)}, {MetricId::kGpuMemoryUsed, "", fresh(1 << 30)}};
  s.devices = {gpu, mig};
  return s;
}

std::string text_of(const model::Snapshot& s, Format format = Format::kText004) {
  return render(s, {.format = format, .version = "0.1.0"});
}

// Series without their numbers. Fails on a family that is not in one piece or a series twice.
std::set<std::string> series_of(const std::string& text) {
  std::set<std::string> series;
  std::vector<std::string> families;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::string key(line.substr(0, line.rfind(' ')));
    EXPECT_TRUE(series.insert(key).second) << "twice: " << key;
    EXPECT_TRUE(parse_double(line.substr(line.rfind(' ') + 1)).has_value()) << line;
    const std::string family = key.substr(0, key.find('{'));
    if (families.empty() || families.back() != family) families.push_back(family);
  }
  std::ranges::sort(families);
  EXPECT_EQ(std::ranges::adjacent_find(families), families.end()) << "a family in pieces";
  return series;
}

TEST(Render, PlainTextIsTheGoldenOne) { expect_golden("metrics.prom", text_of(example())); }

TEST(Render, OpenMetricsIsTheGoldenOne) {
  expect_golden("metrics.openmetrics.prom", text_of(example(), Format::kOpenMetrics100));
}

TEST(Render, OpenMetricsNamesCountersWithoutTotalAndEndsWithEof) {
  const std::string text = text_of(example(), Format::kOpenMetrics100);
  EXPECT_THAT(text, HasSubstr("# TYPE gpu_energy_joules counter\n# UNIT gpu_energy_joules joules\n"
                              "gpu_energy_joules_total{uuid=\"GPU-1\"} 8000000.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("# UNIT gpu_power_watts_min")));
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_THAT(text_of(example()), Not(HasSubstr("# EOF")));
}

// FAULT-089
TEST(Render, OneAbsentReadingNeverTouchesTheOthers) {
  const std::set<std::string> all = series_of(text_of(example()));
  for (size_t i = 0; i < example().devices[0].samples.size(); ++i) {
    for (size_t reason = 0; reason < model::kReasonCount; ++reason) {
      model::Snapshot s = example();
      model::Sample& sample = s.devices[0].samples[i];
      const bool was_there = sample.value.is_fresh();
      sample.value = Value::absent(static_cast<Reason>(reason));
      const std::string text = text_of(s);
      EXPECT_EQ(series_of(text).size(), all.size() - (was_there ? 1 : 0));
      EXPECT_THAT(text, Not(testing::ContainsRegex("N/A|nan|NaN|Inf")));
    }
  }
}

// FAULT-041, FAULT-006
TEST(Render, WhatIsStaleOrAbsentIsWithdrawn) {
  model::Snapshot s = example();
  EXPECT_THAT(text_of(s), HasSubstr("gpu_power_watts{"));
  s.devices[0].samples[1].value = fresh(612).stale(Reason::kBusy);
  EXPECT_THAT(text_of(s), Not(HasSubstr("gpu_power_watts{")));
  EXPECT_THAT(text_of(s), Not(HasSubstr("# HELP gpu_power_watts ")));
}

// FAULT-041
TEST(Render, WithdrawsEveryReadingWhenSamplingStands) {
  const model::Snapshot s = example();
  EXPECT_FALSE(is_outdated(s, kNow + std::chrono::seconds(10)));
  EXPECT_TRUE(is_outdated(s, kNow + std::chrono::seconds(11)));
  const std::string text = render(s, {.version = "0.1.0", .outdated = true});
  EXPECT_EQ(series_of(text).size(), 5u);  // build, simulated, time, two gpu_info
  EXPECT_THAT(text, HasSubstr("gpusight_snapshot_timestamp_seconds 1767225600.123\n"));
}

// FAULT-026
TEST(Render, ALimitThatIsNotKnownIsNotThere) {
  EXPECT_THAT(text_of(example()), Not(HasSubstr("limit")));
}

// FAULT-011
TEST(Render, ACounterOfEventsThatDidNotHappenIsZeroAndThere) {
  EXPECT_THAT(text_of(example()), HasSubstr("gpu_xid_errors_total{uuid=\"GPU-1\"} 0\n"));
}

// FAULT-091
TEST(Render, LabelsOfReadingsDoNotChangeWithTheFactsOfADevice) {
  const model::Snapshot before = example();
  model::Snapshot now = example();
  model::Device changed = *now.devices[0].device;
  changed.driver = "595.45.04";
  changed.index = 3;
  now.devices[0].device = std::make_shared<const model::Device>(changed);
  now.devices[0].samples[1].value = fresh(99);
  const auto without_info = [](std::set<std::string> series) {
    std::erase_if(series, [](const std::string& s) { return s.starts_with("gpu_info{"); });
    return series;
  };
  EXPECT_EQ(without_info(series_of(text_of(before))), without_info(series_of(text_of(now))));
  EXPECT_THAT(text_of(now), HasSubstr("driver=\"595.45.04\""));
}

// FAULT-093
TEST(Render, HoldsNothingThatTheSnapshotDoesNot) {
  model::Snapshot s = example();
  s.devices[0].processes = {model::Process{.pid = 4711, .driver_name = "python3"}};
  EXPECT_THAT(text_of(s), Not(HasSubstr("python3")));
  s.devices.pop_back();
  EXPECT_THAT(text_of(s), Not(HasSubstr("MIG-1")));
}

// FAULT-130
TEST(Render, LabelsAreEscaped) {
  model::Snapshot s = example();
  s.host = {{MetricId::kHostDiskRead, "a\"b\\c\nd\xff", fresh(1)}};
  EXPECT_THAT(text_of(s),
              HasSubstr("host_disk_read_bytes_total{disk=\"a\\\"b\\\\cd\xEF\xBF\xBD\"} 1\n"));
  EXPECT_THAT(text_of(s), HasSubstr("name=\"NVIDIA \\\"A100\\\"\""));
}

TEST(Render, EveryScrapeOfASimulatedMachineSaysSo) {
  model::Snapshot s = example();
  EXPECT_THAT(text_of(s), HasSubstr("# HELP gpusight_simulated SIMULATED"));
  EXPECT_THAT(text_of(s), HasSubstr("\ngpusight_simulated 1\n"));
  s.simulated = false;
  EXPECT_THAT(text_of(s), HasSubstr("\ngpusight_simulated 0\n"));
}

TEST(Render, BeforeTheFirstTickThereIsOnlyTheProgram) {
  EXPECT_EQ(series_of(text_of({})),
            std::set<std::string>{"gpusight_build_info{version=\"0.1.0\"}"});
}

TEST(Render, TwoDevicesOfOneIdentityDoNotSpoilTheScrape) {
  model::Snapshot s = example();
  s.devices.push_back(s.devices[0]);
  s.devices[0].samples.insert(s.devices[0].samples.begin(), s.devices[0].samples[0]);
  EXPECT_EQ(series_of(text_of(s)), series_of(text_of(example())));
}

TEST(Render, AFullMachineHasEverySeriesOnce) {
  const model::Snapshot machine = full_machine(8, 64);
  size_t samples = machine.host.size() + machine.self.size();
  for (const auto& device : machine.devices) samples += device.samples.size();
  const size_t beside = 3 + machine.devices.size();
  EXPECT_EQ(series_of(text_of(machine)).size(), samples + beside);
  EXPECT_EQ(series_of(text_of(machine, Format::kOpenMetrics100)).size(), samples + beside);
}

}  // namespace
}  // namespace gpusight::prometheus
