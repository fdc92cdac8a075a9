#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "cli/generate.h"
#include "cli/golden.h"
#include "cli/metrics.h"
#include "cli/sim.h"
#include "cli/test_machine.h"

namespace gpusight::cli {
namespace {

namespace fs = std::filesystem;
using catalog::Lang;
using nlohmann::json;

class Commands : public test::CommandTest {};

TEST_F(Commands, VersionAndHelpAnswerInEveryWayPeopleAsk) {
  EXPECT_EQ(run({"--version"}), kExitOk);
  EXPECT_EQ(out_, "gpusight 1.2.3\n");
  EXPECT_EQ(run({"version", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(out_)["version"], "1.2.3");
  EXPECT_EQ(run({"--help"}), kExitOk);
  const std::string overview = out_;
  EXPECT_EQ(run({"help"}), kExitOk);
  EXPECT_EQ(out_, overview);
  EXPECT_EQ(run({"status", "-h"}), kExitOk);
  const std::string status = out_;
  EXPECT_EQ(run({"help", "status"}), kExitOk);
  EXPECT_EQ(out_, status);
  EXPECT_EQ(run({"serve", "--help"}), kExitOk);
  EXPECT_EQ(run({"help", "statsu"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: there is no command statsu; did you mean status?\n");
}

TEST_F(Commands, UsageErrorsExitWithTwoAndPointToHelp) {
  EXPECT_EQ(run({"status", "--jsn"}), kExitUsage);
  EXPECT_EQ(err_,
            "gpusight: there is no option --jsn; did you mean --json?\n"
            "`gpusight help status` tells what it takes\n");
  EXPECT_EQ(run({"completions", "bsh"}), kExitUsage);
  EXPECT_EQ(err_,
            "gpusight: SHELL cannot be bsh: one of bash, zsh, fish is wanted; did you mean "
            "bash?\n");
}

TEST_F(Commands, MetricsListsTheCatalogueInEveryForm) {
  EXPECT_EQ(run({"metrics"}), kExitOk);
  test::expect_golden("metrics_80.txt", out_);
  EXPECT_EQ(run({"metrics", "--json"}), kExitOk);
  EXPECT_EQ(json::parse(out_)["metrics"].size(), catalog::metrics().size());
  EXPECT_EQ(run({"metrics", "--markdown"}), kExitOk);
  for (const catalog::MetricRow& row : catalog::metrics()) {
    EXPECT_NE(out_.find("| `" + std::string(row.name) + "` |"), std::string::npos) << row.name;
  }
}

TEST(Documents, TheCommittedOnesAreWhatTheTablesSay) {
  const std::string folder = std::string(GPUSIGHT_SOURCE_DIR) + "/docs/reference/";
  if (std::getenv("GPUSIGHT_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(folder);
    ASSERT_TRUE(write_documents(folder, GPUSIGHT_VERSION).ok());
  }
  for (const Document& document : generated_documents(GPUSIGHT_VERSION)) {
    std::ifstream file(folder + document.name);
    std::stringstream committed;
    committed << file.rdbuf();
    EXPECT_EQ(committed.str(), document.text)
        << document.name << ": run `gpusight generate docs/reference`";
  }
}

TEST_F(Commands, AFullDiskBehindTheOutputIsAnErrorAndAReaderThatLeftIsNot) {
  most_writes_ = 1;
  write_error_ = ENOSPC;
  EXPECT_EQ(run({"metrics"}), kExitEnvironment);
  EXPECT_EQ(err_, "gpusight: cannot write stdout: No space left on device\n");
  write_error_ = EPIPE;
  EXPECT_EQ(run({"metrics"}), kExitOk);
  EXPECT_EQ(err_, "");
}

TEST_F(Commands, GenerateSaysWhereItCannotWrite) {
  EXPECT_EQ(run({"generate", "/nonexistent/folder"}), kExitEnvironment);
  EXPECT_EQ(err_,
            "gpusight: cannot write /nonexistent/folder: /nonexistent/folder/metrics.md: No such "
            "file or directory\n");
}

// An installation: bin/gpusight, the simulated library, one scenario of its own.
class SimCommand : public test::CommandTest {
 protected:
  SimCommand() : home_(testing::TempDir() + "gpusight.sim." + std::to_string(::getpid())) {
    fs::create_directories(home_ + "/bin");
    fs::create_directories(home_ + "/lib/gpusight/sim");
    fs::create_directories(home_ + "/share/gpusight/scenarios");
    // Any library that loads will do: it has no scenarios to check.
    Dl_info info{};
    EXPECT_NE(::dladdr(::dlsym(RTLD_DEFAULT, "cos"), &info), 0);
    fs::copy_file(info.dli_fname, home_ + "/lib/gpusight/sim/libnvidia-ml.so.1");
    std::ofstream(home_ + "/share/gpusight/scenarios/mine.toml")
        << "# mine\ntitle = \"My own \x1b[31mmachine\"\n";
    std::ofstream(home_ + "/bin/gpusight") << "#!/bin/sh\necho \"ours $*\"\n";
    fs::permissions(home_ + "/bin/gpusight", fs::perms::owner_all);
    machine_.executable = home_ + "/bin/gpusight";
    machine_.environment["PATH"] = "/usr/bin:/bin";
  }
  ~SimCommand() override { fs::remove_all(home_); }

  // Runs `gpusight sim …` in a child, which becomes the command; what it wrote and its exit code.
  std::pair<std::string, int> become(std::vector<std::string> words) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::_exit(run(std::move(words)));
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, got);
    }
    ::close(ends[0]);
    int state = 0;
    ::waitpid(child, &state, 0);
    return {text, WIFEXITED(state) ? WEXITSTATUS(state) : -1};
  }

  std::string home_;
};

TEST_F(SimCommand, TheCommandFindsTheSimulatedLibraryFirst) {
  machine_.environment["LD_LIBRARY_PATH"] = "/opt/lib";
  const auto [text, code] = become({"sim", "rtx4090-desktop", "--", "env"});
  EXPECT_EQ(code, 0);
  const std::string folder = fs::canonical(home_).string() + "/lib/gpusight/sim";
  EXPECT_NE(text.find("\nLD_LIBRARY_PATH=" + folder + ":/opt/lib\n"), std::string::npos) << text;
  EXPECT_NE(text.find("GPUSIGHT_SIM_SCENARIO=rtx4090-desktop\n"), std::string::npos);
  EXPECT_NE(text.find("GPUSIGHT_NVML=" + folder + "/libnvidia-ml.so.1\n"), std::string::npos);
}

TEST_F(SimCommand, ArgumentsArePassedOnUntouchedAndTheExitCodeIsTheCommands) {
  const auto [text, code] =
      become({"sim", "a100-mig", "--", "sh", "-c", "echo \"$0 $1\"; exit 7", "a  b", "--help"});
  EXPECT_EQ(text, "a  b --help\n");
  EXPECT_EQ(code, 7);
}

TEST_F(SimCommand, GpusightMeansThisVeryProgram) {
  const auto [text, code] = become({"sim", "h100-training", "--", "gpusight", "status"});
  EXPECT_EQ(text, "ours status\n");
  EXPECT_EQ(code, 0);
}

TEST_F(SimCommand, ScenariosAreBuiltInOrFilesAndMistypedOnesAreAnswered) {
  EXPECT_EQ(*resolve_scenario(machine_, "a100-mig", Lang::kEnglish), "a100-mig");
  const std::string mine = fs::canonical(home_).string() + "/share/gpusight/scenarios/mine.toml";
  EXPECT_EQ(*resolve_scenario(machine_, "mine", Lang::kEnglish), mine);
  EXPECT_EQ(*resolve_scenario(machine_, home_ + "/bin/../share/gpusight/scenarios/mine.toml",
                              Lang::kEnglish),
            mine);
  EXPECT_EQ(*resolve_scenario(machine_, "l40s+inference@470", Lang::kEnglish),
            "l40s+inference@470");
  EXPECT_EQ(run({"sim", "h100", "--", "true"}), kExitUsage);
  EXPECT_EQ(err_,
            "gpusight: there is no scenario h100; `gpusight sim --list` lists them; did you mean "
            "h100-training?\n");
  EXPECT_EQ(run({"sim", "./none.toml", "--", "true"}), kExitUsage);
  EXPECT_EQ(err_,
            "gpusight: cannot read the scenario file ./none.toml: No such file or directory\n");
  EXPECT_EQ(run({"sim", home_ + "/", "--", "true"}), kExitUsage);
  EXPECT_NE(err_.find("Is a directory"), std::string::npos);
}

TEST_F(SimCommand, MissingPartsAreNamed) {
  EXPECT_EQ(run({"sim"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: SCENARIO is missing; `gpusight help sim` tells what it takes\n");
  EXPECT_EQ(run({"sim", "a100-mig"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: -- COMMAND is missing; `gpusight help sim` tells what it takes\n");
  EXPECT_EQ(run({"sim", "a100-mig", "nvtop"}), kExitUsage);
  EXPECT_EQ(run({"sim", "a100-mig", "--", "/nonexistent/command"}), 127);
  EXPECT_EQ(err_, "gpusight: cannot run /nonexistent/command: No such file or directory\n");
  EXPECT_EQ(run({"sim", "a100-mig", "--", "/etc/passwd"}), 126);
  fs::remove_all(home_ + "/lib");
  EXPECT_EQ(run({"sim", "a100-mig", "--", "true"}), kExitEnvironment);
  EXPECT_NE(err_.find("the simulated machine is not installed: looked for"), std::string::npos);
}

TEST_F(SimCommand, ListShowsBuiltInAndInstalledScenarios) {
  EXPECT_EQ(run({"sim", "--list", "--json"}), kExitOk);
  const json list = json::parse(out_);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0]["name"], "h100-training");
  EXPECT_TRUE(list[0]["path"].is_null());
  EXPECT_EQ(list[3]["name"], "mine");
  EXPECT_EQ(list[3]["title"], "My own [31mmachine");
  EXPECT_EQ(run({"sim", "--list"}), kExitOk);
  EXPECT_NE(out_.find("h100-training"), std::string::npos);
  EXPECT_NE(out_.find("My own"), std::string::npos);
}

}  // namespace
}  // namespace gpusight::cli
