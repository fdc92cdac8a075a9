// What parse() refuses, and in which words.
#include <string>

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

struct Refusal {
  std::string query;
  std::string message;  // behind "LINE:COLUMN: parse error: "
  size_t column = 1;
};

void expect_refused(const Refusal& refusal, Code code) {
  const Result<ExprPtr> expr = parse(refusal.query);
  ASSERT_FALSE(expr.ok()) << refusal.query << " is " << print(**expr);
  EXPECT_EQ(expr.status().message(),
            "1:" + std::to_string(refusal.column) + ": parse error: " + refusal.message)
      << refusal.query;
  EXPECT_EQ(expr.status().code(), code) << refusal.query;
}

void expect_wrong(std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) expect_refused(refusal, Code::kInvalidArgument);
}

TEST(ParserError, OfCharactersThatBeginNothing) {
  expect_wrong({
      {".", "unexpected character: '.'"},
      {"}", "unexpected character: '}'"},
      {"a ? b", "unexpected character: '?'", 3},
      {"a \xff", "unexpected character: '\uFFFD'", 3},
      {"a \u00e9", "unexpected character: '\u00e9'", 3},
      {"1 !~ 1", "unexpected character after '!': '~'", 3},
      {"1 !", "unexpected character after '!': end of input", 3},
      {"1 =~ 1", "unexpected character after '=': '~'", 3},
      {"(1))", "unexpected right parenthesis ')'", 5},
      {"((1)", "unclosed left parenthesis", 5},
      {"m]", "unexpected right bracket ']'", 2},
      {"m[5m", "unclosed left bracket", 5},
      {"m[", "unexpected end of input in duration expression", 3},
      {"m[[5m]]", "unexpected left bracket '['", 3},
      {"m{", "unexpected end of input inside braces", 3},
      {"m{a:b='c'}", "unexpected character inside braces: ':'", 4},
      {"m{a!b}", "unexpected character after '!' inside braces: 'b'", 4},
      {"m{{", "unexpected left brace '{'", 3},
  });
}

TEST(ParserError, OfNumbersAndDurations) {
  expect_wrong({
      {"2.5.", "bad number or duration syntax: \"2.5.\""},
      {"100..4", "bad number or duration syntax: \"100..\""},
      {"0deadbeef", "bad number or duration syntax: \"0de\""},
      {"m[5mm]", "bad number or duration syntax: \"5mm\"", 3},
      {"m[5m1]", "bad number or duration syntax: \"5m1\"", 3},
      {"m[5y1hs]", "unknown unit \"hs\" in duration \"5y1hs\"", 3},
      {"m[5m1h]", "not a valid duration string: \"5m1h\"", 3},
      {"m[0m]", "duration must be greater than 0", 3},
      {"m[-1]", "duration must be greater than 0", 3},
      {"m[0.0001]", "duration must be greater than 0", 3},
      {"m[5m:0s]", "duration must be greater than 0", 6},
      {"m[9.5e10]", "duration out of range", 3},
      {"m offset 9.5e10", "duration out of range", 10},
      {"1e999", "error parsing number: \"1e999\": value out of range"},
      {"1_", "error parsing number: \"1_\": invalid syntax"},
  });
}

TEST(ParserError, OfStrings) {
  expect_wrong({
      {"\"a", "unterminated quoted string"},
      {"'a\n'", "unterminated quoted string"},
      {"`a", "unterminated raw string"},
      {"`\\``", "unterminated raw string", 4},
      {"\"\\", "escape sequence not terminated"},
      {"\"\\c\"", "unknown escape sequence U+0063 'c'"},
      {"\"\\\u00e9\"", "unknown escape sequence U+00E9 '\u00e9'"},
      {"\"\\x.\"", "illegal character U+002E '.' in escape sequence"},
      {"\"\\400\"", "escape sequence is an invalid Unicode code point"},
      {"\"\\ud800\"", "escape sequence is an invalid Unicode code point"},
      {"\"\xff\"", "invalid UTF-8 rune"},
      {"`\xff`", "invalid UTF-8 rune"},
  });
}

TEST(ParserError, OfTokensOutOfPlace) {
  expect_wrong({
      {"", "no expression found in input"},
      {"# just a comment", "no expression found in input"},
      {"1+", "unexpected end of input", 3},
      {"*1", "unexpected <op:*>"},
      {"@@", "unexpected <op:@>"},
      {"-=", "unexpected \"=\"", 2},
      {"a b", "unexpected identifier \"b\"", 3},
      {"a \"0123456789abc\"", "unexpected string \"\\\"012345678\"...", 3},
      {"a 1", "unexpected number \"1\"", 3},
      {"sum some_metric by (test)", "unexpected identifier \"some_metric\"", 5},
      {"sum(a b)", "unexpected identifier \"b\" in aggregation", 7},
      {"sum by (a) m", "unexpected identifier \"m\" in aggregation", 12},
      {"sum (m) without (a) by (b)", "unexpected <by>", 21},
      {"sum (m) by test", "unexpected identifier \"test\" in grouping opts, expected \"(\"", 12},
      {"sum without(==)(m)", "unexpected <op:==> in grouping opts, expected label", 13},
      {"sum without(a,,)(m)", "unexpected \",\" in grouping opts, expected label", 15},
      {"sum by (a b)(m)", "unexpected identifier \"b\" in grouping opts, expected \",\" or \")\"",
       11},
      {"sum by (\"\")(m)", "invalid label name for grouping: \"\"", 9},
      {"sum by (\"\\xff\")(m)", "invalid label name for grouping: \"\\xff\"", 9},
      {"a + group_left(b) c", "unexpected <group_left>", 5},
      {"a - on(b) ignoring(c) d", "unexpected <ignoring>", 11},
      {"abs(a,)", "trailing commas not allowed in function call args", 6},
      {"a:b(c)", "unexpected \"(\"", 4},
      {"nothing_known()", "unknown function with name \"nothing_known\""},
      {"ABS(a)", "unknown function with name \"ABS\""},
  });
}

TEST(ParserError, OfMatchers) {
  expect_wrong({
      {"m{a=b}", "unexpected identifier \"b\" in label matching, expected string", 5},
      {"m{a}", "unexpected \"}\" in label matching, expected label matching operator", 4},
      {"m{,}", "unexpected \",\" in label matching, expected identifier or \"}\"", 3},
      {"m{a='b' c='d'}", "unexpected identifier \"c\" in label matching, expected \",\" or \"}\"",
       9},
      {"m{\"a\"=}", "unexpected \"}\" in label matching, expected string", 7},
      {"{}", "vector selector must contain at least one non-empty matcher"},
      {"{x=''}", "vector selector must contain at least one non-empty matcher"},
      {"{x=~'.*'}", "vector selector must contain at least one non-empty matcher"},
      {"{x=~'a|'}", "vector selector must contain at least one non-empty matcher"},
      {"{x!~'.+', y!='a'}", "vector selector must contain at least one non-empty matcher"},
      {"a{__name__='b'}", "metric name must not be set twice: \"a\" or \"b\""},
      {"a{'b'}", "metric name must not be set twice: \"a\" or \"b\""},
      {"m{a=~'('}", "error parsing regexp: missing ): (", 3},
  });
}

TEST(ParserError, OfRangesOffsetsAndTimes) {
  const std::string behind =
      " modifier must be preceded by an instant vector selector or range vector selector or a "
      "subquery";
  expect_wrong({
      {"1 offset 1d", "offset" + behind},
      {"(a) offset 1d", "offset" + behind},
      {"rate(m[5m]) @ 1234", "@" + behind},
      {"m offset 1s offset 2s", "offset may not be set multiple times"},
      {"m @ 1 @ start()", "@ <timestamp> may not be set multiple times"},
      {"m @ +Inf", "timestamp out of bounds for @ modifier: +Inf"},
      {"m @ NaN", "timestamp out of bounds for @ modifier: NaN"},
      {"m @ 9223372036854775808",
       "timestamp out of bounds for @ modifier: 9223372036854775808.000000"},
      {"m @", "unexpected end of input in @, expected timestamp", 4},
      {"m @ start", "unexpected end of input in @, expected timestamp", 10},
      {"m offset", "unexpected end of input in offset, expected number or duration", 9},
      {"m offset 1m[5m]", "no offset modifiers allowed before range", 12},
      {"m @ 1234 [5m]", "no @ modifiers allowed before range", 10},
      {"(a + b)[5m]", "ranges only allowed for vector selectors", 8},
      {"m[5m][5m]", "ranges only allowed for vector selectors", 6},
      {"m[]", "unexpected \"]\" in subquery or range selector, expected number or duration", 3},
      {"m[5m:1m 2]", "unexpected number \"2\" in subquery selector, expected \"]\"", 9},
      {"m[5m 2]", "unexpected number \"2\" in subquery or range, expected \":\" or \"]\"", 6},
      {"m[\"5m\"]", "unexpected character in duration expression: '\"'", 3},
      {"m[5s x 5s]", "unexpected character: 'x', expected ':'", 6},
      {"m[5m:1m:]", "unexpected colon ':'", 8},
      {"m[5m][10m:5s]", "subquery is only allowed on instant vector, got matrix instead"},
      {"1[5m:]", "subquery is only allowed on instant vector, got scalar instead"},
  });
}

TEST(ParserError, OfTypes) {
  const std::string numeric =
      "unary expression only allowed on expressions of type scalar or instant vector, got ";
  const std::string sides = "binary expression must contain only scalar and instant vector types";
  expect_wrong({
      {"-\"string\"", numeric + "\"string\""},
      {"-m[5m]", numeric + "\"range vector\""},
      {"m[5m] + 1", sides},
      {"1 + 'a'", sides, 5},
      {"rate(m)", "expected type range vector in call to function \"rate\", got instant vector", 6},
      {"floor(1)", "expected type instant vector in call to function \"floor\", got scalar", 7},
      {"label_replace(m, 1, '', '', '')",
       "expected type string in call to function \"label_replace\", got scalar", 18},
      {"label_join(m, 'a', 'b', 'c', 1)",
       "expected type string in call to function \"label_join\", got scalar", 30},
      {"sum(m[5m])", "expected type instant vector in aggregation expression, got range vector", 5},
      {"sum(1)", "expected type instant vector in aggregation expression, got scalar", 5},
      {"topk(a, b)", "expected type scalar in aggregation parameter, got instant vector", 6},
      {"quantile('a', b)", "expected type scalar in aggregation parameter, got string", 10},
      {"count_values(5, b)", "expected type string in aggregation parameter, got scalar", 14},
  });
}

TEST(ParserError, OfNumbersOfArguments) {
  expect_wrong({
      {"floor()", "expected 1 argument(s) in call to \"floor\", got 0"},
      {"time(m)", "expected 0 argument(s) in call to \"time\", got 1"},
      {"hour(a, b)", "expected at most 1 argument(s) in call to \"hour\", got 2"},
      {"round()", "expected at least 1 argument(s) in call to \"round\", got 0"},
      {"label_join(m, 'a')", "expected at least 3 argument(s) in call to \"label_join\", got 2"},
      {"sum()", "no arguments for aggregate expression provided"},
      {"topk(m)", "wrong number of arguments for aggregate expression provided, expected 2, got 1"},
      {"sum(a, b)",
       "wrong number of arguments for aggregate expression provided, expected 1, got 2"},
  });
}

TEST(ParserError, OfOperatorsAndMatching) {
  expect_wrong({
      {"1 == 1", "comparisons between scalars must use BOOL modifier", 3},
      {"a + bool b", "bool modifier can only be used on comparison operators", 3},
      {"a and bool b", "bool modifier can only be used on comparison operators", 3},
      {"1 and 1", "set operator \"and\" not allowed in binary scalar expression"},
      {"a or 1", "set operator \"or\" not allowed in binary scalar expression"},
      {"1 unless a", "set operator \"unless\" not allowed in binary scalar expression"},
      {"a == on(x) 10", "vector matching only allowed between instant vectors"},
      {"a and on(x) group_left(y) b", "no grouping allowed for \"and\" operation"},
      {"a or ignoring(x) group_right b", "no grouping allowed for \"or\" operation"},
      {"a + on(x) group_left(y, x) b", "label \"x\" must not occur in ON and GROUP clause at once",
       3},
  });
  EXPECT_TRUE(parse("a + ignoring(x) group_left(x) b").ok());
}

TEST(ParserError, TellsGrammarBeforeMeaning) {
  expect_wrong({{"rate(m) + (1 == 1) b", "unexpected identifier \"b\"", 20}});
}

TEST(ParserError, NamesWhatPrometheusHasAndThisHasNot) {
  const std::string_view no_histograms = " works on native histograms, which are not supported";
  const std::string no_durations = "duration expressions are experimental and not supported";
  const Refusal refusals[] = {
      {"mad_over_time(m[5m])", "function \"mad_over_time\" is experimental and not supported"},
      {"1 + info(m)", "function \"info\" is experimental and not supported", 5},
      {"start()", "function \"start\" is experimental and not supported"},
      {"histogram_count(m)", "function \"histogram_count\"" + std::string(no_histograms)},
      {"holt_winters(m[5m], 1, 1)",
       "function \"holt_winters\" was renamed to \"double_exponential_smoothing\", which is "
       "experimental and not supported"},
      {"limitk(5, m)", "limitk() is experimental and not supported"},
      {"LIMIT_RATIO(0.5, m)", "limit_ratio() is experimental and not supported"},
      {"m </ 5", "operator \"</\"" + std::string(no_histograms), 3},
      {"m >/ 5", "operator \">/\"" + std::string(no_histograms), 3},
      {"m[5m] anchored", "anchored modifier is experimental and not supported"},
      {"m smoothed", "smoothed modifier is experimental and not supported"},
      {"a + fill(0) b", "binop fill modifier is experimental and not supported", 5},
      {"a + on(x) group_left fill_right (0) b",
       "binop fill_right modifier is experimental and not supported", 22},
      {"m[5m+1m]", no_durations, 3},
      {"m[step()]", no_durations, 3},
      {"m[5m:min(1m, 2m)]", no_durations, 6},
      {"m[(5m)]", no_durations, 3},
      {"m offset (5m + 1m)", no_durations, 10},
      {"m offset -step()", no_durations, 10},
      {"m[5m::1m]", "aligned subquery \"::\" is experimental and not supported", 5},
      {"m{__type__='gauge'}", "label \"__type__\" is metadata, which is not supported", 3},
      {"m{\"__unit__\"=~'s'}", "label \"__unit__\" is metadata, which is not supported", 3},
  };
  for (const Refusal& refusal : refusals) expect_refused(refusal, Code::kUnsupported);
}

}  // namespace
}  // namespace gpusight::promql
