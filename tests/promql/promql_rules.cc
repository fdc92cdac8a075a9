// promql_rules check FILE… and promql_rules test FILE…: rule files and their tests, as promtool
// checks and runs them, with its output and exit codes.
//
//   check [--lint=duplicate-rules|none|all] [--lint-fatal] FILE…
//     0: all files are sound; 1: one is not; 3: with --lint-fatal, one repeats a rule.
//   test FILE…
//     0: all tests passed; 1: one did not.
//   2: called wrongly.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <glob.h>

#include "base/clock.h"
#include "promql/rules/rule_file.h"
#include "promql/rules/rule_tests.h"

namespace gpusight::promql {
namespace {

enum ExitCode : int { kSound = 0, kFaulty = 1, kUsage = 2, kLint = 3 };

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return Status(Code::kIo, fmt::format("open {}: no such file, or it cannot be read", path));
  }
  return text;
}

struct CheckOptions {
  bool lint = true;
  bool lint_fatal = false;
  std::vector<std::string> files;
};

void print_failure(std::string_view text) { fmt::print(stderr, "  FAILED:\n{}\n", text); }

ExitCode check(const std::string& path, const CheckOptions& options) {
  fmt::print("Checking {}\n", path);
  const Result<std::string> text = read_file(path);
  if (!text.ok()) {
    print_failure(text.status().message());
    return kFaulty;
  }
  const RuleFile file = parse_rule_file(*text);
  if (!file.faults.empty()) {
    std::string all;
    for (const RuleFault& fault : file.faults) {
      all += fmt::format("{}{}: {}", all.empty() ? "" : "\n", path, text_of(fault));
    }
    print_failure(all);
    return kFaulty;
  }
  const std::vector<DuplicateRule> repeated = duplicate_rules(file);
  if (options.lint && !repeated.empty()) {
    print_failure("lint error " + lint_text(repeated));
    return options.lint_fatal ? kLint : kSound;
  }
  fmt::print("  SUCCESS: {} rules found\n", file.rule_count());
  return kSound;
}

ExitCode check_all(const CheckOptions& options) {
  bool faulty = false;
  bool lint = false;
  for (const std::string& path : options.files) {
    const ExitCode code = check(path, options);
    faulty = faulty || code == kFaulty;
    lint = lint || code == kLint;
    fmt::print("\n");
  }
  if (faulty) return kFaulty;
  return lint ? kLint : kSound;
}

Result<std::vector<RuleFileText>> load_rule_files(const std::filesystem::path& folder,
                                                  std::string_view pattern) {
  const std::filesystem::path given(pattern);
  const std::string full = (given.is_absolute() ? given : folder / given).string();
  glob_t found{};
  const int code = glob(full.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (code != 0 && code != GLOB_NOMATCH) {
    return Status(Code::kIo, fmt::format("{}: cannot be searched", full));
  }
  std::vector<RuleFileText> files;
  for (std::string& path : paths) {
    Result<std::string> text = read_file(path);
    if (!text.ok()) return text.status();
    files.push_back({.path = std::move(path), .text = std::move(text).value()});
  }
  return files;
}

ExitCode test(const std::string& path) {
  fmt::print("Unit Testing:  {}\n", path);
  const Result<std::string> text = read_file(path);
  RuleTestReport report;
  if (text.ok()) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const auto load = [&](std::string_view pattern) { return load_rule_files(folder, pattern); };
    report = run_rule_tests(*text, load, SystemClock());
  } else {
    report.errors.push_back(text.status().message());
  }
  for (const std::string& warning : report.warnings) {
    fmt::print(stderr, "  WARNING: {}\n", warning);
  }
  if (report.errors.empty()) {
    fmt::print("  SUCCESS\n\n");
    return kSound;
  }
  fmt::print(stderr, "  FAILED:\n");
  for (const std::string& error : report.errors) {
    fmt::print(stderr, "{}\n", error);
    fmt::print("\n");
  }
  fmt::print("\n");
  return kFaulty;
}

int usage() {
  fmt::print(stderr,
             "usage: promql_rules check [--lint=duplicate-rules|none|all] [--lint-fatal] FILE…\n"
             "       promql_rules test FILE…\n");
  return kUsage;
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage();
  const std::string command = arguments.front();
  CheckOptions options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (command == "check" && argument == "--lint-fatal") {
      options.lint_fatal = true;
    } else if (command == "check" && argument.starts_with("--lint=")) {
      const std::string what = argument.substr(7);
      if (what != "none" && what != "all" && what != "duplicate-rules") return usage();
      options.lint = what != "none";
    } else if (argument.starts_with("-")) {
      return usage();
    } else {
      options.files.push_back(argument);
    }
  }
  if (options.files.empty()) return usage();
  if (command == "check") return check_all(options);
  if (command != "test") return usage();
  bool failed = false;
  for (const std::string& path : options.files) failed = test(path) != kSound || failed;
  return failed ? kFaulty : kSound;
}

}  // namespace
}  // namespace gpusight::promql

int main(int count, char** arguments) {
  // What goes wrong is written in between, and has to stand there.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return gpusight::promql::run({arguments + 1, arguments + count});
}
