#include "serve/prom_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gpusight::serve {
namespace {

using promql::Matrix;
using promql::QueryResult;
using promql::Vector;
using testing::ElementsAre;

std::string text_of(QueryResult result) {
  PromText text;
  text.data().begin_object();
  EXPECT_TRUE(append_result(text, result, SIZE_MAX).ok());
  text.data().end_object();
  return text.finish();
}

TEST(PromNumber, HasTheFewestDigitsAndAnExponentOnlyFarOut) {
  EXPECT_EQ(prom_number(0), "0");
  EXPECT_EQ(prom_number(-0.0), "-0");
  EXPECT_EQ(prom_number(0.1), "0.1");
  EXPECT_EQ(prom_number(1e6), "1000000");
  EXPECT_EQ(prom_number(1e20), "100000000000000000000");
  EXPECT_EQ(prom_number(123456789012345678), "123456789012345680");
  EXPECT_EQ(prom_number(1e21), "1e+21");
  EXPECT_EQ(prom_number(-1.5e300), "-1.5e+300");
  EXPECT_EQ(prom_number(0.000001), "0.000001");
  EXPECT_EQ(prom_number(0.00000099), "9.9e-07");
  EXPECT_EQ(prom_number(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(PromNumber, WhatIsNoNumberHasItsName) {
  EXPECT_EQ(prom_number(NAN), "NaN");
  EXPECT_EQ(prom_number(HUGE_VAL), "+Inf");
  EXPECT_EQ(prom_number(-HUGE_VAL), "-Inf");
}

TEST(PromTime, HasThreePlacesOrNone) {
  EXPECT_EQ(prom_time(1435781430000), "1435781430");
  EXPECT_EQ(prom_time(1435781430781), "1435781430.781");
  EXPECT_EQ(prom_time(1435781430080), "1435781430.080");
  EXPECT_EQ(prom_time(1), "0.001");
  EXPECT_EQ(prom_time(-1500), "-1.500");
  EXPECT_EQ(prom_time(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

TEST(PromResult, EveryKindHasItsForm) {
  EXPECT_EQ(text_of({promql::Scalar{{1500, 2}}}),
            R"({"status":"success","data":{"resultType":"scalar","result":[1.500,"2"]}})");
  EXPECT_EQ(
      text_of({promql::Scalar{{0, 1e21}}}),
      R"({"status":"success","data":{"resultType":"scalar","result":[0,"1000000000000000000000"]}})");
  EXPECT_EQ(text_of({promql::String{1000, "a\"b\n"}}),
            R"({"status":"success","data":{"resultType":"string","result":[1,"a\"b\u000a"]}})");
  EXPECT_EQ(text_of({Vector{}}),
            R"({"status":"success","data":{"resultType":"vector","result":[]}})");
  EXPECT_EQ(
      text_of({Vector{{.labels = {{"__name__", "up"}, {"a", "1"}}, .point = {1000, NAN}},
                      {.labels = {}, .point = {1000, -HUGE_VAL}}}}),
      R"({"status":"success","data":{"resultType":"vector","result":[)"
      R"({"metric":{"__name__":"up","a":"1"},"value":[1,"NaN"]},{"metric":{},"value":[1,"-Inf"]}]}})");
  EXPECT_EQ(text_of({Matrix{{.labels = {{"a", "1"}}, .points = {{0, 1}, {500, 2}}}}}),
            R"({"status":"success","data":{"resultType":"matrix","result":[)"
            R"({"metric":{"a":"1"},"values":[[0,"1"],[0.500,"2"]]}]}})");
}

// FAULT-130
TEST(PromResult, LabelsAreTextWhateverStandsInThem) {
  const std::string text = text_of(
      {Vector{{.labels = {{"größe", "<b>\"\\\x01"}, {"温度", "高\xff"}}, .point = {0, 1}}}});
  EXPECT_THAT(text, testing::HasSubstr(R"("größe":"<b>\"\\\u0001","温度":"高�")"));
}

TEST(PromResult, ALongAnswerIsRefusedNotCut) {
  Matrix matrix = {{.labels = {}, .points = std::vector<promql::Point>(1000)}};
  PromText text;
  text.data().begin_object();
  const Status written = append_result(text, {matrix}, 500);
  EXPECT_EQ(written.code(), Code::kExhausted);
  EXPECT_THAT(written.message(), testing::HasSubstr("its limit of 500 bytes"));
  EXPECT_LT(text.size(), 600u);
}

TEST(PromRemarks, AreTenOfEachAtMostAndTheRestCounted) {
  promql::Annotations annotations;
  annotations.info("first", {.start = 4, .end = 5});
  for (int i = 0; i < 13; ++i) annotations.warn("w" + std::to_string(i), {});
  const PromRemarks remarks = remarks_of(annotations, "rate(a)");
  EXPECT_THAT(remarks.infos, ElementsAre("PromQL info: first (1:5)"));
  ASSERT_EQ(remarks.warnings.size(), 11u);
  EXPECT_EQ(remarks.warnings[0], "PromQL warning: w0 (1:1)");
  EXPECT_EQ(remarks.warnings[10], "3 more warning annotations omitted");
  PromText text;
  text.data().integer(1);
  EXPECT_EQ(text.finish({.warnings = {"w"}, .infos = {"i"}}),
            R"({"status":"success","data":1,"warnings":["w"],"infos":["i"]})");
}

TEST(PromError, HasItsTypeAndStatus) {
  const auto check = [](PromError error, unsigned status, std::string_view type) {
    const Response response = prom_error(error, "no \"x\"");
    EXPECT_EQ(response.status, status) << type;
    EXPECT_EQ(response.body.bytes, R"({"status":"error","errorType":")" + std::string(type) +
                                       R"(","error":"no \"x\""})");
  };
  check(PromError::kBadData, 400, "bad_data");
  check(PromError::kExecution, 422, "execution");
  check(PromError::kCanceled, 503, "canceled");
  check(PromError::kTimeout, 503, "timeout");
  check(PromError::kInternal, 500, "internal");
  check(PromError::kUnavailable, 503, "unavailable");
}

}  // namespace
}  // namespace gpusight::serve
