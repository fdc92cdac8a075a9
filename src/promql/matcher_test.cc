#include "promql/matcher.h"

#include <gtest/gtest.h>

namespace gpusight::promql {
namespace {

using Kind = model::Matcher::Kind;

bool accepts(Kind kind, const std::string& pattern, std::string_view text) {
  const Result<model::Matcher> matcher = make_matcher("label", kind, pattern);
  EXPECT_TRUE(matcher.ok()) << pattern << ": " << matcher.status().message();
  return matcher.ok() && matcher->accepts(text);
}
bool is_match(const std::string& pattern, std::string_view text) {
  return accepts(Kind::kRegex, pattern, text);
}

TEST(Matcher, ComparesText) {
  EXPECT_TRUE(accepts(Kind::kEqual, "a.c", "a.c"));
  EXPECT_FALSE(accepts(Kind::kEqual, "a.c", "abc"));
  EXPECT_TRUE(accepts(Kind::kNotEqual, "a", ""));
  EXPECT_FALSE(accepts(Kind::kNotEqual, "a", "a"));
}

TEST(Matcher, MatchesTheWholeValue) {
  EXPECT_TRUE(is_match("b", "b"));
  EXPECT_FALSE(is_match("b", "abc"));
  EXPECT_TRUE(is_match("a|bc?", "bc"));
  EXPECT_FALSE(is_match("a|bc?", "ab"));
  EXPECT_TRUE(accepts(Kind::kNotRegex, "b", "abc"));
  EXPECT_FALSE(accepts(Kind::kNotRegex, "a.c", "abc"));
}

TEST(Matcher, LetsADotStandForANewline) {
  EXPECT_TRUE(is_match("a.b", "a\nb"));
  EXPECT_TRUE(is_match("a.*", "a\n"));
  EXPECT_FALSE(is_match("a", "a\n"));
}

// Those that need no automaton answer as the automaton would.
TEST(Matcher, SimplePatternsMeanWhatTheyDoAsRegularExpressions) {
  const std::string values[] = {"", "a", "ab", "abc", "b", "b\n", "a|b", "ab.*"};
  const std::string simple[] = {"",   "a",   "a|b", "a|",   "|",      ".*",
                                ".+", "a.*", "a.+", "ab.*", "a|b|abc"};
  for (const std::string& pattern : simple) {
    for (const std::string& value : values) {
      EXPECT_EQ(is_match(pattern, value), is_match("(?:" + pattern + ")", value))
          << pattern << " of " << value;
    }
  }
}

TEST(Matcher, ReadsTheSyntaxOfRe2) {
  EXPECT_TRUE(is_match("(?i)GPU-[0-9a-f]{2}", "gpu-1F"));
  EXPECT_TRUE(is_match("\\d+\\.\\d", "12.3"));
  EXPECT_TRUE(is_match("[[:alpha:]]\u20ac", "x\u20ac"));
  EXPECT_TRUE(is_match("a\\|b", "a|b"));
  EXPECT_TRUE(is_match("(?P<port>\\d+)", "9100"));
  EXPECT_TRUE(is_match("(?<port>\\d+)", "9100"));
}

TEST(Matcher, RefusesAPatternThatDoesNotCompile) {
  for (const char* bad : {"(", "a)", "[", "*", "a{1001}", "\\", "\xff", "(?=a)"}) {
    const Result<model::Matcher> matcher = make_matcher("label", Kind::kRegex, bad);
    ASSERT_FALSE(matcher.ok()) << bad;
    EXPECT_EQ(matcher.status().message().substr(0, 21), "error parsing regexp:") << bad;
  }
}

}  // namespace
}  // namespace gpusight::promql
