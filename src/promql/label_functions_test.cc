#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "promql/instant_functions.h"

namespace gpusight::promql {
namespace {

using model::Labels;

const Labels kLabels = {{"__name__", "up"}, {"host", "gpu-07.example"}, {"job", "node"}};

Labels written(const LabelFunction& function, Labels labels) {
  const Result<bool> wrote = function.write_to(labels);
  EXPECT_TRUE(wrote.ok()) << wrote.status().message();
  return labels;
}

Labels replaced(std::string_view destination, std::string_view replacement, std::string_view source,
                std::string_view pattern, const Labels& labels = kLabels) {
  auto function = make_label_replace(destination, replacement, source, pattern);
  EXPECT_TRUE(function.ok()) << function.status().message();
  return function.ok() ? written(**function, labels) : Labels();
}

std::string get(const Labels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return "";
}

TEST(LabelReplace, PutsGroupsIntoTheDestination) {
  EXPECT_EQ(get(replaced("n", "node-$1", "host", R"(gpu-(\d+)\..*)"), "n"), "node-07");
  EXPECT_EQ(get(replaced("n", "${1}x", "host", R"(gpu-(\d+)\..*)"), "n"), "07x");
  EXPECT_EQ(get(replaced("n", "$num", "host", R"(gpu-(?P<num>\d+)\..*)"), "n"), "07");
  EXPECT_EQ(get(replaced("n", "$num", "host", R"(gpu-(?<num>\d+)\..*)"), "n"), "07");
  EXPECT_EQ(get(replaced("n", "${num}!", "host", R"(gpu-(?P<num>\d+)\..*)"), "n"), "07!");
  EXPECT_EQ(get(replaced("n", "$0", "host", ".*"), "n"), "gpu-07.example");
}

TEST(LabelReplace, KeepsLabelsSorted) {
  const Labels labels = replaced("cluster", "a", "host", ".*");
  const Labels expected = {
      {"__name__", "up"}, {"cluster", "a"}, {"host", "gpu-07.example"}, {"job", "node"}};
  EXPECT_EQ(labels, expected);
}

TEST(LabelReplace, ThePatternMustMatchTheWholeValue) {
  EXPECT_EQ(replaced("n", "x", "host", "gpu"), kLabels);
  EXPECT_EQ(replaced("n", "x", "host", "gpu-07|nothing"), kLabels);
}

TEST(LabelReplace, TellsWhetherItHasWritten) {
  Labels labels = kLabels;
  EXPECT_TRUE(make_label_replace("job", "node", "job", ".*").value()->write_to(labels).value());
  EXPECT_FALSE(make_label_replace("job", "node", "job", "x").value()->write_to(labels).value());
  EXPECT_EQ(labels, kLabels);
}

TEST(LabelReplace, AnAbsentSourceIsEmpty) {
  EXPECT_EQ(get(replaced("n", "none", "rack", ""), "n"), "none");
  EXPECT_EQ(get(replaced("n", "none", "rack", ".*"), "n"), "none");
  EXPECT_EQ(replaced("n", "none", "rack", ".+"), kLabels);
}

TEST(LabelReplace, AnEmptyResultTakesTheLabelAway) {
  const Labels expected = {{"__name__", "up"}, {"host", "gpu-07.example"}};
  EXPECT_EQ(replaced("job", "", "host", ".*"), expected);
  EXPECT_EQ(replaced("nowhere", "", "host", ".*"), kLabels);
  EXPECT_EQ(replaced("job", "$9", "host", ".*"), expected);
  EXPECT_EQ(replaced("job", "$1", "host", "(x)?.*"), expected);
}

TEST(LabelReplace, CanGiveANameOfTheMetric) {
  EXPECT_EQ(get(replaced("__name__", "${1}_total", "__name__", "(.*)"), "__name__"), "up_total");
}

TEST(LabelReplace, NamesOfGroupsAreAsLongAsTheyCanBe) {
  const char* pattern = R"(gpu-(\d+)\.(.*))";
  EXPECT_EQ(get(replaced("n", "a$1x", "host", pattern), "n"), "a");  // ${1x}
  EXPECT_EQ(get(replaced("n", "a$10", "host", pattern), "n"), "a");  // ${10}
  EXPECT_EQ(get(replaced("n", "a$1-$2", "host", pattern), "n"), "a07-example");
  EXPECT_EQ(get(replaced("n", "a$1\u00e9", "host", pattern), "n"), "a");  // é is a letter
  EXPECT_EQ(get(replaced("n", "a$1\u2192", "host", pattern), "n"), "a07\u2192");
  EXPECT_EQ(get(replaced("n", "a$01", "host", pattern), "n"), "a");
  EXPECT_EQ(get(replaced("n", "a${99999999999999999999}", "host", pattern), "n"), "a");
}

TEST(LabelReplace, ADollarSignThatBeginsNoNameIsOne) {
  const char* pattern = R"(gpu-(\d+)\..*)";
  EXPECT_EQ(get(replaced("n", "$$1", "host", pattern), "n"), "$1");
  EXPECT_EQ(get(replaced("n", "$", "host", pattern), "n"), "$");
  EXPECT_EQ(get(replaced("n", "$-$1", "host", pattern), "n"), "$-07");
  EXPECT_EQ(get(replaced("n", "${1", "host", pattern), "n"), "${1");
  EXPECT_EQ(get(replaced("n", "${}", "host", pattern), "n"), "${}");
  EXPECT_EQ(get(replaced("n", "${$1}", "host", pattern), "n"), "${07}");
  EXPECT_EQ(get(replaced("n", "$$$1", "host", pattern), "n"), "$07");
}

TEST(LabelReplace, ADotMatchesNewlinesToo) {
  const Labels labels = {{"text", "a\nb"}};
  EXPECT_EQ(get(replaced("n", "$1", "text", "a(.)b", labels), "n"), "\n");
}

TEST(LabelReplace, NamesMayBeAnyUtf8) {
  EXPECT_EQ(get(replaced("\u6e29\u5ea6 \u00b0C", "$1", "job", "(.*)"), "\u6e29\u5ea6 \u00b0C"),
            "node");
  EXPECT_EQ(get(replaced("~invalid", "$1", "job", "(.*)"), "~invalid"), "node");
}

TEST(LabelReplace, RefusesWhatCannotBe) {
  auto error = [](std::string_view destination, std::string_view pattern) {
    auto function = make_label_replace(destination, "", "src", pattern);
    EXPECT_FALSE(function.ok());
    EXPECT_EQ(function.status().code(), Code::kInvalidArgument);
    return function.status().message();
  };
  EXPECT_EQ(error("", "(.*)"), "invalid destination label name in label_replace(): ");
  EXPECT_THAT(error("\xff", ".*"),
              ::testing::StartsWith("invalid destination label name in label_replace(): "));
  EXPECT_EQ(error("dst", "(.*"), "invalid regular expression in label_replace(): (.*");
}

Labels joined(std::string_view destination, std::string_view separator,
              std::vector<std::string> sources) {
  auto function = make_label_join(destination, separator, std::move(sources));
  EXPECT_TRUE(function.ok()) << function.status().message();
  return function.ok() ? written(**function, kLabels) : Labels();
}

TEST(LabelJoin, PutsASeparatorBetweenValues) {
  EXPECT_EQ(get(joined("both", "/", {"job", "host"}), "both"), "node/gpu-07.example");
  EXPECT_EQ(get(joined("both", "-", {"job", "missing", "job"}), "both"), "node--node");
  EXPECT_EQ(get(joined("job", "", {"host"}), "job"), "gpu-07.example");
  EXPECT_EQ(get(joined("both", ", ", {"job", "job"}), "both"), "node, node");
}

TEST(LabelJoin, AnEmptyResultTakesTheLabelAway) {
  const Labels expected = {{"__name__", "up"}, {"host", "gpu-07.example"}};
  EXPECT_EQ(joined("job", "", {"missing"}), expected);
  EXPECT_EQ(joined("job", "-", {}), expected);
}

TEST(LabelJoin, RefusesWhatCannotBe) {
  EXPECT_EQ(make_label_join("", "-", {"a"}).status().message(),
            "invalid destination label name in label_join(): ");
  EXPECT_EQ(make_label_join("dst", "-", {"a", ""}).status().message(),
            "invalid source label name in label_join(): ");
}

// Nested ones would multiply.
TEST(LabelFunctions, RefuseToMakeVeryLongLabels) {
  Labels labels = {{"a", std::string(1000, 'x')}};
  std::string repeated;
  for (size_t i = 0; i <= kMaxLabelValue / 1000; ++i) repeated += "$1";
  const auto replace = make_label_replace("b", repeated, "a", "(.*)").value();
  EXPECT_EQ(replace->write_to(labels).status().message(),
            "label_replace() makes a label longer than 1048576 bytes");
  const std::vector<std::string> sources(kMaxLabelValue / 1000 + 1, "a");
  const auto join = make_label_join("b", "", sources).value();
  EXPECT_EQ(join->write_to(labels).status().message(),
            "label_join() makes a label longer than 1048576 bytes");
  EXPECT_EQ(join->write_to(labels).status().code(), Code::kExhausted);
}

}  // namespace
}  // namespace gpusight::promql
