#include "collect/host/host_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <functional>
#include <locale>
#include <set>

#include "collect/host/host_test_tree.h"

// The C library keeps the path it was given by LOCPATH for ever, without a pointer to show for it.
extern "C" const char* __lsan_default_suppressions() { return "leak:__argz_add_sep"; }  // NOLINT

namespace gpusight::collect::host {
namespace {

using catalog::Cadence;
using catalog::MetricId;
using catalog::Scope;

class HostSourceTest : public HostTest {
 protected:
  // The promise of every source: each metric of the lane's cadence is set or absent with a reason.
  void expect_all_metrics_of(Cadence cadence) {
    std::set<MetricId> found;
    for (const model::Sample& sample : samples()) {
      found.insert(sample.metric);
      EXPECT_EQ(catalog::metric(sample.metric).cadence, cadence);
      const model::Value& value = sample.value;
      if (value.is_absent()) {
        EXPECT_NE(value.reason(), model::Reason::kUnknown) << catalog::metric(sample.metric).name;
      } else {
        EXPECT_TRUE(value.is_fresh());
        EXPECT_EQ(value.source(), 2);
        EXPECT_GE(*value.number(), catalog::metric(sample.metric).min);
      }
    }
    for (const MetricId metric : source_->declares()) {
      if (catalog::metric(metric).cadence != cadence) continue;
      EXPECT_TRUE(found.contains(metric)) << catalog::metric(metric).name;
    }
  }
};

constexpr const char* kFiles[] = {
    "/proc/stat",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/pressure/cpu",
    "/proc/pressure/memory",
    "/proc/pressure/io",
    "/proc/diskstats",
    "/sys/block/sda/size",
    "/proc/net/dev",
    "/sys/class/hwmon/hwmon0/name",
    "/sys/class/hwmon/hwmon0/temp1_input",
    "/sys/class/hwmon/hwmon0/temp1_label",
};

TEST_F(HostSourceTest, ItDeclaresExactlyTheHostMetricsOfTheCatalogue) {
  std::set<MetricId> declared(source_->declares().begin(), source_->declares().end());
  EXPECT_EQ(declared.size(), source_->declares().size());
  for (const catalog::MetricRow& row : catalog::metrics()) {
    EXPECT_EQ(declared.contains(row.id), row.scope == Scope::kHost) << row.name;
  }
}

TEST_F(HostSourceTest, ThereIsAlwaysAMachineWithTwoLanesAndNoDevice) {
  const Opened opened = source_->open();
  EXPECT_EQ(opened.status.name, "host");
  EXPECT_EQ(opened.status.phase, model::SourcePhase::kRunning);
  EXPECT_FALSE(opened.status.simulated);
  ASSERT_NE(opened.generation, nullptr);
  EXPECT_TRUE(opened.generation->devices().empty());
  ASSERT_EQ(opened.generation->lanes().size(), 2u);
  EXPECT_EQ(opened.generation->lanes()[0]->info().name, "host/fast");
  EXPECT_EQ(opened.generation->lanes()[0]->info().cadence, LaneCadence::kFast);
  EXPECT_EQ(opened.generation->lanes()[1]->info().name, "host/slow");
  EXPECT_EQ(opened.generation->lanes()[1]->info().cadence, LaneCadence::kSlow);
  for (const auto& lane : opened.generation->lanes()) {
    EXPECT_EQ(lane->info().uuids, std::vector<std::string>{std::string(kHost)});
  }
  EXPECT_EQ(source_->watch({.is_open = false}), Wish::kOpen);
  EXPECT_EQ(source_->watch({.is_open = true, .idle_for = std::chrono::hours(9)}), Wish::kStay);
}

TEST_F(HostSourceTest, AWholeMachineHasNoReasonsLeftAfterTwoReadings) {
  write_machine();
  poll_fast();
  write("/proc/stat", "cpu  200 0 50 900 40\ncpu0 110 0 30 430 20 0 10\ncpu1 90 0 20 470 20\n");
  poll_again();
  expect_all_metrics_of(Cadence::kFast);
  for (const model::Sample& sample : samples()) {
    EXPECT_TRUE(sample.value.is_fresh()) << catalog::metric(sample.metric).name << sample.label;
    EXPECT_EQ(sample.value.read_at(), clock_.mono());
  }
  poll_slow();
  expect_all_metrics_of(Cadence::kSlow);
  EXPECT_EQ(number(MetricId::kHostTemperature, "coretemp/Package id 0"), 45.5);
}

TEST_F(HostSourceTest, AnEmptyRootGivesAReasonForEverything) {
  poll_fast();
  expect_all_metrics_of(Cadence::kFast);
  EXPECT_TRUE(std::ranges::all_of(samples(), [](const model::Sample& sample) {
    return sample.value.is_absent() && sample.value.reason() == model::Reason::kNotSupported;
  }));
  poll_slow();
  expect_all_metrics_of(Cadence::kSlow);
}

// FAULT-047
TEST_F(HostSourceTest, EachFileMayBeDamagedInAnyWayInMidRun) {
  constexpr char kGarbage[] = "\0\xff\x1b[2J cpu (: 99 -1 some total=\n\n::::\n";
  const std::string garbage(kGarbage, sizeof kGarbage - 1);
  const std::vector<std::pair<const char*, std::function<void(const std::string&)>>> damages = {
      {"missing", [&](const std::string& path) { remove(path); }},
      {"empty", [&](const std::string& path) { write(path, ""); }},
      {"garbage", [&](const std::string& path) { write(path, garbage); }},
      {"broken", [&](const std::string& path) { make_broken(path); }},
      {"dangling", [&](const std::string& path) { remove(path), link(path, "nowhere"); }},
      {"a directory",
       [&](const std::string& path) {
         remove(path);
         std::filesystem::create_directory(at(path));
       }},
  };
  for (const char* file : kFiles) {
    for (const auto& [name, damage] : damages) {
      SCOPED_TRACE(std::string(file) + " " + name);
      remove("/proc");
      remove("/sys");
      write_machine();
      open();
      poll_fast();
      damage(file);
      poll_again();
      expect_all_metrics_of(Cadence::kFast);
      poll_slow();
      expect_all_metrics_of(Cadence::kSlow);
    }
  }
}

TEST_F(HostSourceTest, AFileCutAnywhereGivesReadingsOrReasons) {
  for (const char* file : kFiles) {
    write_machine();
    std::string text;
    std::getline(std::ifstream(at(file)), text, '\0');
    for (size_t size = 0; size < text.size(); ++size) {
      SCOPED_TRACE(std::string(file) + " cut at " + std::to_string(size));
      write(file, text.substr(0, size));
      const bool is_sensor = std::string_view(file).starts_with("/sys/class");
      is_sensor ? poll_slow() : poll_again();
      expect_all_metrics_of(is_sensor ? Cadence::kSlow : Cadence::kFast);
    }
    write(file, text);
  }
}

TEST_F(HostSourceTest, WhatWeMayNotReadSaysSo) {
  write_machine();
  for (const char* file : kFiles) {
    std::filesystem::permissions(at(file), std::filesystem::perms::none);
  }
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  poll_fast();
  expect_all_metrics_of(Cadence::kFast);
  for (const MetricId metric :
       {MetricId::kHostCpuUtilization, MetricId::kHostLoad1, MetricId::kHostMemoryUsed,
        MetricId::kHostPressureWaiting, MetricId::kHostDiskRead, MetricId::kHostNetworkReceive,
        MetricId::kHostUptime}) {
    EXPECT_EQ(reason(metric), "no_permission") << catalog::metric(metric).name;
    EXPECT_EQ(count(metric), 1u);
  }
  poll_slow();
  expect_all_metrics_of(Cadence::kSlow);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

TEST_F(HostSourceTest, ThisMachineCanBeRead) {
  source_ = create_host_source({.clock = &clock_, .root = platform::RootFs("/"), .number = 2});
  generation_ = source_->open().generation;
  poll_fast();
  expect_all_metrics_of(Cadence::kFast);
  EXPECT_GT(number(MetricId::kHostMemoryTotal).value_or(0), 0);
  EXPECT_GT(number(MetricId::kHostUptime).value_or(0), 0);
  EXPECT_EQ(report_->implausible(), 0u);
  poll_slow();
  expect_all_metrics_of(Cadence::kSlow);
}

// A locale whose decimal sign is a comma, taken from the system or made for the test.
class CommaLocaleTest : public HostSourceTest {
 protected:
  void SetUp() override {
    HostSourceTest::SetUp();
    if (set("de_DE.UTF-8") || set("de_DE.utf8")) return;
    const std::string folder = root_ + "/locale";
    std::filesystem::create_directories(folder);
    const std::string make =
        "localedef -i de_DE -f UTF-8 '" + folder + "/de_DE.UTF-8' >/dev/null 2>&1";
    if (std::system(make.c_str()) < 0) return;
    ::setenv("LOCPATH", folder.c_str(), 1);
    set("de_DE.UTF-8");
  }
  void TearDown() override {
    std::setlocale(LC_ALL, "C");
    std::locale::global(std::locale::classic());
    ::unsetenv("LOCPATH");
    HostSourceTest::TearDown();
  }
  bool set(const char* name) {
    has_comma_ = std::setlocale(LC_ALL, name) != nullptr &&
                 std::string_view(std::localeconv()->decimal_point) == ",";
    if (has_comma_) std::locale::global(std::locale(name));
    return has_comma_;
  }
  bool has_comma_ = false;
};

TEST_F(CommaLocaleTest, ADecimalCommaChangesNothing) {
  if (!has_comma_) GTEST_SKIP() << "no locale with a decimal comma, and localedef cannot make one";
  write_machine();
  poll_fast();
  EXPECT_EQ(number(MetricId::kHostLoad1), 1.25);
  EXPECT_EQ(number(MetricId::kHostUptime), 12345.67);
  EXPECT_EQ(number(MetricId::kHostPressureWaiting, "cpu"), 1.5);
  EXPECT_EQ(number(MetricId::kHostCpuSeconds, "softirq"), 0.1);
  EXPECT_EQ(number(MetricId::kHostNetworkReceive, "eth0"), 1000) << "no thousands sign either";
  poll_slow();
  EXPECT_EQ(number(MetricId::kHostTemperature, "coretemp/Package id 0"), 45.5);
}

}  // namespace
}  // namespace gpusight::collect::host
