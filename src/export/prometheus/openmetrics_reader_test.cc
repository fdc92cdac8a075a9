#include "export/prometheus/openmetrics_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "export/prometheus/exposition.h"

namespace gpusight::prometheus {
namespace {

using Line = OpenMetricsReader::Line;

TimedSample sample_of(std::string_view line) {
  OpenMetricsReader reader;
  TimedSample sample;
  const Result<Line> read = reader.read(line, sample);
  EXPECT_TRUE(read.ok()) << line << ": " << read.status().message();
  if (read.ok()) {
    EXPECT_EQ(*read, Line::kSample);
  }
  return sample;
}

std::string fault_of(std::string_view line) {
  OpenMetricsReader reader;
  TimedSample sample;
  const Result<Line> read = reader.read(line, sample);
  EXPECT_FALSE(read.ok()) << line;
  EXPECT_EQ(read.status().code(), Code::kCorrupt);
  return read.status().message();
}

TEST(OpenMetricsReader, ReadsNameLabelsNumberAndTime) {
  const TimedSample sample =
      sample_of(R"(gpu_clock_hertz{uuid="GPU-1",clock="s\"m\\\n"} 1.98e+09 1735000000.417)");
  EXPECT_EQ(
      sample.labels,
      (model::Labels{{"__name__", "gpu_clock_hertz"}, {"clock", "s\"m\\\n"}, {"uuid", "GPU-1"}}));
  EXPECT_EQ(sample.number, 1.98e9);
  EXPECT_EQ(sample.time_ms, 1'735'000'000'417);
}

TEST(OpenMetricsReader, TakesWhatOthersWrite) {
  EXPECT_EQ(sample_of("a 1 2").labels.size(), 1U);
  EXPECT_EQ(sample_of("a{} 1 2").time_ms, 2000);
  EXPECT_EQ(sample_of("a{b=\"c\",} 1 1.735000000417e+09").time_ms, 1'735'000'000'417);
  EXPECT_EQ(sample_of("a{b=\"\"} 1 2").labels.size(), 1U);
  EXPECT_EQ(sample_of("a +Inf 2").number, INFINITY);
  EXPECT_EQ(sample_of("a -Inf 2").number, -INFINITY);
  EXPECT_TRUE(std::isnan(sample_of("a NaN 2").number));
  EXPECT_EQ(sample_of("a_total 5 2 # {trace=\"1\"} 0.5 1.0").number, 5);
  EXPECT_EQ(sample_of("a 1 -0.001").time_ms, -1);
}

TEST(OpenMetricsReader, SaysWhatIsWrong) {
  EXPECT_EQ(fault_of(""), "it begins with no metric's name");
  EXPECT_EQ(fault_of("9a 1 2"), "it begins with no metric's name");
  EXPECT_EQ(fault_of("a"), "a blank and a number are wanted behind the name and labels");
  EXPECT_EQ(fault_of("a x 2"), "its value is no number");
  EXPECT_EQ(fault_of("a 1"), "it has no time; samples of the past need one");
  EXPECT_EQ(fault_of("a 1 yesterday"), "its time is no number of seconds");
  EXPECT_EQ(fault_of("a 1 1e300"), "its time is no number of seconds");
  EXPECT_EQ(fault_of("a 1 nan"), "its time is no number of seconds");
  EXPECT_EQ(fault_of("a 1 2 3"), "something follows its time");
  EXPECT_EQ(fault_of("a{b} 1 2"), "= is wanted behind the label b");
  EXPECT_EQ(fault_of("a{b=\"c} 1 2"), "the value of the label b is not quoted well");
  EXPECT_EQ(fault_of(R"(a{b="\x"} 1 2)"), "the value of the label b is not quoted well");
  EXPECT_EQ(fault_of("a{b=\"c\" 1 2"), "a comma or the closing brace is wanted behind the label b");
  EXPECT_EQ(fault_of("a{b=\"1\",b=\"2\"} 1 2"), "the label b stands there twice");
  EXPECT_EQ(fault_of("a{__name__=\"b\"} 1 2"), "the label __name__ stands there twice");
  EXPECT_EQ(fault_of("a{\"b\"} 1 2"), "a label's name is wanted, or the closing brace");
  EXPECT_EQ(fault_of("a\xff 1 2"), "it is not UTF-8");
  EXPECT_EQ(fault_of(std::string(70'000, 'a')), "the line is longer than 64 KiB");
  EXPECT_EQ(fault_of("# hello"), "comments are # HELP, # TYPE, # UNIT and # EOF");
  EXPECT_EQ(fault_of("#EOF"), "a comment begins with \"# \"");
  EXPECT_EQ(fault_of("# TYPE"), "# TYPE needs a metric's name");
  std::string many = "a{";
  for (int i = 0; i < 100; ++i) many += "l" + std::to_string(i) + "=\"x\",";
  EXPECT_EQ(fault_of(many + "} 1 2"), "it has too many labels");
}

TEST(OpenMetricsReader, ATextThatWasCutOffOrGoesOnIsAFault) {
  OpenMetricsReader reader;
  TimedSample sample;
  EXPECT_TRUE(reader.read("# TYPE a gauge", sample).ok());
  EXPECT_TRUE(reader.read("a 1 2", sample).ok());
  EXPECT_FALSE(reader.check_end().ok());
  ASSERT_TRUE(reader.read("# EOF", sample).ok());
  EXPECT_TRUE(reader.check_end().ok());
  EXPECT_EQ(reader.line_number(), 3U);
  EXPECT_FALSE(reader.read("a 1 3", sample).ok());
}

TEST(OpenMetricsReader, ReadsBackWhatIsWrittenWithTimes) {
  Exposition out(Format::kOpenMetrics100);
  out.family("gpu_energy_joules_total", catalog::Kind::kCounter, catalog::Unit::kJoules, "Energy.");
  std::string& text = out.begin_sample("gpu_energy_joules_total{");
  append_label(text, "uuid", "a\"b\\c\nd");
  text += '}';
  out.end_sample(0.1 + 0.2, 1'735'000'000'007);
  EXPECT_EQ(out.take(),
            "# HELP gpu_energy_joules Energy.\n# TYPE gpu_energy_joules counter\n"
            "# UNIT gpu_energy_joules joules\n"
            "gpu_energy_joules_total{uuid=\"a\\\"b\\\\c\\nd\"} 0.30000000000000004 "
            "1735000000.007\n");
  EXPECT_EQ(out.finish(), "# EOF\n");
  const TimedSample back = sample_of(
      "gpu_energy_joules_total{uuid=\"a\\\"b\\\\c\\nd\"} 0.30000000000000004 1735000000.007");
  EXPECT_EQ(back.labels[1].second, "a\"b\\c\nd");
  EXPECT_EQ(back.number, 0.1 + 0.2);
  EXPECT_EQ(back.time_ms, 1'735'000'000'007);
}

}  // namespace
}  // namespace gpusight::prometheus
