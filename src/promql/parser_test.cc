#include "promql/parser.h"

#include <string>

#include <gtest/gtest.h>

#include "promql/test_tree.h"

namespace gpusight::promql {
namespace {

ExprPtr parsed(std::string_view query) {
  Result<ExprPtr> expr = parse(query);
  EXPECT_TRUE(expr.ok()) << query << ": " << expr.status().message();
  if (!expr.ok()) return parse("0").value();
  return std::move(*expr);
}

std::string tree(std::string_view query) { return tree_text(*parsed(query)); }

// The text that a node's position covers.
std::string_view text_of(std::string_view query, const Expr& expr) {
  return query.substr(expr.position.start, expr.position.end - expr.position.start);
}

TEST(Parser, BindsOperatorsByPrecedence) {
  EXPECT_EQ(tree("1 + 2 * 3"), "(+ 1 (* 2 3))");
  EXPECT_EQ(tree("1 * 2 + 3"), "(+ (* 1 2) 3)");
  EXPECT_EQ(tree("1 - 2 - 3"), "(- (- 1 2) 3)");
  EXPECT_EQ(tree("2 ^ 3 ^ 4"), "(^ 2 (^ 3 4))");
  EXPECT_EQ(tree("1 % 2 atan2 3 / 4"), "(/ (atan2 (% 1 2) 3) 4)");
  EXPECT_EQ(tree("1 < bool 2 - 1 * 2"), "(< bool 1 (- 2 (* 1 2)))");
  EXPECT_EQ(tree("(1 + 2) * 3"), "(* (paren (+ 1 2)) 3)");
  EXPECT_EQ(tree("a + b or c and d"),
            "(or n:n (+ [a \"__name__\"=\"a\"] [b \"__name__\"=\"b\"]) (and n:n [c "
            "\"__name__\"=\"c\"] [d \"__name__\"=\"d\"]))");
  EXPECT_EQ(tree("a and b unless c or d"),
            "(or n:n (unless n:n (and n:n [a \"__name__\"=\"a\"] [b \"__name__\"=\"b\"]) [c "
            "\"__name__\"=\"c\"]) [d \"__name__\"=\"d\"])");
}

TEST(Parser, BindsASignWeakerThanAPowerAndFoldsItIntoANumber) {
  EXPECT_EQ(tree("-1^2"), "(neg (^ 1 2))");
  EXPECT_EQ(tree("-1^-2"), "(neg (^ 1 -2))");
  EXPECT_EQ(tree("-1*2"), "(* -1 2)");
  EXPECT_EQ(tree("2^-1*3"), "(* (^ 2 -1) 3)");
  EXPECT_EQ(tree("2^-1^2"), "(^ 2 (neg (^ 1 2)))");
  EXPECT_EQ(tree("--1"), "1");
  EXPECT_EQ(tree("-(1)"), "(neg (paren 1))");
  EXPECT_EQ(tree("+-a"), "(pos (neg [a \"__name__\"=\"a\"]))");
  EXPECT_EQ(tree("-a offset 5m"), "(neg [a \"__name__\"=\"a\" offset 300000])");
  EXPECT_EQ(tree("-Inf"), "-Inf");
}

TEST(Parser, TakesDurationsForNumbersAndNumbersForDurations) {
  EXPECT_EQ(tree("5m"), "duration 300");
  EXPECT_EQ(tree("-1h30m"), "duration -5400");
  EXPECT_EQ(tree("m[300]"), "(range 300000 [m \"__name__\"=\"m\"])");
  EXPECT_EQ(tree("m[1.5:0x1]"), "(subquery 1500 1000 [m \"__name__\"=\"m\"])");
  EXPECT_EQ(tree("m[+5m]"), "(range 300000 [m \"__name__\"=\"m\"])");
  EXPECT_EQ(tree("m offset 30"), "[m \"__name__\"=\"m\" offset 30000]");
  EXPECT_EQ(tree("m offset 5s-8"), "(- [m \"__name__\"=\"m\" offset 5000] 8)");
  EXPECT_EQ(tree("m offset -1^1"), "(^ [m \"__name__\"=\"m\" offset -1000] 1)");
}

TEST(Parser, ReadsMatchers) {
  EXPECT_EQ(tree(R"(m{a="b", c!='d', e=~`f.*`, g!~"h",})"),
            R"([m "__name__"="m" "a"="b" "c"!="d" "e"=~"f.*" "g"!~"h"])");
  EXPECT_EQ(tree(R"({"utf-8.metric", "label name"="x", NaN='y', by!=""})"),
            R"([ "__name__"="utf-8.metric" "label name"="x" "NaN"="y" "by"!=""])");
  EXPECT_EQ(tree(R"({__name__=~"a", __name__!~"b"})"), R"([ "__name__"=~"a" "__name__"!~"b"])");
  EXPECT_EQ(tree("a:b:c{}"), R"([a:b:c "__name__"="a:b:c"])");
  EXPECT_EQ(tree("m{a='}'}"), R"([m "__name__"="m" "a"="}"])");
}

TEST(Parser, LetsWordsNameMetricsAndLabels) {
  for (const char* word :
       {"sum",      "SUM",      "topk",   "limitk",    "by",  "without", "offset",
        "and",      "or",       "unless", "start",     "end", "step",    "range",
        "anchored", "smoothed", "fill",   "fill_left", "e",   "x"}) {
    const ExprPtr expr = parsed(word);
    ASSERT_NE(expr->as<VectorSelector>(), nullptr) << word;
    EXPECT_EQ(expr->as<VectorSelector>()->name, word);
    EXPECT_EQ(print(*parsed(std::string("sum by (") + word + ") (m)")),
              std::string("sum by (") + word + ") (m)");
  }
  for (const char* word : {"bool", "on", "ignoring", "group_left", "group_right", "atan2"}) {
    EXPECT_FALSE(parse(word).ok()) << word;
    EXPECT_TRUE(parse(std::string("sum by (") + word + ") (m)").ok()) << word;
  }
  EXPECT_EQ(tree("offset offset 1s"), R"([offset "__name__"="offset" offset 1000])");
  EXPECT_EQ(tree("sum(sum)"), R"((sum by() [sum "__name__"="sum"]))");
  EXPECT_EQ(tree("fill + fill"), R"((+ [fill "__name__"="fill"] [fill "__name__"="fill"]))");
}

TEST(Parser, TakesKeywordsInAnyCase) {
  EXPECT_EQ(tree("SUM BY (a) (m OFFSET 1s)"), R"((sum by("a") [m "__name__"="m" offset 1000]))");
  EXPECT_EQ(tree("a ATAN2 ON(x) Group_Left b"),
            R"((atan2 n:1 on("x") [a "__name__"="a"] [b "__name__"="b"]))");
  EXPECT_EQ(tree("m @ START()"), R"([m "__name__"="m" at start])");
}

TEST(Parser, ReadsTimesAndOffsetsInEitherOrder) {
  EXPECT_EQ(tree("m @ 1609746000.1234 offset -5m"),
            R"([m "__name__"="m" at 1609746000123 offset -300000])");
  EXPECT_EQ(tree("m offset 5m @ end()"), R"([m "__name__"="m" at end offset 300000])");
  EXPECT_EQ(tree("m[5m] @ -3.3e1"), R"((range 300000 [m "__name__"="m" at -33000]))");
  EXPECT_EQ(tree("m[5m:] @ 1m offset 1h"),
            R"((subquery 300000 default at 60000 offset 3600000 [m "__name__"="m"]))");
  EXPECT_EQ(tree("m offset 1m [10m:5s]"),
            R"((subquery 600000 5000 [m "__name__"="m" offset 60000]))");
}

TEST(Parser, ReadsAggregationsWithTheGroupingBeforeOrBehind) {
  const char* const by = R"((sum by("a" "b") [m "__name__"="m"]))";
  EXPECT_EQ(tree("sum by (a, b) (m)"), by);
  EXPECT_EQ(tree("sum(m) by (a, b,)"), by);
  EXPECT_EQ(tree("sum by ('a', \"b\") (m)"), by);
  EXPECT_EQ(tree("sum by () (m)"), R"((sum by() [m "__name__"="m"]))");
  EXPECT_EQ(tree("count without (\"label name\") (m)"),
            R"((count without("label name") [m "__name__"="m"]))");
  EXPECT_EQ(tree("topk(5, m)"), R"((topk by() 5 [m "__name__"="m"]))");
  EXPECT_EQ(tree("quantile without () (0.9, m)"), R"((quantile without() 0.9 [m "__name__"="m"]))");
  EXPECT_EQ(tree("count_values(\"v\", m) by (a)"),
            R"((count_values by("a") "v" [m "__name__"="m"]))");
}

TEST(Parser, ReadsVectorMatching) {
  EXPECT_EQ(tree("a / on(x, y) b"), R"((/ on("x" "y") [a "__name__"="a"] [b "__name__"="b"]))");
  EXPECT_EQ(tree("a == bool ignoring(x) group_right(\"y z\") b"),
            R"((== bool 1:n ignoring("x") include("y z") [a "__name__"="a"] [b "__name__"="b"]))");
  EXPECT_EQ(tree("a and on() b"), R"((and n:n on() [a "__name__"="a"] [b "__name__"="b"]))");
  EXPECT_EQ(tree("1 + on() 2"), "(+ 1 2)");  // matching needs two vectors
  EXPECT_FALSE(parsed("1 + 2")->as<Binary>()->matching.has_value());
  EXPECT_TRUE(parsed("a + b")->as<Binary>()->matching.has_value());
}

TEST(Parser, ChecksHowManyArgumentsAFunctionTakes) {
  for (const char* right : {"round(m)", "round(m, 5)", "hour()", "hour(m)", "time()",
                            "label_join(m, 'd', ',')", "label_join(m, 'd', ',', 'a', 'b')"}) {
    EXPECT_TRUE(parse(right).ok()) << right;
  }
}

TEST(Parser, SkipsCommentsAndBlanks) {
  EXPECT_EQ(tree("# first\n 1 # one\n\t+ # plus\r\n 2 #end"), "(+ 1 2)");
  EXPECT_EQ(tree("m{ # in braces }\n a = 'b#c' }"), R"([m "__name__"="m" "a"="b#c"])");
}

TEST(Parser, KnowsWhereEachPartStands) {
  const std::string_view query = " sum by (a) (rate(m{x='y'}[5m] offset 1m)) + (b @ end()) ";
  const ExprPtr expr = parsed(query);
  const auto* plus = expr->as<Binary>();
  ASSERT_NE(plus, nullptr);
  EXPECT_EQ(text_of(query, *expr), "sum by (a) (rate(m{x='y'}[5m] offset 1m)) + (b @ end())");
  EXPECT_EQ(text_of(query, *plus->lhs), "sum by (a) (rate(m{x='y'}[5m] offset 1m))");
  const auto* sum = plus->lhs->as<Aggregate>();
  EXPECT_EQ(text_of(query, *sum->expr), "rate(m{x='y'}[5m] offset 1m)");
  EXPECT_EQ(text_of(query, *sum->expr->as<Call>()->args[0]), "m{x='y'}[5m] offset 1m");
  EXPECT_EQ(text_of(query, *plus->rhs), "(b @ end())");
  EXPECT_EQ(text_of(query, *plus->rhs->as<Paren>()->expr), "b @ end()");
}

TEST(Parser, GivesSignsSubqueriesAndTrailingGroupingsTheirWholeText) {
  const auto whole = [](std::string_view query) { return text_of(query, *parsed(query)) == query; };
  for (const char* query : {"-m", "-1", "+-1", "m[5m:1m]", "(a + b)[5m:] offset -1m",
                            "sum(m) by (a)", "a ^ -b", "m[5m] @ start()", "topk(5, m)"}) {
    EXPECT_TRUE(whole(query)) << query;
  }
}

TEST(Parser, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(parse("sum(\n  1 +\n  )").status().message().substr(0, 4), "3:3:");
  EXPECT_EQ(parse("foo and 1").status().message().substr(0, 4), "1:1:");
}

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Parser, RefusesHostileDepthWhateverItsForm) {
  const std::string deep[] = {
      repeated("(", 60'000),
      repeated("(", 30'000) + "1" + repeated(")", 30'000),
      repeated("-", 64'000) + "1",
      repeated("-", 64'000) + "m",
      "1" + repeated("+1", 32'000),
      "1" + repeated("^1", 32'000),
      "m" + repeated(" or m", 13'000),
      "m" + repeated("[1m:]", 13'000),
      repeated("sum(", 13'000) + "m" + repeated(")", 13'000),
      repeated("abs(", 16'000),
      "(" + repeated("-{}-1", 10'000) + ")" + repeated("[1m:]", 1000),
      repeated("a+(", 20'000),
  };
  for (const std::string& query : deep) {
    const Result<ExprPtr> expr = parse(query);
    ASSERT_FALSE(expr.ok()) << query.substr(0, 20);
    EXPECT_NE(expr.status().message().find("expression is nested deeper than 200 levels"),
              std::string::npos)
        << expr.status().message();
  }
}

TEST(Parser, TakesDepthUpToItsBoundAndWalksIt) {
  const size_t most = static_cast<size_t>(kMaxDepth) - 1;
  for (const std::string& query :
       {repeated("(", most) + "1" + repeated(")", most), "m" + repeated(" or m", most),
        "2" + repeated("^2", most), repeated("-", most) + "m",
        repeated("abs(", most) + "m" + repeated(")", most)}) {
    const ExprPtr expr = parsed(query);
    EXPECT_EQ(print(*parsed(print_pretty(*expr))), print(*expr));
    touched_by(*expr);
  }
  EXPECT_FALSE(parse("m" + repeated(" or m", most + 1)).ok());
}

TEST(Parser, TakesFlatTextUpToItsLength) {
  std::string query = "label_join(m, 'd', ','";
  while (query.size() < kMaxQueryLength - 20) query += ", 'label'";
  query += ")";
  EXPECT_TRUE(parse(query).ok());
  query.resize(kMaxQueryLength + 1, ' ');
  EXPECT_EQ(parse(query).status().message(), "1:1: parse error: query is longer than 65536 bytes");
}

}  // namespace
}  // namespace gpusight::promql
