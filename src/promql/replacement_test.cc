#include "promql/replacement.h"

#include <gtest/gtest.h>

namespace gpusight::promql {
namespace {

TEST(Re2Pattern, GroupsWithNamesMayBeWrittenInBothWays) {
  EXPECT_EQ(re2_pattern("(?<a>x)(?P<b>y)"), "(?P<a>x)(?P<b>y)");
  EXPECT_EQ(re2_pattern("a(b)?[c]"), "a(b)?[c]");
  EXPECT_EQ(re2_pattern(""), "");
}

TEST(Re2Pattern, WhatIsNoGroupStays) {
  EXPECT_EQ(re2_pattern(R"(\(?<a>)"), R"(\(?<a>)");
  EXPECT_EQ(re2_pattern("[(?<]"), "[(?<]");
  EXPECT_EQ(re2_pattern("[](?<]"), "[](?<]");
  EXPECT_EQ(re2_pattern("[a[](?<b>c)"), "[a[](?P<b>c)");
  EXPECT_EQ(re2_pattern("[^](?<](?<a>b)"), "[^](?<](?P<a>b)");
  EXPECT_EQ(re2_pattern(R"(\Q(?<a>[\E(?<b>c))"), R"(\Q(?<a>[\E(?P<b>c))");
  EXPECT_EQ(re2_pattern(R"(\Q(?<a>)"), R"(\Q(?<a>)");
  EXPECT_EQ(re2_pattern("\\"), "\\");
}

}  // namespace
}  // namespace gpusight::promql
