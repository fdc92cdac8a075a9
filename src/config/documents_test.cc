#include "config/documents.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/display_width.h"
#include "base/text.h"
#include "config/help.h"

namespace gpusight::config {
namespace {

using catalog::Lang;

TEST(Help, FitsTheTerminalInBothLanguages) {
  for (const Lang lang : {Lang::kEnglish, Lang::kChinese}) {
    for (const size_t width : {80u, 100u}) {
      const HelpOptions options{.lang = lang, .width = width, .version = "1.2.3"};
      std::string all = overview_help(options);
      for (const CommandRow& row : commands()) {
        if (row.listed == Listed::kYes && row.id != CommandId::kSim) {
          all += command_help(row.id, options);
        }
      }
      for (const std::string_view line : split(all, '\n')) {
        // An example's command line is never broken: it is there to be copied.
        if (line.starts_with("  gpusight")) continue;
        EXPECT_LE(display_width(line), width) << line;
      }
    }
  }
}

TEST(Help, TellsEveryListedCommandAndItsOptions) {
  const std::string overview = overview_help({.version = "1.2.3"});
  for (const std::string_view name : listed_command_names()) {
    EXPECT_NE(overview.find("\n  " + std::string(name) + " "), std::string::npos) << name;
  }
  EXPECT_EQ(overview.find("generate"), std::string::npos);
  const std::string status = command_help(CommandId::kStatus, {});
  EXPECT_NE(status.find("Usage: gpusight status [OPTION]…"), std::string::npos);
  EXPECT_NE(status.find("-w, --watch [DURATION]"), std::string::npos);
  EXPECT_NE(status.find("100ms to 1h"), std::string::npos);
  EXPECT_EQ(status.find("--listen"), std::string::npos);
  const std::string chinese = command_help(CommandId::kServe, {.lang = Lang::kChinese});
  EXPECT_NE(chinese.find("用法：gpusight serve [选项]…"), std::string::npos);
  EXPECT_NE(chinese.find("默认 127.0.0.1:9780"), std::string::npos);
}

TEST(Documents, TheReferenceHasEveryOptionAndKey) {
  const std::string text = reference_markdown();
  for (const OptionRow& row : kOptions) {
    EXPECT_NE(text.find("### --" + std::string(row.flag) + "\n"), std::string::npos) << row.flag;
    if (!row.key.empty()) {
      EXPECT_NE(text.find("`" + std::string(row.key) + "`"), std::string::npos) << row.key;
    }
  }
}

TEST(Completions, KnowThreeShellsAndEveryOption) {
  EXPECT_EQ(completions("tcsh"), std::nullopt);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::optional<std::string> script = completions(shell);
    ASSERT_TRUE(script.has_value());
    for (const OptionRow& row : kOptions) {
      EXPECT_NE(script->find(row.flag), std::string::npos) << shell << " " << row.flag;
    }
  }
}

// What bash offers for a half-written line, one word a line, sorted.
std::string bash_offers(const std::string& words, int at) {
  const std::string script = testing::TempDir() + "gpusight.completion.bash";
  std::ofstream(script) << completions("bash").value() << "COMP_WORDS=(" << words
                        << ")\nCOMP_CWORD=" << at
                        << "\n_gpusight\nprintf '%s\\n' \"${COMPREPLY[@]}\" | sort\n";
  FILE* pipe = ::popen(("bash '" + script + "' 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string out;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, got);
  ::pclose(pipe);
  return out;
}

TEST(Completions, BashOffersCommandsOptionsAndValues) {
  EXPECT_EQ(bash_offers("gpusight s", 1), "selftest\nserve\nsim\nstatus\n");
  EXPECT_EQ(bash_offers("gpusight status --w", 2), "--watch\n");
  EXPECT_EQ(bash_offers("gpusight completions ''", 2).substr(0, 6), "--conf");
  EXPECT_EQ(bash_offers("gpusight completions z", 2), "zsh\n");
  EXPECT_EQ(bash_offers("gpusight serve --log-level d", 3), "debug\n");
  EXPECT_EQ(bash_offers("gpusight help met", 2), "metrics\n");
  EXPECT_EQ(bash_offers("gpusight sim h", 2), "h100-training\n");
}

}  // namespace
}  // namespace gpusight::config
