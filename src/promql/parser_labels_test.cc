#include <string>

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

using model::Labels;

TEST(ParseLabels, ReadsANameAndLabelsAndSortsThem) {
  const Labels expected = {{"__name__", "m"}, {"a", "1"}, {"b", "2"}};
  EXPECT_EQ(parse_labels("m{b='2', a=\"1\"}").value(), expected);
  EXPECT_EQ(parse_labels("{\"a\"=`1`, 'm', b=\"2\",}").value(), expected);
  EXPECT_EQ(parse_labels("{__name__='m', a='1', b='2'}").value(), expected);
  EXPECT_EQ(parse_labels("sum").value(), (Labels{{"__name__", "sum"}}));
  EXPECT_EQ(parse_labels("ignoring{}").value(), (Labels{{"__name__", "ignoring"}}));
  EXPECT_EQ(parse_labels("nan").value(), (Labels{{"__name__", "nan"}}));
  EXPECT_EQ(parse_labels("").value(), Labels());
  EXPECT_EQ(parse_labels("{}").value(), Labels());
  EXPECT_EQ(parse_labels("m{empty=''}").value(), (Labels{{"__name__", "m"}}));
}

TEST(ParseLabels, TellsWhatIsWrongAndWhere) {
  const auto message = [](std::string_view text) { return parse_labels(text).status().message(); };
  EXPECT_EQ(message("m{a!='b'}"),
            "1:4: parse error: unexpected <op:!=> in label set, expected \"=\"");
  EXPECT_EQ(message("m{a=b}"),
            "1:5: parse error: unexpected identifier \"b\" in label set, expected string");
  EXPECT_EQ(message("{'m'x}"),
            "1:5: parse error: unexpected identifier \"x\" in label set, expected \",\" or \"}\"");
  EXPECT_EQ(message("{,}"),
            "1:2: parse error: unexpected \",\" in label set, expected identifier or \"}\"");
  EXPECT_EQ(message("m{a='b'} 1"), "1:10: parse error: unexpected number \"1\"");
  EXPECT_EQ(message("{a='1', a='2'}"), "1:1: parse error: label \"a\" is set twice");
  EXPECT_EQ(message("m{'n'}"), "1:1: parse error: label \"__name__\" is set twice");
  EXPECT_EQ(message("m{"), "1:3: parse error: unexpected end of input inside braces");
  EXPECT_FALSE(parse_labels(std::string(kMaxQueryLength + 1, 'a')).ok());
}

TEST(PrintLabels, WritesThemAsAMetric) {
  EXPECT_EQ(print_labels({}), "{}");
  EXPECT_EQ(print_labels({{"__name__", "m"}}), "m");
  EXPECT_EQ(print_labels({{"a", "x\"y\n"}, {"b", "2"}}), "{a=\"x\\\"y\\n\", b=\"2\"}");
  EXPECT_EQ(print_labels({{"A", "1"}, {"__name__", "m:r"}, {"utf-8 name", "c"}}),
            "m:r{A=\"1\", \"utf-8 name\"=\"c\"}");
  EXPECT_EQ(print_labels({{"A", "1"}, {"__name__", "a.b"}}), "{\"a.b\", A=\"1\"}");
  EXPECT_EQ(print_labels({{"__name__", "a.b"}}), "{\"a.b\"}");
}

TEST(PrintLabels, ReadsBackAsTheSameLabels) {
  const Labels labels[] = {{{"__name__", "sum"}, {"a", "\xff\\"}},
                           {{"A", "1"}, {"__name__", "a b"}, {"z.z", "\u20ac"}}};
  for (const Labels& set : labels) {
    EXPECT_EQ(parse_labels(print_labels(set)).value(), set) << print_labels(set);
  }
}

}  // namespace
}  // namespace gpusight::promql
