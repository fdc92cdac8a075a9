#include <string>

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

std::string printed(std::string_view query) {
  const Result<ExprPtr> expr = parse(query);
  EXPECT_TRUE(expr.ok()) << query << ": " << expr.status().message();
  return expr.ok() ? print(**expr) : "";
}

std::string pretty(std::string_view query) {
  const Result<ExprPtr> expr = parse(query);
  EXPECT_TRUE(expr.ok()) << query << ": " << expr.status().message();
  return expr.ok() ? print_pretty(**expr) : "";
}

TEST(Printer, WritesOneCanonicalLine) {
  EXPECT_EQ(printed("1+2*-3"), "1 + 2 * -3");
  EXPECT_EQ(printed("SUM(m)BY(a,'b c')"), "sum by (a, \"b c\") (m)");
  EXPECT_EQ(printed("sum by()(m)"), "sum(m)");
  EXPECT_EQ(printed("sum without()(m)"), "sum without () (m)");
  EXPECT_EQ(printed("topk(2,m)without(a)"), "topk without (a) (2, m)");
  EXPECT_EQ(printed("a==bool on(x)group_left b"), "a == bool on (x) group_left () b");
  EXPECT_EQ(printed("a+ignoring()b"), "a + b");
  EXPECT_EQ(printed("a AND on()b"), "a and on () b");
  EXPECT_EQ(printed("m{}"), "m");
  EXPECT_EQ(printed("m{b='c',a!~`d\\d`}[300]offset-1h30m@end()"),
            R"(m{b="c",a!~"d\\d"}[5m] @ end() offset -1h30m)");
  EXPECT_EQ(printed("{'utf-8.name','a b'='c'}"), R"({__name__="utf-8.name","a b"="c"})");
  EXPECT_EQ(printed("m[1h:]@-1.5"), "m[1h:] @ -1.500");
  EXPECT_EQ(printed("(m)[1h:90]"), "(m)[1h:1m30s]");
  EXPECT_EQ(printed("m offset 0s"), "m");
  EXPECT_EQ(printed("-5m+0x10"), "-5m + 16");
  EXPECT_EQ(printed("+inf^m"), "+Inf ^ m");
  EXPECT_EQ(printed("inf^m"), "Inf ^ m");
  EXPECT_EQ(printed("-(-m)"), "-(-m)");
  EXPECT_EQ(printed("'\\x00\\xff'"), R"("\x00\xff")");
  EXPECT_EQ(printed("label_replace(m,'a','$1','b','(.*)')"),
            "label_replace(m, \"a\", \"$1\", \"b\", \"(.*)\")");
}

TEST(Printer, LeavesWhatFitsOnItsLine) {
  EXPECT_EQ(pretty("sum(rate(m[5m]))by(a)/2"), "sum by (a) (rate(m[5m])) / 2");
}

TEST(Printer, BreaksLongExpressionsAtTheirParts) {
  const std::string query =
      "sum by (job, instance) (rate(http_requests_total{job=\"api\"}[5m])) / on (job) group_left "
      "(owner) (sum by (job) (rate(http_requests_total{job=\"api\",code=\"500\"}[5m])) + 1)";
  EXPECT_EQ(pretty(query),
            "sum by (job, instance) (rate(http_requests_total{job=\"api\"}[5m]))\n"
            "/ on (job) group_left (owner) (\n"
            "  sum by (job) (rate(http_requests_total{job=\"api\",code=\"500\"}[5m])) + 1\n"
            ")");
  EXPECT_EQ(printed(pretty(query)), printed(query));
}

TEST(Printer, BreaksArgumentsAndMatchersOneALine) {
  const std::string long_value(70, 'x');
  const std::string query =
      "last_over_time(m{a=\"" + long_value + "\",b=\"" + long_value + "\"}[1m] offset 1h)";
  EXPECT_EQ(pretty(query),
            "last_over_time(\n"
            "  m{\n"
            "    a=\"" +
                long_value +
                "\",\n"
                "    b=\"" +
                long_value +
                "\"\n"
                "  }[1m] offset 1h\n"
                ")");
  EXPECT_EQ(printed(pretty(query)), printed(query));
}

TEST(Printer, KeepsNoLineOfAnOrdinaryExpressionLongerThanTheLimit) {
  std::string query = "metric_number_0";
  for (int i = 1; i < 40; ++i) query += " or metric_number_" + std::to_string(i);
  const std::string text = pretty(query);
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    EXPECT_LE(end - start, 100u);
    start = end + 1;
  }
  EXPECT_EQ(printed(text), query);
}

}  // namespace
}  // namespace gpusight::promql
