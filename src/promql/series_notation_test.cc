#include "promql/series_notation.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gpusight::promql {
namespace {

using Points = std::vector<std::optional<double>>;

Points points(const std::string& text) {
  const Result<NotedSeries> series = parse_series("m " + text);
  EXPECT_TRUE(series.ok()) << text << ": " << series.status().message();
  return series.ok() ? series->points : Points();
}

std::string refusal(const std::string& line) {
  const Result<NotedSeries> series = parse_series(line);
  EXPECT_FALSE(series.ok()) << line;
  return series.ok() ? "" : series.status().message();
}

constexpr std::nullopt_t kNone = std::nullopt;

TEST(SeriesNotation, ReadsLabelsInEveryForm) {
  const model::Labels expected = {{"__name__", "m"}, {"a", "b c}"}};
  for (const char* line : {"m{a=\"b c}\"} 1", "  m{ a='b c}' ,}\t1", "{\"m\", a=`b c}`} 1"}) {
    EXPECT_EQ(parse_series(line).value().labels, expected) << line;
    EXPECT_EQ(parse_series(line).value().points, Points({1})) << line;
  }
  EXPECT_EQ(parse_series("{} 1 2").value().labels, model::Labels());
  EXPECT_EQ(parse_series("m{a='\\'}'} 1").value().labels[1].second, "'}");
}

TEST(SeriesNotation, ReadsNumbers) {
  EXPECT_EQ(points("1 -1 +4 .5 2. 1e3 -1.5e-3 1_000"),
            Points({1, -1, 4, 0.5, 2, 1000, -0.0015, 1000}));
  EXPECT_EQ(points("inf -Inf"), Points({HUGE_VAL, -HUGE_VAL}));
  EXPECT_TRUE(std::isnan(*points("NaN")[0]));
  EXPECT_EQ(points("  \t"), Points());
}

TEST(SeriesNotation, ExpandsStepsFromTheFirstValueOn) {
  EXPECT_EQ(points("1x2"), Points({1, 1, 1}));
  EXPECT_EQ(points("0x2"), Points({0, 0, 0}));  // not a hexadecimal number
  EXPECT_EQ(points("2+3x2"), Points({2, 5, 8}));
  EXPECT_EQ(points("-3-10x2 7"), Points({-3, -13, -23, 7}));
  EXPECT_EQ(points("1+1x0"), Points({1}));
  EXPECT_EQ(points("1-0x2"), Points({1, 1, 1}));
}

TEST(SeriesNotation, AddsStepsOneByOne) {
  const Points expanded = points("0+0.1x3");
  EXPECT_EQ(*expanded[3], 0.1 + 0.1 + 0.1);  // rounded at each step, so not 0.3
}

TEST(SeriesNotation, LeavesOutPoints) {
  EXPECT_EQ(points("1 _ 2 _x2"), Points({1, kNone, 2, kNone, kNone}));
  EXPECT_EQ(points("_x0 1"), Points({1}));
}

TEST(SeriesNotation, WritesStaleMarkers) {
  const Points read = points("1 stale stalex1");
  ASSERT_EQ(read.size(), 4u);
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(model::is_stale_marker(*read[i])) << i;
}

TEST(SeriesNotation, RecognisesNativeHistograms) {
  const NotedSeries series =
      parse_series("m 1 {{}} {{schema:1 buckets:[5 10 7]}}x1 {{sum:1}}+{{sum:1}}x2 _").value();
  EXPECT_TRUE(series.has_histograms);
  EXPECT_EQ(series.points, Points({1, kNone, kNone, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(series.is_histogram,
            (std::vector<bool>{false, true, true, true, true, true, true, false}));
  EXPECT_FALSE(parse_series("m 1").value().has_histograms);
  EXPECT_TRUE(parse_series("m 1").value().is_histogram.empty());
}

TEST(SeriesNotation, TellsWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("m 1+1"), "1:6: parse error: unexpected end of input in series values");
  EXPECT_EQ(refusal("m 1 _a4"), "1:6: parse error: unexpected character in series sequence: 'a'");
  EXPECT_EQ(refusal("m -3-3 -3"), "1:7: parse error: unexpected character in series sequence: ' '");
  EXPECT_EQ(refusal("m 3+3x4-4"), "1:8: parse error: unexpected character in series sequence: '-'");
  EXPECT_EQ(refusal("m 1xa"), "1:5: parse error: invalid repetition in series values: \"a\"");
  EXPECT_EQ(refusal("m 1x-1"), "1:5: parse error: invalid repetition in series values: \"\"");
  EXPECT_EQ(refusal("m 1e999"),
            "1:3: parse error: error parsing number: \"1e999\": value out of range");
  EXPECT_EQ(refusal("m {{sum:1"), "1:3: parse error: unclosed native histogram");
  EXPECT_EQ(refusal("m{a='b'}1"), "1:9: parse error: unexpected character in series sequence: '1'");
  EXPECT_EQ(refusal("m{a=b} 1"),
            "1:5: parse error: unexpected identifier \"b\" in label set, expected string");
  EXPECT_EQ(refusal("5 1"), "1:1: parse error: unexpected number \"5\"");
}

TEST(SeriesNotation, BoundsExpansion) {
  EXPECT_EQ(points("1x999999").size(), kMaxExpandedPoints);
  for (const char* line : {"m 1x1000000", "m _x1000001", "m 1 _x1000000",
                           "m {{}}x18446744073709551615", "m 1+1x18446744073709551615"}) {
    const Result<NotedSeries> series = parse_series(line);
    ASSERT_FALSE(series.ok()) << line;
    EXPECT_EQ(series.status().code(), Code::kExhausted) << line;
  }
  EXPECT_EQ(parse_series("m 1x18446744073709551616").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace gpusight::promql
