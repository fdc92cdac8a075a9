// The runner itself, our own scripts, and those of the Prometheus project where they are at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "promql/ast.h"
#include "promql/function.h"
#include "tests/promql/at_modifier.h"
#include "tests/promql/compare.h"
#include "tests/promql/runner.h"
#include "tests/promql/script.h"

namespace gpusight::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The only eval of a script.
Outcome outcome_of(std::string_view script) {
  const auto report = run_script(script);
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(report->outcomes, SizeIs(1));
  return report->outcomes.at(0);
}

std::string error_of(std::string_view script) {
  const auto report = run_script(script);
  EXPECT_FALSE(report.ok());
  return report.status().message();
}

constexpr std::string_view kLoad =
    "load 1m\n"
    "  m{k=\"a\"} 1 2 3\n"
    "  m{k=\"b\"} 4 5 6\n"
    "\n";

Outcome with_data(std::string_view eval) { return outcome_of(std::string(kLoad).append(eval)); }

TEST(Script, ReadsCommandsWithTheirLines) {
  const auto commands = parse_script(
      "# comment\n\nload 30s\n\tm{a=\"b\"} 1+1x2\n\nclear\n"
      "eval range from 0 to 1m step 30s m\n  m{a=\"b\"} 1 2 3\n");
  ASSERT_TRUE(commands.ok()) << commands.status().message();
  ASSERT_THAT(*commands, SizeIs(3));
  const auto& load = std::get<Load>(commands->at(0).what);
  EXPECT_EQ(commands->at(0).line, 3u);
  EXPECT_EQ(load.interval_ms, 30'000);
  ASSERT_THAT(load.series, SizeIs(1));
  EXPECT_THAT(load.series[0].points, ElementsAre(1, 2, 3));
  EXPECT_TRUE(std::holds_alternative<Clear>(commands->at(1).what));
  const auto& eval = std::get<Eval>(commands->at(2).what);
  EXPECT_EQ(commands->at(2).line, 7u);
  EXPECT_TRUE(eval.is_range);
  EXPECT_EQ(eval.range.end_ms, 60'000);
  EXPECT_EQ(eval.range.step_ms, 30'000);
  EXPECT_EQ(eval.query, "m");
}

TEST(Script, KeepsTheLastOfTwoLinesForOneSeries) {
  const auto commands = parse_script("load 1m\n  m 1\n  n 2\n  m 3\n").value();
  const auto& load = std::get<Load>(commands.at(0).what);
  ASSERT_THAT(load.series, SizeIs(2));
  EXPECT_THAT(load.series[0].points, ElementsAre(3));
}

TEST(Script, SaysTheLineOfWhatItCannotRead) {
  EXPECT_THAT(error_of("clear\nlod 5m\n"), StartsWith("2: 'lod 5m' is no command"));
  EXPECT_THAT(error_of("load\n"), StartsWith("1: "));
  EXPECT_THAT(error_of("load 0s\n"), HasSubstr("no time between points"));
  EXPECT_THAT(error_of("load_twice 5m\n"), StartsWith("1: there is no 'load_twice'"));
  EXPECT_THAT(error_of("load 5m\n  m 1\n  m{ 1\n"), StartsWith("3: "));
  EXPECT_THAT(error_of("eval sometimes m\n"), HasSubstr("neither 'instant' nor 'range'"));
  EXPECT_THAT(error_of("eval instant at 5m\n"), StartsWith("1: there is no query"));
  EXPECT_THAT(error_of("eval instant at noon m\n"), StartsWith("1: "));
  EXPECT_THAT(error_of("eval range from 0 to 5m m\n"), HasSubstr("'step' is missing"));
  EXPECT_THAT(error_of("eval range from 5m to 0 step 1m m\n"), HasSubstr("ends before it starts"));
  EXPECT_THAT(error_of("eval range from 0 to 5m step 0 m\n"), StartsWith("1: "));
  EXPECT_THAT(error_of("eval_later instant at 0 m\n"), HasSubstr("eval_later"));
  EXPECT_THAT(error_of("eval instant at 0 m\n  expect wonders\n"),
              StartsWith("2: there is no 'expect wonders'"));
  EXPECT_THAT(error_of("eval instant at 0 m\n  expect warn like: x\n"), HasSubstr("msg: TEXT"));
  EXPECT_THAT(error_of("eval instant at 0 m\n  expect warn regex: (\n"), HasSubstr("pattern"));
  EXPECT_THAT(error_of("eval instant at 0 m\n  expect ordered please\n"), StartsWith("2: "));
  EXPECT_THAT(error_of("eval range from 0 to 0 step 1m m\n  expect ordered\n"), StartsWith("2: "));
  EXPECT_THAT(error_of("eval instant at 0 m\n  m 1 2\n"), HasSubstr("one point for each series"));
  EXPECT_THAT(error_of("eval instant at 0 m\n  expect string 5\n"), HasSubstr("no string"));
}

TEST(Script, RefusesASecondPointAtATimeUnlessItIsTheSame) {
  EXPECT_THAT(error_of("load 1m\n  m 1 2\n\nload 2m\n  m 1 2\n\nload 1m\n  m _ 3\n"),
              StartsWith("7: m has another point at 60000 ms already"));
  EXPECT_EQ(
      outcome_of("load 1m\n  m 1 2\n\nload 1m\n  m 1 2 3\n\neval instant at 2m m\n  m 3\n").verdict,
      Verdict::kPassed);
}

TEST(Runner, PassesWhatIsAsExpected) {
  constexpr const char* kRangeVector =
      "eval instant at 1m m{k=\"a\"}[1m]\n"
      "  expect range vector from 1m to 1m step 1m\n"
      "  m{k=\"a\"} 2\n";
  for (const std::string_view eval : {
           "eval instant at 1m m\n m{k=\"b\"} 5\n m{k=\"a\"} 2\n",
           "eval instant at 1m m\n m{k=\"b\"} 5.000001\n m{k=\"a\"} 2\n",
           "eval instant at 1m nothing\n",
           "eval instant at 1m time()\n 60\n",
           "eval instant at 1m time()\n +0x3C\n",
           "eval instant at 1m -time()\n -0_60.0\n",
           "eval instant at 1m 017\n 017\n",
           "eval instant at 1m m{k=\"a\"} @ start() - m{k=\"a\"} @ end ( )\n {k=\"a\"} 0\n",
           "eval instant at 1m m{k=\"a\"} @ end()\n m{k=\"a\"} 2\n",
           "eval instant at 1m \"x\"\n expect string `x`\n",
           "eval instant at 1m sort_desc(m)\n expect ordered\n m{k=\"b\"} 5\n m{k=\"a\"} 2\n",
           "eval range from 0 to 2m step 1m sum(m)\n {} 5 7 9\n",
           kRangeVector,
           "eval_fail instant at 0 m + on () m\n",
           "eval_fail instant at 0 m +\n",
           "eval_fail instant at 0 -{k=~\"a|b\"} + on () m\n expected_fail_regexp many-to-many\n",
           "eval_warn instant at 0 quantile(2, nothing)\n",
       }) {
    const Outcome outcome = with_data(eval);
    EXPECT_EQ(outcome.verdict, Verdict::kPassed) << eval << outcome.why;
  }
}

TEST(Runner, FailsWhatIsNotAsExpectedAndSaysBoth) {
  const auto why = [](std::string_view eval) {
    const Outcome outcome = with_data(eval);
    EXPECT_EQ(outcome.verdict, Verdict::kFailed) << eval;
    EXPECT_EQ(outcome.line, 5u);
    return outcome.why;
  };
  EXPECT_EQ(why("eval instant at 1m m{k=\"a\"}\n m{k=\"a\"} 2.1\n"),
            R"(m{k="a"}: expected m{k="a"} 2.1, got 2)");
  EXPECT_THAT(why("eval instant at 1m m\n m{k=\"a\"} 2\n"), HasSubstr(R"(got m{k="b"} 5, which)"));
  EXPECT_THAT(why("eval instant at 1m m\n m{k=\"a\"} 2\n m{k=\"b\"} 5\n m{k=\"c\"} 7\n"),
              HasSubstr(R"(expected m{k="c"} 7, which)"));
  EXPECT_THAT(why("eval instant at 1m m{k=\"a\"} * 1\n m{k=\"a\"} 2\n"),
              HasSubstr(R"(got {k="a"} 2, which)"));
  EXPECT_THAT(why("eval instant at 1m time()\n {} 60\n"), HasSubstr("vector, got a scalar"));
  EXPECT_THAT(why("eval instant at 1m time()\n 61\n"), HasSubstr("expected 61, got 60"));
  EXPECT_THAT(why("eval instant at 1m vector(1)\n 1\n"), HasSubstr("expected a scalar"));
  EXPECT_THAT(why("eval instant at 1m \"x\"\n expect string \"y\"\n"), HasSubstr("\"y\", got"));
  EXPECT_THAT(why("eval instant at 1m m\n expect string \"y\"\n"), HasSubstr("a string, got"));
  EXPECT_THAT(why("eval instant at 1m m[1m]\n"), HasSubstr("got a range vector"));
  EXPECT_THAT(why("eval instant at 1m sort(m)\n expect ordered\n m{k=\"b\"} 5\n m{k=\"a\"} 2\n"),
              HasSubstr("is at place 1 and expected at 2"));
  EXPECT_THAT(why("eval range from 0 to 2m step 1m m{k=\"a\"}\n m{k=\"a\"} 1 2\n"),
              HasSubstr("expected m{k=\"a\"} 1@0s 2@60s, got 1@0s 2@60s 3@120s"));
  EXPECT_THAT(why("eval range from 0 to 2m step 1m m{k=\"a\"}\n m{k=\"a\"} 1 2 3 3\n"),
              HasSubstr("after the query's end"));
  EXPECT_THAT(why("eval instant at 1m m[1m]\n expect range vector from 0 to 1m step 1m\n "
                  "m{k=\"a\"} 1 2\n m{k=\"b\"} 4 5\n"),
              HasSubstr("got 2@60s"));
}

TEST(Runner, HoldsErrorsAndRemarksToWhatIsExpected) {
  const auto why = [](std::string_view eval) {
    const Outcome outcome = with_data(eval);
    EXPECT_EQ(outcome.verdict, Verdict::kFailed) << eval;
    return outcome.why;
  };
  EXPECT_THAT(why("eval instant at 0 m +\n"), HasSubstr("the query failed"));
  EXPECT_THAT(why("eval instant at 0 m\n expect fail\n"), HasSubstr("was to fail, and did not"));
  EXPECT_THAT(why("eval instant at 0 m + on () m\n expect fail msg: other\n"),
              HasSubstr("expected an error with other, got"));
  EXPECT_THAT(why("eval instant at 0 m + on () m\n expect fail regex: ^other\n"),
              HasSubstr("expected an error with something like '^other', got"));
  EXPECT_THAT(why("eval_fail instant at 0 m + on () m\n expected_fail_message other\n"),
              HasSubstr("expected an error with other"));
  EXPECT_THAT(why("eval instant at 0 nothing\n expect warn\n"), HasSubstr("got none"));
  EXPECT_THAT(why("eval instant at 0 nothing\n expect info\n"),
              HasSubstr("expected info: any message"));
  EXPECT_THAT(why("eval instant at 0 quantile(2, nothing)\n expect no_warn\n"),
              HasSubstr("expected no warning, got PromQL warning: quantile"));
  EXPECT_THAT(why("eval instant at 0 quantile(2, nothing)\n expect warn regex: bucket\n"),
              HasSubstr("something like 'bucket', got PromQL warning"));
  EXPECT_THAT(why("eval instant at 0 quantile(2, nothing) or quantile(-1, nothing)\n"
                  " expect warn regex: got 2\n"),
              HasSubstr("unexpected warning: PromQL warning"));
}

TEST(Runner, TriesAnInstantQueryAsARangeQueryAroundIt) {
  // A minute before there is nothing to count, and NaN is no number of series.
  const Outcome outcome = with_data("eval instant at 0 topk(scalar(count(m)) - 2, m)\n");
  EXPECT_EQ(outcome.verdict, Verdict::kFailed);
  EXPECT_THAT(outcome.why, HasSubstr("as a range query around the instant: the query failed"));
}

TEST(Runner, TriesAnInstantQueryWithItsTimeWrittenIntoIt) {
  // The text of the second selector moves, and with it the place that the remark names.
  const Outcome outcome = with_data(
      "eval instant at 1m sum(m) + quantile(2, m)\n"
      " expect warn msg: PromQL warning: quantile value should be between 0 and 1, got 2 (1:19)\n"
      " {} +Inf\n");
  EXPECT_EQ(outcome.verdict, Verdict::kFailed);
  EXPECT_THAT(outcome.why, HasSubstr("as sum(m @ 60.000) + quantile(2, m @ 60.000) at "));
}

TEST(Runner, LeavesOutByRule) {
  const auto verdict = [](std::string_view eval) { return with_data(eval).verdict; };
  EXPECT_EQ(verdict("eval instant at 0 limitk(1, m)\n"), Verdict::kUnsupported);
  EXPECT_EQ(verdict("eval instant at 0 histogram_sum(m)\n expect fail\n"), Verdict::kUnsupported);
  EXPECT_EQ(verdict("eval instant at 0 m\n m {{schema:0 count:1 sum:1}}\n"), Verdict::kHistogram);
  EXPECT_EQ(outcome_of("load 1m\n h {{schema:0 count:1 sum:1}}\n\neval instant at 1m h\n").verdict,
            Verdict::kHistogram);
  EXPECT_EQ(
      outcome_of("load_with_nhcb 1m\n h_bucket{le=\"+Inf\"} 1\n\neval instant at 0 h\n").verdict,
      Verdict::kHistogram);
  EXPECT_EQ(outcome_of("load 1m\n t{__type__=\"counter\"} 1\n\neval instant at 0 t\n").verdict,
            Verdict::kMetadata);
}

TEST(AtModifier, GoesBehindSelectorsAndOuterSubqueries) {
  const auto pinned = [](std::string_view query) {
    return with_at_modifier(query, 60'000).value().value_or("depends on time");
  };
  EXPECT_EQ(pinned("m + n"), "m @ 60.000 + n @ 60.000");
  EXPECT_EQ(pinned("rate(m[5m] offset 1m)"), "rate(m[5m] @ 60.000 offset 1m)");
  EXPECT_EQ(pinned("m @ 5 or m @ end()"), "m @ 5.000 or m @ 60.000");
  EXPECT_EQ(pinned("max_over_time(rate(m[1m])[5m:1m])"),
            "max_over_time(rate(m[1m])[5m:1m] @ 60.000)");
  EXPECT_EQ(pinned("m + time()"), "depends on time");
  EXPECT_EQ(pinned("sum(hour())"), "depends on time");
}

TEST(Compare, TakesWhatIsAMillionthApartForEqual) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  EXPECT_TRUE(almost_equal(1, 1.000001));
  EXPECT_FALSE(almost_equal(1, 1.00001));
  EXPECT_TRUE(almost_equal(nan, -nan));
  EXPECT_FALSE(almost_equal(nan, model::stale_marker()));
  EXPECT_TRUE(almost_equal(kInf, kInf));
  EXPECT_FALSE(almost_equal(kInf, -kInf));
  EXPECT_FALSE(almost_equal(kInf, 1e308));
  EXPECT_FALSE(almost_equal(0, 1e-300));
  EXPECT_TRUE(almost_equal(0, -0.0));
  EXPECT_TRUE(almost_equal(1.7e308, 1.7e308 * (1 - 1e-9)));
}

struct Expected {
  const char* file;
  size_t run;
  size_t skipped;
};

void expect_passes(const std::filesystem::path& path, const Expected& expected,
                   promql::NameRemoval name_removal) {
  const auto report = run_script(read_file(path), name_removal);
  ASSERT_TRUE(report.ok()) << path << ":" << report.status().message();
  for (const Outcome& outcome : report->outcomes) {
    if (outcome.verdict != Verdict::kFailed) continue;
    ADD_FAILURE() << path.string() << ":" << outcome.line << ": " << outcome.why;
  }
  const size_t run = report->count(Verdict::kPassed) + report->count(Verdict::kFailed);
  EXPECT_EQ(run, expected.run) << path;
  EXPECT_EQ(report->outcomes.size() - run, expected.skipped) << path;
}

const std::filesystem::path kScripts =
    std::filesystem::path(GPUSIGHT_SOURCE_DIR) / "tests/promql/scripts";

// Our own scripts, with how many of their cases run and are skipped.
constexpr Expected kOwn[] = {
    {"aggregations.test", 79, 0},  {"annotations.test", 17, 0}, {"arithmetic.test", 27, 0},
    {"at_and_offset.test", 68, 0}, {"comparisons.test", 31, 0}, {"dates.test", 34, 0},
    {"histograms.test", 53, 0},    {"labels.test", 37, 0},      {"literals.test", 80, 0},
    {"matching.test", 35, 0},      {"math.test", 50, 0},        {"names.test", 34, 0},
    {"over_time.test", 53, 0},     {"rates.test", 57, 0},       {"refused.test", 7, 17},
    {"selectors.test", 73, 0},     {"sets.test", 30, 0},        {"staleness.test", 36, 0},
    {"subqueries.test", 37, 0},    {"topk.test", 26, 0},        {"values.test", 44, 0},
    {"windows.test", 22, 0},
};
constexpr Expected kOwnImmediate[] = {{"names.test", 18, 0}};

class OwnScript : public testing::TestWithParam<Expected> {};

TEST_P(OwnScript, Passes) {
  expect_passes(kScripts / GetParam().file, GetParam(), promql::NameRemoval::kDelayed);
}
std::string name_of(const testing::TestParamInfo<Expected>& info) {
  const std::string file = info.param.file;
  return file.substr(0, file.find('.'));
}
INSTANTIATE_TEST_SUITE_P(All, OwnScript, testing::ValuesIn(kOwn), name_of);

TEST(OwnScripts, PassWithNamesThatGoAtOnce) {
  for (const Expected& expected : kOwnImmediate) {
    expect_passes(kScripts / "immediate" / expected.file, expected,
                  promql::NameRemoval::kImmediate);
  }
}

TEST(OwnScripts, AreAllInTheTable) {
  const auto count = [](const std::filesystem::path& folder) {
    return std::ranges::count_if(
        std::filesystem::directory_iterator(folder),
        [](const auto& entry) { return entry.path().extension() == ".test"; });
  };
  EXPECT_EQ(count(kScripts), std::ssize(kOwn));
  EXPECT_EQ(count(kScripts / "immediate"), std::ssize(kOwnImmediate));
}

// Whether some own script asks for `word`, followed by `next`.
bool is_asked_for(const std::string& scripts, std::string_view word, std::string_view next) {
  return scripts.find(" " + std::string(word) + std::string(next)) != std::string::npos ||
         scripts.find("(" + std::string(word) + std::string(next)) != std::string::npos;
}

TEST(OwnScripts, LeaveOutNoFunctionAggregationOrOperator) {
  std::string scripts;
  for (const Expected& expected : kOwn) scripts += read_file(kScripts / expected.file);
  for (const promql::Function& function : promql::functions()) {
    if (function.standing != promql::Function::Standing::kBuilt) continue;
    EXPECT_TRUE(is_asked_for(scripts, function.name, "(")) << function.name;
  }
  for (int op = 0; op <= static_cast<int>(promql::AggregateOp::kCountValues); ++op) {
    const std::string_view name = promql::name_of(static_cast<promql::AggregateOp>(op));
    EXPECT_TRUE(is_asked_for(scripts, name, "(") || is_asked_for(scripts, name, " by (")) << name;
  }
  for (int op = 0; op <= static_cast<int>(promql::BinaryOp::kUnless); ++op) {
    const std::string_view name = promql::name_of(static_cast<promql::BinaryOp>(op));
    EXPECT_TRUE(is_asked_for(scripts, name, " ")) << name;
  }
}

// Scripts of the Prometheus project (its commit d15adb9ad7), which are not part of this repository.
constexpr Expected kGiven[] = {
    {"aggregators.test", 124, 36},  {"literals.test", 25, 0},  {"operators.test", 142, 72},
    {"range_queries.test", 15, 3},  {"selectors.test", 31, 0}, {"subquery.test", 32, 2},
    {"trig_functions.test", 19, 0},
};

class GivenScript : public testing::TestWithParam<Expected> {};

TEST_P(GivenScript, Passes) {
  const char* folder = std::getenv("GPUSIGHT_PROMQL_CASES");
  if (folder == nullptr || *folder == '\0') {
    GTEST_SKIP() << "GPUSIGHT_PROMQL_CASES does not name a folder with the Prometheus project's "
                    "scripts";
  }
  expect_passes(std::filesystem::path(folder) / GetParam().file, GetParam(),
                promql::NameRemoval::kDelayed);
}
INSTANTIATE_TEST_SUITE_P(All, GivenScript, testing::ValuesIn(kGiven), name_of);

// The program around it.
struct Ended {
  int code = -1;
  std::string output;
  std::string last_line() const {
    const size_t end = output.find_last_not_of('\n');
    const size_t begin = output.find_last_of('\n', end);
    return output.substr(begin + 1, end - begin);
  }
};

class Program : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "promql_conformance." + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string script(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  static Ended run(const std::string& arguments) {
    const std::string command = GPUSIGHT_CONFORMANCE " " + arguments + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Ended ended;
    std::array<char, 4096> buffer{};
    while (const size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      ended.output.append(buffer.data(), size);
    }
    ended.code = WEXITSTATUS(::pclose(pipe));
    return ended;
  }

  std::filesystem::path folder_;
};

TEST_F(Program, CountsAndSaysWhatFailedWithFileAndLine) {
  const std::string good = script("good.test", "eval instant at 0 1\n  1\n");
  const std::string bad =
      script("bad.test", "\neval instant at 0 1\n  2\n\neval instant at 0 limitk(1, m)\n");
  Ended ended = run(good);
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.last_line(), "1 passed, 0 failed, 0 skipped");
  ended = run(good + " " + bad);
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.last_line(), "1 passed, 1 failed, 1 skipped");
  EXPECT_THAT(ended.output, HasSubstr(bad + ":2: 1: expected 2, got 1\n"));
  EXPECT_THAT(ended.output, HasSubstr(bad + ": 1 run, 1 failed, 1 skipped (1 not in our language"));
}

TEST_F(Program, EndsWithTwoWhereAScriptCannotBeRead) {
  const std::string broken = script("broken.test", "clear\nevil\n");
  Ended ended = run(broken);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.output, HasSubstr(broken + ":2: 'evil' is no command"));
  EXPECT_EQ(ended.last_line(), "0 passed, 0 failed, 0 skipped");
  EXPECT_EQ(run((folder_ / "nowhere.test").string()).code, 2);
  EXPECT_EQ(run(folder_.string()).code, 2);
  EXPECT_EQ(run("").code, 2);
}

}  // namespace
}  // namespace gpusight::conformance
