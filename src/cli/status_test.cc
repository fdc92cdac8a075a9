#include "cli/status.h"

#include <gtest/gtest.h>

#include <clocale>
#include <locale>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/golden.h"
#include "cli/status_query.h"
#include "cli/test_machine.h"
#include "cli/test_snapshots.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using nlohmann::json;

class StatusCommand : public test::CommandTest {
 protected:
  StatusCommand() {
    hooks_.read_once = [this](Duration settle) -> Result<model::SnapshotPtr> {
      settles_.push_back(settle);
      return std::make_shared<const model::Snapshot>(own_);
    };
  }

  model::Snapshot own_ = test::one_gpu();
  std::vector<Duration> settles_;
};

constexpr const char* kOwnSocket = "/run/user/1000/gpusight/gpusight.sock";
constexpr const char* kMachineSocket = "/run/gpusight/gpusight.sock";

TEST_F(StatusCommand, WithoutADaemonItReadsOnceItself) {
  EXPECT_EQ(run({"status"}), kExitOk);
  EXPECT_NE(out_.find("GeForce RTX 4090"), std::string::npos) << out_;
  EXPECT_EQ(daemon_.asked, (std::vector<std::string>{kOwnSocket, kMachineSocket}));
  EXPECT_EQ(settles_, std::vector<Duration>{Duration::zero()});
  EXPECT_EQ(run({}), kExitOk);
  EXPECT_EQ(run({"--settle", "500ms"}), kExitOk);
  EXPECT_EQ(settles_.back(), std::chrono::milliseconds(500));
}

TEST_F(StatusCommand, TheUsersDaemonIsAskedBeforeTheMachines) {
  daemon_.serve(kMachineSocket, test::eight_h100());
  EXPECT_EQ(run({"status"}), kExitOk) << err_;
  EXPECT_NE(out_.find("H100"), std::string::npos);
  daemon_.serve(kOwnSocket, test::with_instances());
  EXPECT_EQ(run({"status"}), kExitOk);
  EXPECT_NE(out_.find("A100"), std::string::npos);
  EXPECT_TRUE(settles_.empty());
}

TEST_F(StatusCommand, ALibraryOrRootNamedByHandIsReadEvenIfADaemonRuns) {
  daemon_.serve(kMachineSocket, test::eight_h100());
  EXPECT_EQ(run({"status", "--nvml", "/x.so"}), kExitOk);
  EXPECT_NE(out_.find("RTX 4090"), std::string::npos);
  EXPECT_EQ(run({"status", "--root=/tree"}), kExitOk);
  machine_.environment["GPUSIGHT_NVML"] = "/sim.so";
  EXPECT_EQ(run({"status"}), kExitOk);
  EXPECT_TRUE(daemon_.asked.empty());
}

TEST_F(StatusCommand, ABrokenDaemonIsSaidAndNotPaperedOver) {
  daemon_.sockets[kMachineSocket] = [](const auto&) -> Result<platform::HttpResponse> {
    return platform::HttpResponse{.status = 500, .body = "out of order"};
  };
  EXPECT_EQ(run({"status"}), kExitEnvironment);
  EXPECT_EQ(err_,
            "gpusight: the daemon at /run/gpusight/gpusight.sock does not answer: it answers 500 "
            "out of order\n");
  daemon_.sockets[kMachineSocket] = [](const auto&) -> Result<platform::HttpResponse> {
    return platform::HttpResponse{.status = 200, .body = "{\"schema\":"};
  };
  EXPECT_EQ(run({"status"}), kExitEnvironment);
  daemon_.sockets[kMachineSocket] = [](const auto&) -> Result<platform::HttpResponse> {
    return Status(Code::kUnavailable, "no answer in time");
  };
  EXPECT_EQ(run({"status"}), kExitEnvironment);
  EXPECT_TRUE(out_.empty());
}

TEST_F(StatusCommand, ASocketNamedOnTheCommandLineMustHaveADaemon) {
  EXPECT_EQ(run({"status", "--socket", "/my.sock"}), kExitEnvironment);
  EXPECT_EQ(daemon_.asked, std::vector<std::string>{"/my.sock"});
  EXPECT_NE(err_.find("/my.sock"), std::string::npos);
}

TEST_F(StatusCommand, WithoutAGpuItSaysWhyAndExitsWithOne) {
  own_ = test::no_gpu();
  EXPECT_EQ(run({"status"}), kExitEnvironment);
  EXPECT_NE(out_.find("no driver is loaded"), std::string::npos);
  EXPECT_EQ(run({"status", "--query", "index,name"}), kExitEnvironment);
  EXPECT_EQ(out_, "index,name\r\n");
  EXPECT_NE(err_.find("gpusight: no GPU: NVIDIA device at"), std::string::npos) << err_;
  EXPECT_EQ(run({"status", "--json"}), kExitEnvironment);
  EXPECT_TRUE(json::parse(out_)["devices"].empty());
}

// FAULT-109
TEST_F(StatusCommand, JsonHasTypedNumbersAndNullsWithReasons) {
  own_ = test::troubled();
  EXPECT_EQ(run({"status", "--json"}), kExitOk);
  const json document = json::parse(out_);
  const json& d = document["devices"][5];
  EXPECT_TRUE(d["metrics"]["gpu_utilization_ratio"].is_number());
  EXPECT_TRUE(d["metrics"]["gpu_power_watts"].is_null());
  EXPECT_EQ(d["reasons"]["gpu_power_watts"], "warming_up");
  EXPECT_EQ(document["devices"][1]["state"], "lost");
  EXPECT_TRUE(document["devices"][0]["processes"][0]["memory_bytes"].is_null());
}

// FAULT-109
TEST_F(StatusCommand, QueriesGiveChosenColumnsAsCsvOrTypedJson) {
  own_ = test::eight_h100();
  own_.devices.resize(2);
  test::set(own_.devices[1].samples, catalog::MetricId::kGpuPower,
            model::Value::absent(model::Reason::kNotSupported));
  const std::string query = "index,name,gpu_power_watts,gpu_clock_hertz{sm},host_load1";
  EXPECT_EQ(run({"status", "--query", query}), kExitOk);
  EXPECT_EQ(out_,
            "index,name,gpu_power_watts,gpu_clock_hertz{sm},host_load1\r\n"
            "0,NVIDIA H100 80GB HBM3,612.4,1980000000,12.34\r\n"
            "1,NVIDIA H100 80GB HBM3,,1980000000,12.34\r\n");
  EXPECT_EQ(run({"status", "--json", "--query", query}), kExitOk);
  EXPECT_EQ(json::parse(out_)[1], (json{{"index", 1},
                                        {"name", "NVIDIA H100 80GB HBM3"},
                                        {"gpu_power_watts", nullptr},
                                        {"gpu_clock_hertz{sm}", 1980000000},
                                        {"host_load1", 12.34}}));
}

TEST_F(StatusCommand, AMetricWithLabelsNamedWithoutOneIsAColumnForEach) {
  EXPECT_EQ(run({"status", "-q", "gpu_clock_hertz,gpu_fan_speed_ratio,gpu_clock_limit_hertz"}),
            kExitOk);
  EXPECT_EQ(out_,
            "gpu_clock_hertz{graphics},gpu_clock_hertz{sm},gpu_fan_speed_ratio{0},"
            "gpu_clock_limit_hertz\r\n210000000,210000000,0.3,\r\n");
}

TEST_F(StatusCommand, AColumnNamedTwiceStandsOnce) {
  const std::string query = "index,gpu_clock_hertz,gpu_clock_hertz{sm},index";
  EXPECT_EQ(run({"status", "--query", query, "--json"}), kExitOk);
  EXPECT_EQ(out_,
            "[{\"index\":0,\"gpu_clock_hertz{graphics}\":210000000,"
            "\"gpu_clock_hertz{sm}\":210000000}]\n");
}

TEST_F(StatusCommand, UnknownColumnsAreAUsageErrorWithTheNearest) {
  EXPECT_EQ(run({"status", "--query", "gpu_power_wats"}), kExitUsage);
  EXPECT_EQ(err_,
            "gpusight: there is no metric gpu_power_wats; `gpusight metrics` lists them; did you "
            "mean gpu_power_watts?\n");
  EXPECT_EQ(run({"status", "--query", "nam", "--lang", "zh"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: 没有指标 nam；用 `gpusight metrics` 查看；您是否想输入 name？\n");
  EXPECT_EQ(run({"status", "--query", "gpu_power_watts{sm}"}), kExitUsage);
  EXPECT_TRUE(settles_.empty());
}

TEST_F(StatusCommand, CsvHasEveryDeviceMetricAndEmptyFieldsForWhatIsAbsent) {
  own_ = test::with_instances();
  EXPECT_EQ(run({"status", "--csv"}), kExitOk);
  test::expect_golden("mig.csv", out_);
}

TEST_F(StatusCommand, OldNumbersAreNotGivenWhereNothingCanSayThatTheyAreOld) {
  own_ = test::troubled();
  EXPECT_EQ(run({"status", "--query", "index,state,gpu_utilization_ratio"}), kExitOk);
  EXPECT_NE(out_.find("\r\n3,busy,\r\n"), std::string::npos) << out_;
}

// FAULT-130
TEST_F(StatusCommand, HostileNamesStayOneFieldAndAreNoFormula) {
  own_ = test::hostile();
  EXPECT_EQ(run({"status", "--query", "name,serial"}), kExitOk);
  EXPECT_EQ(out_,
            "name,serial\r\n\"<img src=x onerror=alert(1)> \"\"quoted\"\", 显卡显卡显卡显卡显卡显卡"
            "显卡\",'=cmd|'/c calc'!A1\r\n");
}

TEST_F(StatusCommand, WatchStreamsOneDocumentALine) {
  most_sleeps_ = 3;
  EXPECT_EQ(run({"status", "--json", "--watch", "250ms"}), kExitOk);
  std::vector<std::string_view> lines = split(out_, '\n');
  ASSERT_EQ(lines.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(json::parse(lines[i])["schema"], 1);
  EXPECT_EQ(slept_, std::vector<Duration>(3, std::chrono::milliseconds(250)));
}

TEST_F(StatusCommand, WatchedRowsHaveOneHeaderAndTheColumnsOfTheFirst) {
  most_sleeps_ = 2;
  EXPECT_EQ(run({"status", "--watch", "--query", "index,gpu_fan_speed_ratio"}), kExitOk);
  EXPECT_EQ(out_, "index,gpu_fan_speed_ratio{0}\r\n0,0.3\r\n0,0.3\r\n");
}

TEST_F(StatusCommand, WatchOnATerminalDrawsInPlace) {
  most_sleeps_ = 2;
  io_.screen = Screen::kTerminal;
  EXPECT_EQ(run({"status", "--watch"}), kExitOk);
  EXPECT_TRUE(out_.starts_with("\x1b[2J\x1b[H"));
  EXPECT_TRUE(out_.ends_with("\x1b[J"));
}

TEST_F(StatusCommand, AWatchEndsWhenNobodyReads) {
  most_sleeps_ = 1000;
  most_writes_ = 2;
  EXPECT_EQ(run({"status", "--json", "--watch"}), kExitOk);
  EXPECT_EQ(slept_.size(), 1u);
}

TEST_F(StatusCommand, ADaemonThatGoesAwayDuringAWatchIsTold) {
  most_sleeps_ = 5;
  daemon_.serve(kMachineSocket, test::eight_h100());
  io_.sleep = [this](Duration) {
    daemon_.sockets.clear();
    return true;
  };
  EXPECT_EQ(run({"status", "--json", "--watch"}), kExitEnvironment);
  EXPECT_NE(err_.find("does not answer"), std::string::npos);
}

// Writes 1.234,5 for 1234.5, as German and French do; whether or not the machine has their locales.
class DecimalComma final : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(StatusCommand, ADecimalCommaLocaleChangesNothing) {
  own_ = test::eight_h100();
  const auto everything = [&] {
    std::string all;
    for (const char* form : {"--csv", "--json", "--no-color"}) {
      EXPECT_EQ(run({"status", form}), kExitOk);
      all += out_;
    }
    return all;
  };
  const std::string before = everything();
  const std::locale old = std::locale::global(std::locale(std::locale(), new DecimalComma));
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    std::setlocale(LC_ALL, name);
  }
  const std::string after = everything();
  std::setlocale(LC_ALL, "C");
  std::locale::global(old);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace gpusight::cli
