#include "promql/label_set.h"

#include <gtest/gtest.h>

namespace gpusight::promql {
namespace {

using Kind = LabelSubset::Kind;

const model::Labels kLabels = {{"__name__", "m"}, {"a", "1"}, {"b", "2"}};

TEST(LabelSet, LabelsAreFoundSetAndRemoved) {
  model::Labels labels = kLabels;
  EXPECT_EQ(label_value(labels, "b"), "2");
  EXPECT_EQ(label_value(labels, "c"), "");
  set_label(labels, "b", "3");
  set_label(labels, "ab", "x");
  set_label(labels, "a", "");
  remove_label(labels, "nothing");
  EXPECT_EQ(labels, (model::Labels{{"__name__", "m"}, {"ab", "x"}, {"b", "3"}}));
}

TEST(LabelSet, TextIsThatOfPrometheus) {
  EXPECT_EQ(text_of({}), "{}");
  EXPECT_EQ(text_of(kLabels), R"({__name__="m", a="1", b="2"})");
  EXPECT_EQ(text_of({{"a.b", "x\"y"}}), R"({"a.b"="x\"y"})");
}

TEST(LabelSet, SubsetsListLabelsOrLeaveThemOut) {
  EXPECT_EQ(LabelSubset(Kind::kListed, {"b", "x"}).of(kLabels), (model::Labels{{"b", "2"}}));
  EXPECT_EQ(LabelSubset(Kind::kListed, {"__name__"}).of(kLabels),
            (model::Labels{{"__name__", "m"}}));
  EXPECT_EQ(LabelSubset(Kind::kAllBut, {"b"}).of(kLabels), (model::Labels{{"a", "1"}}));
}

TEST(LabelSet, KeysAreEqualExactlyWhenSubsetsAre) {
  const auto key = [](const model::Labels& labels) {
    return std::string(LabelSubset(Kind::kAllBut, {}).key(labels));
  };
  EXPECT_EQ(key(kLabels), key({{"a", "1"}, {"b", "2"}}));
  EXPECT_NE(key({{"a", "1b"}}), key({{"a", "1"}, {"b", ""}}));
  EXPECT_NE(key({{"a", "bc"}}), key({{"ab", "c"}}));
  EXPECT_NE(key({{"a", "1"}}), key({{"b", "1"}}));
}

TEST(LabelSet, KeysAreNumberedInTheirOrder) {
  KeyIndex index;
  EXPECT_TRUE(index.find_or_add("x").is_new);
  EXPECT_EQ(index.find_or_add("y").index, 1u);
  EXPECT_FALSE(index.find_or_add("x").is_new);
  EXPECT_EQ(index.find("x"), 0u);
  EXPECT_EQ(index.find("z"), std::nullopt);
  EXPECT_EQ(index.size(), 2u);
}

}  // namespace
}  // namespace gpusight::promql
