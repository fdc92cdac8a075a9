#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/golden.h"
#include "cli/test_machine.h"
#include "cli/time_text.h"
#include "store/backfill.h"
#include "store/state_lock.h"

namespace gpusight::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kStartMs = 1'735'689'600'000;  // 2025-01-01T00:00:00Z
constexpr std::string_view kHead =
    "# HELP gpu_temperature_celsius GPU core temperature.\n"
    "# TYPE gpu_temperature_celsius gauge\n# UNIT gpu_temperature_celsius celsius\n";

// A state directory with an hour of temperature and energy of two GPUs, a sample in ten seconds.
class HistoryCommand : public test::CommandTest {
 protected:
  HistoryCommand() {
    folder_ = testing::TempDir() + "gpusight.history." + std::to_string(::getpid());
    fs::remove_all(folder_);
    machine_.paths.state_dir = folder_ + "/state";
    machine_.paths.state_dirs = {folder_ + "/state"};
    // What the first line of a summary shows does not depend on where tests run.
    fs::create_directories(folder_);
  }
  ~HistoryCommand() override { fs::remove_all(folder_); }

  void record() {
    const auto lock = store::StateLock::take(machine_.paths.state_dir);
    ASSERT_TRUE(lock.ok());
    const auto history = store::Backfill::open({.lock = &*lock});
    ASSERT_TRUE(history.ok()) << history.status().message();
    for (const auto id : {catalog::MetricId::kGpuTemperature, catalog::MetricId::kGpuEnergy}) {
      for (const char* uuid : {"GPU-a", "GPU-b"}) {
        ASSERT_TRUE((*history)->begin(catalog::metric(id), uuid, "").ok());
        for (int64_t i = 1; i <= 360; ++i) {
          std::optional<double> number = 50 + static_cast<double>(i % 7);
          if (id == catalog::MetricId::kGpuEnergy) number = 1e6 + 0.25 * static_cast<double>(i);
          if (i == 100) number.reset();
          ASSERT_TRUE((*history)->add(kStartMs + i * 10'000 + i % 3, number).ok());
        }
      }
    }
    ASSERT_TRUE((*history)->finish().ok());
  }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string import_error(const std::string& text) {
    EXPECT_EQ(run({"history", "import", write("text", text)}), kExitEnvironment);
    return err_.substr(0, err_.find('\n'));
  }

  std::string folder_;
};

TEST_F(HistoryCommand, InfoTellsTiersSpanAndSizes) {
  record();
  io_.width = 100;
  ASSERT_EQ(run({"history", "info"}), kExitOk) << err_;
  const size_t first_line = out_.find('\n');
  EXPECT_THAT(out_.substr(0, first_line), StartsWith(folder_ + "/state/history.db: "));
  EXPECT_THAT(out_.substr(0, first_line), HasSubstr("4 series, 0 events"));
  test::expect_golden("history_info_100.txt", out_.substr(first_line + 1));
  ASSERT_EQ(run({"history", "info", "--lang", "zh"}), kExitOk);
  test::expect_golden("history_info_zh_100.txt", out_.substr(out_.find('\n') + 1));
  ASSERT_EQ(run({"history", "info", "--json"}), kExitOk);
  const json info = json::parse(out_);
  EXPECT_EQ(info["series"], 4);
  EXPECT_EQ(info["recording"], false);
  EXPECT_EQ(info["tiers"][0]["tier"], "raw");
  EXPECT_EQ(info["tiers"][0]["from"], 1735689610.001);
  EXPECT_EQ(info["tiers"][0]["to"], info["committed_until"]);
  EXPECT_EQ(info["tiers"][1]["from"], nullptr);
  EXPECT_EQ(info["tiers"][2]["kept_seconds"], 1825 * 86400);
}

TEST_F(HistoryCommand, InfoSeesThatSomebodyRecords) {
  record();
  const auto lock = store::StateLock::take(machine_.paths.state_dir);
  ASSERT_EQ(run({"history", "info", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(out_)["recording"], true);
}

TEST_F(HistoryCommand, CheckReadsAllAndNamesWhatIsDamaged) {
  record();
  EXPECT_EQ(run({"history", "check"}), kExitOk);
  EXPECT_EQ(out_, "2 chunks, 4 columns, 1436 samples: all sound\n") << err_;
}

TEST_F(HistoryCommand, WhatIsExportedImportedAndExportedAgainIsTheSame) {
  record();
  ASSERT_EQ(run({"history", "export"}), kExitOk) << err_;
  const std::string first = out_;
  EXPECT_THAT(first, HasSubstr("# TYPE gpu_energy_joules counter\n"));
  EXPECT_THAT(first, HasSubstr("gpu_energy_joules_total{uuid=\"GPU-a\"} 1000000.25 "
                               "1735689610.001\n"));
  EXPECT_THAT(first, HasSubstr("gpu_temperature_celsius{uuid=\"GPU-b\"} NaN 1735690600.001\n"));
  EXPECT_TRUE(first.ends_with("\n# EOF\n"));
  const std::string text = write("export", first);
  const std::string other = folder_ + "/other";
  ASSERT_EQ(run({"history", "import", text, "--state-dir", other}), kExitOk) << err_;
  EXPECT_EQ(out_, "1440 samples imported\n");
  ASSERT_EQ(run({"history", "export", "--state-dir", other}), kExitOk) << err_;
  EXPECT_EQ(out_, first);
  // Once more is as good as once.
  ASSERT_EQ(run({"history", "import", text, "--state-dir", other}), kExitOk);
  EXPECT_EQ(out_,
            "0 samples imported\n1440 samples left out: something of their series is recorded in "
            "their hour\n");
  ASSERT_EQ(run({"history", "export", "--state-dir", other}), kExitOk);
  EXPECT_EQ(out_, first);
}

TEST_F(HistoryCommand, ExportIsOfMatchingSeriesInASpan) {
  record();
  ASSERT_EQ(run({"history", "export", "--csv", "--match", "gpu_temperature_celsius{uuid=~\".*b\"}",
                 "--start", "2025-01-01T00:16:20Z", "--end", "1735690600.001"}),
            kExitOk)
      << err_;
  EXPECT_EQ(out_,
            "time,metric,uuid,label,value,reason\n"
            "2025-01-01T00:16:20.002Z,gpu_temperature_celsius,GPU-b,,50,\n"
            "2025-01-01T00:16:30.000Z,gpu_temperature_celsius,GPU-b,,51,\n"
            "2025-01-01T00:16:40.001Z,gpu_temperature_celsius,GPU-b,,,unknown\n");
  EXPECT_EQ(run({"history", "export", "--start", "now", "--end", "-1h"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: --start cannot be now: a time before --end is wanted\n");
  EXPECT_EQ(run({"history", "export", "--start", "yesterday"}), kExitUsage);
  EXPECT_THAT(err_, StartsWith("gpusight: --start cannot be yesterday: a time is wanted"));
  EXPECT_EQ(run({"history", "export", "--match", "a + b"}), kExitUsage);
  EXPECT_THAT(err_, StartsWith("gpusight: --match cannot be a + b: a selector is wanted"));
}

TEST_F(HistoryCommand, ExportReplacesAFileOnlyWhenAllIsWritten) {
  record();
  const std::string path = write("out", "before");
  ASSERT_EQ(run({"history", "export", "-o", path}), kExitOk) << err_;
  EXPECT_EQ(out_, "");
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str().ends_with("# EOF\n"));
  EXPECT_FALSE(fs::exists(path + ".unfinished"));
  EXPECT_EQ(run({"history", "export", "-o", folder_ + "/none/out"}), kExitEnvironment);
  EXPECT_THAT(err_, HasSubstr("No such file or directory"));
}

TEST_F(HistoryCommand, ImportNamesTheLineThatIsWrongAndLosesNothing) {
  record();
  ASSERT_EQ(run({"history", "export"}), kExitOk);
  const std::string before = out_;
  const std::string head(kHead);
  const std::string line = "gpu_temperature_celsius{uuid=\"GPU-c\"} 50 ";
  const std::string at = "gpusight: " + folder_ + "/text, line ";
  EXPECT_EQ(import_error(head + line + "1735689600\n" + line + "x\n# EOF\n"),
            at + "5: its time is no number of seconds");
  EXPECT_EQ(import_error(head + line + "1735689600\n"),
            at + "4: the text ends without # EOF: it was cut off");
  EXPECT_EQ(import_error(line + "99999999999\n"), at + "1: its time lies in the future");
  EXPECT_EQ(import_error(line + "-5\n"), at + "1: its time lies before 1970");
  EXPECT_THAT(import_error(line + "5\n" + line + "5\n"),
              HasSubstr("line 2: this time is not later"));
  EXPECT_THAT(import_error("gpu_temperature_celsius{uuid=\"a\"} 5000 5\n"),
              HasSubstr("line 1: its value cannot be"));
  EXPECT_THAT(import_error("gpu_temperature_celsius{uuid=\"a\"} +Inf 5\n"),
              HasSubstr("line 1: its value cannot be"));
  EXPECT_THAT(import_error("up 1 5\n"), HasSubstr("line 1: it is no metric that gpusight records"));
  EXPECT_EQ(import_error("gpu_temperature_celsius 1 5\n"), at + "1: the label uuid is missing");
  EXPECT_EQ(import_error("gpu_temperature_celsius{uuid=\"a\",job=\"b\"} 1 5\n"),
            at + "1: the metric has no label job");
  EXPECT_EQ(import_error("gpu_temperature_celsius{uuid=\"a\\nb\"} 1 5\n"),
            at + "1: the label uuid holds no clean text");
  EXPECT_THAT(err_, HasSubstr("0 samples from before it are imported"));
  ASSERT_EQ(run({"history", "export"}), kExitOk);
  EXPECT_EQ(out_, before);
  // Others are left out by name.
  const std::string mixed = write("mixed", "up 1 5\n" + line + "1735689600\n# EOF\n");
  ASSERT_EQ(run({"history", "import", mixed, "--match", "gpu_temperature_celsius"}), kExitOk)
      << err_;
  EXPECT_EQ(out_, "1 samples imported\n");
}

TEST_F(HistoryCommand, ImportWaitsForNoDaemon) {
  const auto lock = store::StateLock::take(machine_.paths.state_dir);
  EXPECT_EQ(run({"history", "import", write("text", "# EOF\n")}), kExitEnvironment);
  EXPECT_EQ(err_, "gpusight: a daemon records in " + folder_ +
                      "/state: stop it first, or import into another directory by --state-dir\n");
}

TEST_F(HistoryCommand, SaysWhatIsMissingOrNotTaken) {
  EXPECT_EQ(run({"history", "info"}), kExitEnvironment);
  EXPECT_EQ(err_, "gpusight: there is no recorded history at " + folder_ + "/state/history.db\n");
  fs::create_directories(folder_ + "/state");
  write("state/history-by-hand-3f.db", "");
  EXPECT_EQ(run({"history", "check"}), kExitEnvironment);
  EXPECT_EQ(err_, "gpusight: there is no history.db in " + folder_ +
                      "/state, but there are history-by-hand-3f.db: name one by --history-file\n");
  EXPECT_EQ(run({"history", "exprt"}), kExitUsage);
  EXPECT_EQ(err_,
            "gpusight: history cannot be exprt: one of info, check, export, import is wanted; did "
            "you mean export?\n");
  EXPECT_EQ(run({"history", "info", "--csv"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: `gpusight history info` takes no option --csv\n");
  EXPECT_EQ(run({"history", "export", "file"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: file is not expected here\n");
  EXPECT_EQ(run({"history", "import"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: FILE is missing\n");
  write("state/history.db", "no database, whatever its name says");
  EXPECT_EQ(run({"history", "info"}), kExitEnvironment);
  EXPECT_THAT(err_, StartsWith("gpusight: cannot read the recorded history: "));
}

TEST(Moment, IsReadAsPeopleWriteIt) {
  ::setenv("TZ", "UTC", 1);
  const WallTime now{std::chrono::milliseconds(kStartMs + 12 * 3'600'000)};
  const auto at = [&](std::string_view text) { return parse_moment(text, now).value_or(-1); };
  EXPECT_EQ(at("now"), kStartMs + 43'200'000);
  EXPECT_EQ(at("-1h30m"), kStartMs + 37'800'000);
  EXPECT_EQ(at("1735689600.25"), kStartMs + 250);
  EXPECT_EQ(at("2025-01-01"), kStartMs);
  EXPECT_EQ(at("2025-01-01 00:00:01"), kStartMs + 1000);
  EXPECT_EQ(at("2025-01-01T08:00:00.125+08:00"), kStartMs + 125);
  EXPECT_EQ(at("2024-12-31T19:00-05:00"), kStartMs);
  EXPECT_EQ(at("2025-01-01T00:00:00Z"), kStartMs);
  EXPECT_EQ(at("03:12"), kStartMs + (3 * 60 + 12) * 60'000);
  EXPECT_EQ(at("23:00:05"), kStartMs - 3'595'000);  // of yesterday
  for (const char* wrong :
       {"", "yesterday", "-1", "-", "25:00", "12:60", "2025-02-30", "2025-13-01", "2025-01-01T",
        "2025-01-01T00:00:00z", "2025-01-01T00:00:00.Z", "1e300", "nan", "inf", "0x10", "-1h junk",
        "2025-01-01T00:00:00+8", "99999-01-01"}) {
    EXPECT_EQ(at(wrong), -1) << wrong;
  }
  EXPECT_EQ(moment_text(kStartMs + 7), "2025-01-01T00:00:00.007Z");
}

}  // namespace
}  // namespace gpusight::cli
