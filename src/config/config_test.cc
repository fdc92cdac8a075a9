#include "config/config.h"

#include <gtest/gtest.h>

#include "config/value.h"

namespace gpusight::config {
namespace {

using catalog::Lang;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    input_.default_files = {"/home/alice/.config/gpusight/gpusight.toml",
                            "/etc/gpusight/gpusight.toml"};
    input_.read_file = [this](const std::string& path) -> Result<std::string> {
      const auto at = files_.find(path);
      if (at == files_.end()) return Status(Code::kNotFound, path + ": no such file");
      return at->second;
    };
  }

  Config load() {
    Result<Config> config = Config::load(input_);
    EXPECT_TRUE(config.ok()) << config.status().message();
    return std::move(config).value();
  }
  std::string error() {
    const Result<Config> config = Config::load(input_);
    EXPECT_FALSE(config.ok());
    if (config.ok()) return "";
    EXPECT_EQ(config.status().code(), Code::kInvalidArgument);
    return config.status().message();
  }
  std::string line_error(std::vector<std::string> words) {
    input_.words = std::move(words);
    return error();
  }
  std::string file_error(std::string text) {
    files_["/etc/gpusight/gpusight.toml"] = std::move(text);
    return error();
  }

  LoadInput input_;
  std::map<std::string, std::string> files_;
};

TEST_F(ConfigTest, WithoutAnythingEveryOptionHasItsDefault) {
  const Config config = load();
  EXPECT_EQ(config.command(), CommandId::kStatus);
  EXPECT_FALSE(config.command_named());
  EXPECT_EQ(config.get<OptionId::kInterval>(), std::chrono::seconds(1));
  EXPECT_EQ(config.get<OptionId::kListen>(), (std::vector<Address>{{"127.0.0.1", 9780}}));
  EXPECT_EQ(config.get<OptionId::kRoot>(), "/");
  EXPECT_EQ(config.get<OptionId::kNvml>(), "");
  EXPECT_EQ(config.get<OptionId::kWatch>(), Duration::zero());
  EXPECT_EQ(config.get<OptionId::kSimulate>(), "never");
  EXPECT_TRUE(config.is_default(OptionId::kListen));
  EXPECT_EQ(config.lang(), Lang::kEnglish);
  EXPECT_EQ(config.file(), "");
}

TEST_F(ConfigTest, FlagsWinOverEnvironmentOverFileOverDefaultAndTheOriginIsKept) {
  files_["/etc/gpusight/gpusight.toml"] =
      "nvml.library = \"/file.so\"\nroot = \"/file\"\n[sample]\ninterval = \"5s\"\n";
  input_.environment = {{"GPUSIGHT_ROOT", "/environment"}, {"GPUSIGHT_INTERVAL", "4s"}};
  input_.words = {"serve", "--interval", "250ms"};
  const Config config = load();
  EXPECT_EQ(config.get<OptionId::kInterval>(), std::chrono::milliseconds(250));
  EXPECT_EQ(config.origin(OptionId::kInterval).kind, OriginKind::kFlag);
  EXPECT_EQ(config.origin(OptionId::kInterval).where, "--interval");
  EXPECT_EQ(config.get<OptionId::kRoot>(), "/environment");
  EXPECT_EQ(config.origin(OptionId::kRoot).where, "GPUSIGHT_ROOT");
  EXPECT_EQ(config.get<OptionId::kNvml>(), "/file.so");
  EXPECT_EQ(config.origin(OptionId::kNvml).where, "/etc/gpusight/gpusight.toml, line 1");
  EXPECT_EQ(config.origin(OptionId::kListen).kind, OriginKind::kDefault);
}

TEST_F(ConfigTest, WordsOfAChoiceAreCheckedOneByOne) {
  input_.words = {"serve", "--metrics-names", "dcgm, nvidia_smi"};
  EXPECT_EQ(load().get<OptionId::kMetricsNames>(),
            (std::vector<std::string>{"dcgm", "nvidia_smi"}));
  const std::string error = line_error({"serve", "--metrics-names", "dcgm,nvidia-smi"});
  EXPECT_NE(error.find("gpusight, dcgm, dcgm46, nvidia_smi"), std::string::npos) << error;
  EXPECT_NE(error.find("did you mean nvidia_smi?"), std::string::npos) << error;
  input_.words = {"serve"};
  EXPECT_NE(file_error("[serve]\nmetrics_names = \"dcgm,\"\n").find("metrics_names"),
            std::string::npos);
}

TEST_F(ConfigTest, TheUsersFileCountsBeforeTheMachinesAndOneNamedByHandMustBeThere) {
  files_["/etc/gpusight/gpusight.toml"] = "root = \"/machine\"\n";
  EXPECT_EQ(load().get<OptionId::kRoot>(), "/machine");
  files_["/home/alice/.config/gpusight/gpusight.toml"] = "root = \"/alice\"\n";
  EXPECT_EQ(load().get<OptionId::kRoot>(), "/alice");
  input_.words = {"status", "--config", "/none.toml"};
  EXPECT_EQ(error(), "cannot read /none.toml: /none.toml: no such file");
}

TEST_F(ConfigTest, EveryFaultOfAFileIsNamedWithItsLineAndNothingIsTaken) {
  EXPECT_EQ(file_error("rot = \"/\"\n[sample]\ninterval = \"10ms\"\ninterwal = \"1s\"\n"
                       "[serve]\nlisten = \"9780\"\n"),
            "/etc/gpusight/gpusight.toml, line 1: there is no key rot; did you mean root?\n"
            "/etc/gpusight/gpusight.toml, line 3: sample.interval cannot be \"10ms\": a duration "
            "from 100ms to 1m is wanted\n"
            "/etc/gpusight/gpusight.toml, line 4: there is no key sample.interwal; did you mean "
            "sample.interval?\n"
            "/etc/gpusight/gpusight.toml, line 6: serve.listen cannot be \"9780\": an address with "
            "its port is wanted, such as 127.0.0.1:9780 or [::1]:9780");
}

TEST_F(ConfigTest, ValuesOfTheWrongKindInAFileAreRefusedAndSaidHow) {
  EXPECT_EQ(file_error("[sample]\ninterval = 1\n"),
            "/etc/gpusight/gpusight.toml, line 2: sample.interval cannot be 1: a duration with its "
            "unit is wanted, such as 500ms, 1s or 2m");
  EXPECT_EQ(file_error("sample = 3\n"),
            "/etc/gpusight/gpusight.toml, line 1: sample cannot be 3: a table is wanted, written "
            "[sample]");
  EXPECT_EQ(file_error("[root]\na = 1\n"),
            "/etc/gpusight/gpusight.toml, line 1: root cannot be {…}: a text is wanted");
  EXPECT_EQ(file_error("lang = \"de\"\n"),
            "/etc/gpusight/gpusight.toml, line 1: lang cannot be \"de\": one of en, zh is wanted");
}

TEST_F(ConfigTest, AFileThatIsNoTomlNamesTheLine) {
  EXPECT_TRUE(
      file_error("root = \"/\"\nlang = \n").starts_with("/etc/gpusight/gpusight.toml, line 2: "));
  EXPECT_TRUE(file_error(std::string("a = \"\xFF\xFE\""))
                  .starts_with("/etc/gpusight/gpusight.toml, line 1: "));
  EXPECT_NE(file_error(std::string(2 << 20, ' ')).find("longer than"), std::string::npos);
  // As deep as it likes: refused, not a stack overflow.
  EXPECT_NE(file_error("a = " + std::string(100000, '[')), "");
}

TEST_F(ConfigTest, ABrokenFileDoesNotKeepHelpAndVersionFromWorking) {
  files_["/etc/gpusight/gpusight.toml"] = "nonsense";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help"}, {"version"}, {"serve", "--help"}, {"--version"}}) {
    input_.words = words;
    EXPECT_TRUE(Config::load(input_).ok());
  }
}

TEST_F(ConfigTest, ABadVariableDoesNotKeepHelpAndVersionFromWorking) {
  input_.environment = {{"GPUSIGHT_INTERVAL", "soon"}, {"GPUSIGHT_LANG", "xx"}};
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help"}, {"version"}, {"serve", "--help"}, {"--version"}}) {
    input_.words = words;
    EXPECT_TRUE(Config::load(input_).ok());
  }
  EXPECT_NE(line_error({"serve"}).find("cannot be"), std::string::npos);
}

TEST_F(ConfigTest, ListsAreArraysInAFileAndAddUpOnTheCommandLine) {
  files_["/etc/gpusight/gpusight.toml"] = "serve.listen = [\"127.0.0.1:1\", \"[::1]:2\"]\n";
  EXPECT_EQ(load().get<OptionId::kListen>(), (std::vector<Address>{{"127.0.0.1", 1}, {"::1", 2}}));
  input_.words = {"serve", "--listen", "localhost:3", "--listen=[::1]:4,localhost:3"};
  EXPECT_EQ(load().get<OptionId::kListen>(), (std::vector<Address>{{"localhost", 3}, {"::1", 4}}));
  EXPECT_EQ(address_text({"::1", 4}), "[::1]:4");
}

// FAULT-134
TEST_F(ConfigTest, AProgramWithMoreRightsThanItsCallerIgnoresTheEnvironment) {
  input_.environment = {{"GPUSIGHT_NVML", "/tmp/evil.so"}};
  EXPECT_EQ(load().get<OptionId::kNvml>(), "/tmp/evil.so");
  input_.trust = Trust::kNoEnvironment;
  EXPECT_EQ(load().get<OptionId::kNvml>(), "");
}

TEST_F(ConfigTest, BadVariablesAreNamedAndEmptyOnesCountAsUnset) {
  input_.environment = {{"GPUSIGHT_INTERVAL", ""}};
  EXPECT_TRUE(load().is_default(OptionId::kInterval));
  input_.environment = {{"GPUSIGHT_INTERVAL", "soon"}};
  EXPECT_EQ(error(),
            "GPUSIGHT_INTERVAL cannot be soon: a duration with its unit is wanted, such as 500ms, "
            "1s or 2m");
  input_.environment = {{"NO_COLOR", "whatever"}};
  EXPECT_TRUE(load().get<OptionId::kNoColor>());
}

TEST_F(ConfigTest, TheLanguageIsTheUsersLocaleUnlessNamed) {
  input_.environment = {{"LANG", "zh_CN.UTF-8"}};
  EXPECT_EQ(load().lang(), Lang::kChinese);
  input_.environment["LC_ALL"] = "de_DE.UTF-8";
  EXPECT_EQ(load().lang(), Lang::kEnglish);
  input_.words = {"status", "--lang", "zh"};
  EXPECT_EQ(load().lang(), Lang::kChinese);
  EXPECT_EQ(line_error({"staus", "--lang=zh"}), "没有命令 staus；您是否想输入 status？");
}

TEST_F(ConfigTest, UnknownCommandsAndOptionsAreAnsweredWithTheNearest) {
  EXPECT_EQ(line_error({"stat"}), "there is no command stat; did you mean status?");
  EXPECT_EQ(line_error({"xyzzy"}), "there is no command xyzzy");
  EXPECT_EQ(line_error({"serve", "--listne=x"}),
            "there is no option --listne; did you mean --listen?");
  EXPECT_EQ(line_error({"serve", "-Z"}), "there is no option -Z");
  EXPECT_EQ(line_error({"metrics", "--listen=127.0.0.1:1"}),
            "`gpusight metrics` takes no option --listen");
}

TEST_F(ConfigTest, MissingAndBadValuesAndArgumentsAreNamed) {
  EXPECT_EQ(line_error({"serve", "--listen"}), "the option --listen needs a value");
  EXPECT_EQ(line_error({"serve", "--listen", "--interval=1s"}),
            "the option --listen needs a value");
  EXPECT_EQ(line_error({"serve", "--interval", "5"}),
            "--interval cannot be 5: a duration with its unit is wanted, such as 500ms, 1s or 2m");
  EXPECT_EQ(line_error({"serve", "--interval=infs"}),
            "--interval cannot be infs: a duration from 100ms to 1m is wanted");
  EXPECT_EQ(line_error({"status", "extra"}), "extra is not expected here");
  EXPECT_EQ(line_error({"completions"}), "bash|zsh|fish is missing");
  EXPECT_EQ(line_error({"status", "--json", "--csv"}), "--json and --csv exclude each other");
  EXPECT_EQ(line_error({"status", "--query", "a\nb"}),
            "--query cannot be ab: text in UTF-8 without control characters is wanted");
}

TEST_F(ConfigTest, OptionsMayStandAnywhereAndHaveLetters) {
  input_.words = {"--lang", "zh", "status", "-j", "-q", "index,name", "-w500ms"};
  const Config config = load();
  EXPECT_EQ(config.command(), CommandId::kStatus);
  EXPECT_TRUE(config.get<OptionId::kJson>());
  EXPECT_EQ(config.get<OptionId::kQuery>(), (std::vector<std::string>{"index", "name"}));
  EXPECT_EQ(config.get<OptionId::kWatch>(), std::chrono::milliseconds(500));
}

TEST_F(ConfigTest, AFlagWithAnImpliedValueMayStandAlone) {
  input_.words = {"status", "--watch", "--settle", "2s"};
  Config config = load();
  EXPECT_EQ(config.get<OptionId::kWatch>(), std::chrono::seconds(1));
  EXPECT_EQ(config.get<OptionId::kSettle>(), std::chrono::seconds(2));
  input_.words = {"-w", "status"};
  config = load();
  EXPECT_EQ(config.command(), CommandId::kStatus);
  EXPECT_EQ(config.get<OptionId::kWatch>(), std::chrono::seconds(1));
  EXPECT_NE(line_error({"status", "--watch", "5"}), "");
}

TEST_F(ConfigTest, WhatStandsAfterTheDashesIsPassedOnUntouched) {
  input_.words = {"sim", "h100-training", "--", "nvtop", "--help", "-s", "--json"};
  const Config config = load();
  EXPECT_FALSE(config.help_wanted());
  EXPECT_EQ(config.arguments(), std::vector<std::string>{"h100-training"});
  EXPECT_EQ(config.rest(), (std::vector<std::string>{"nvtop", "--help", "-s", "--json"}));
}

TEST_F(ConfigTest, TheDaemonLogsMoreThanOneShotCommandsUnlessTold) {
  EXPECT_EQ(load().log_level(), log::Level::kWarning);
  input_.words = {"serve"};
  EXPECT_EQ(load().log_level(), log::Level::kInfo);
  input_.words = {"serve", "--log-level", "error"};
  EXPECT_EQ(load().log_level(), log::Level::kError);
}

TEST(OptionTable, EveryDefaultAndImpliedValueParsesAndIsWrittenBack) {
  for (const OptionRow& row : kOptions) {
    const OptionValue value = initial_value(row);
    if (!row.initial.empty()) {
      EXPECT_EQ(value_text(row, value), row.initial) << row.flag;
    }
    if (!row.implied.empty()) {
      EXPECT_TRUE(
          std::holds_alternative<OptionValue>(parse_value(row, row.implied, Lang::kEnglish)));
    }
    EXPECT_EQ(find_option_by_flag(row.flag), &row);
    if (!row.key.empty()) {
      EXPECT_EQ(find_option_by_key(row.key), &row);
    }
  }
}

// FAULT-088
TEST(Values, MetricsAreNamedByNamePatternAndGroupAndNothingElse) {
  const OptionRow& row = option(OptionId::kDisabledMetrics);
  const Parsed good = parse_value(row, "gpu_power_watts, gpu_nvlink_*,activity", Lang::kEnglish);
  ASSERT_TRUE(std::holds_alternative<OptionValue>(good));
  EXPECT_EQ(value_text(row, std::get<OptionValue>(good)), "gpu_power_watts,gpu_nvlink_*,activity");
  for (const char* bad : {"gpu_powr_watts", "gpu_power_watts,,", "fans,nonsense*", "gpu_up"}) {
    EXPECT_TRUE(std::holds_alternative<Unwanted>(parse_value(row, bad, Lang::kChinese))) << bad;
  }
  const Parsed unknown = parse_value(row, "fan", Lang::kEnglish);
  EXPECT_NE(std::get<Unwanted>(unknown).why.find("fans"), std::string::npos);
}

TEST(Values, DurationsAreWrittenInTheLargestUnitThatDividesThem) {
  using namespace std::chrono_literals;
  EXPECT_EQ(duration_text(1500ms), "1500ms");
  EXPECT_EQ(duration_text(90s), "90s");
  EXPECT_EQ(duration_text(2h), "2h");
  EXPECT_EQ(duration_text(0s), "0s");
}

TEST(Values, AddressesAreHostAndPortAndNothingElse) {
  const OptionRow& row = option(OptionId::kListen);
  for (const char* good : {"127.0.0.1:9780", "[::1]:0", "localhost:65535", "gpu-7.example:80"}) {
    EXPECT_TRUE(std::holds_alternative<OptionValue>(parse_value(row, good, Lang::kEnglish)))
        << good;
  }
  for (const char* bad : {"9780", ":9780", "::1:9780", "[::1]", "127.0.0.1:65536", "a:b", "[]:1",
                          "[abc]:1", "a b:1", "127.0.0.1:-1", "http://x:1", "a:1,", ""}) {
    EXPECT_TRUE(std::holds_alternative<Unwanted>(parse_value(row, bad, Lang::kEnglish))) << bad;
  }
}

}  // namespace
}  // namespace gpusight::config
