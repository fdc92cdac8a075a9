// The answers of Prometheus's API over a few series in memory.
#include "serve/prom_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catalog/metric.h"
#include "promql/memory_series.h"

namespace gpusight::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Series m{a="1"}, m{a="2"}, n{b="x"}: value i at i × 10 s, for 100 samples.
class PromApiTest : public testing::Test {
 protected:
  PromApiTest() {
    std::vector<int64_t> times;
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) {
      times.push_back(i * 10'000);
      values.push_back(i);
    }
    for (const model::Labels& labels : {model::Labels{{"__name__", "m"}, {"a", "1"}},
                                        model::Labels{{"__name__", "m"}, {"a", "2"}},
                                        model::Labels{{"__name__", "n"}, {"b", "x"}}}) {
      EXPECT_TRUE(data_.add(labels, times, values).ok());
    }
    clock_.set_wall(WallTime(std::chrono::seconds(500)));
  }

  Response respond(PromCall call, Parameters parameters, std::string label = "") {
    return PromApi(options_).answer({.call = call,
                                     .label = std::move(label),
                                     .parameters = std::move(parameters),
                                     .asked_at = clock_.mono()},
                                    stop_.get_token());
  }
  json ask(PromCall call, Parameters parameters, std::string label = "") {
    return json::parse(respond(call, std::move(parameters), std::move(label)).body.bytes);
  }
  json data(PromCall call, Parameters parameters, std::string label = "") {
    const json answer = ask(call, std::move(parameters), std::move(label));
    EXPECT_EQ(answer["status"], "success") << answer;
    return answer["data"];
  }
  // "400 bad_data: what is wrong"
  std::string refusal(PromCall call, Parameters parameters) {
    const Response response = respond(call, std::move(parameters));
    const json answer = json::parse(response.body.bytes);
    EXPECT_EQ(answer["status"], "error") << answer;
    return std::to_string(response.status) + " " + answer["errorType"].get<std::string>() + ": " +
           answer["error"].get<std::string>();
  }
  Parameters range(std::string query, std::string start, std::string end, std::string step) {
    return {{"query", query}, {"start", start}, {"end", end}, {"step", step}};
  }

  FakeClock clock_;
  promql::MemorySeries data_;
  std::stop_source stop_;
  PromApi::Options options_{.data = &data_, .clock = &clock_, .version = "0.1.0"};
};

TEST_F(PromApiTest, AQueryIsAnsweredNowOrAtATime) {
  EXPECT_EQ(data(PromCall::kQuery, {{"query", "m{a='1'}"}}),
            json::parse(R"({"resultType":"vector","result":[
              {"metric":{"__name__":"m","a":"1"},"value":[500,"50"]}]})"));
  EXPECT_EQ(data(PromCall::kQuery, {{"query", "1+1"}, {"time", "1970-01-01T00:00:10.25Z"}}),
            json::parse(R"({"resultType":"scalar","result":[10.25,"2"]})"));
  EXPECT_EQ(data(PromCall::kQuery, {{"query", "n[25s]"}, {"time", "100"}})["result"][0]["values"],
            json::parse(R"([[80,"8"],[90,"9"],[100,"10"]])"));
  EXPECT_EQ(data(PromCall::kQuery, {{"query", "'x'"}})["resultType"], "string");
}

TEST_F(PromApiTest, ARangeHasAPointAStep) {
  EXPECT_EQ(data(PromCall::kQueryRange, range("sum(m)", "100", "160", "30")),
            json::parse(R"({"resultType":"matrix","result":[
              {"metric":{},"values":[[100,"20"],[130,"26"],[160,"32"]]}]})"));
  EXPECT_EQ(data(PromCall::kQueryRange, range("sum(m)", "100", "160", "30s")),
            data(PromCall::kQueryRange,
                 range("sum(m)", "1970-01-01T00:01:40Z", "1970-01-01T00:02:40Z", "30000ms")));
}

TEST_F(PromApiTest, TheLookBackIsTheCallersWhereAskedFor) {
  const Parameters late = {{"query", "n"}, {"time", "1100"}};
  EXPECT_EQ(data(PromCall::kQuery, late)["result"].size(), 1u);
  Parameters strict = late;
  strict.emplace_back("lookback_delta", "1m");
  EXPECT_EQ(data(PromCall::kQuery, strict)["result"].size(), 0u);
  strict.back().second = "x";
  EXPECT_THAT(refusal(PromCall::kQuery, strict),
              HasSubstr("400 bad_data: error parsing lookback delta duration"));
}

TEST_F(PromApiTest, ALimitCutsAndSaysSo) {
  for (const auto call : {PromCall::kQuery, PromCall::kQueryRange}) {
    Parameters parameters = range("m", "100", "160", "30");
    const json whole = ask(call, parameters);
    EXPECT_EQ(whole["data"]["result"].size(), 2u);
    EXPECT_FALSE(whole.contains("warnings"));
    parameters.emplace_back("limit", "1");
    const json cut = ask(call, parameters);
    EXPECT_EQ(cut["data"]["result"].size(), 1u);
    EXPECT_EQ(cut["warnings"], json::parse(R"(["results truncated due to limit"])"));
  }
  const json series = ask(PromCall::kSeries, {{"match[]", "m"}, {"limit", "1"}});
  EXPECT_EQ(series["data"].size(), 1u);
  EXPECT_EQ(series["warnings"].size(), 1u);
  const json labels = ask(PromCall::kLabels, {{"limit", "2"}});
  EXPECT_EQ(labels["data"], json::parse(R"(["__name__","a"])"));
  EXPECT_EQ(labels["warnings"].size(), 1u);
  EXPECT_FALSE(ask(PromCall::kLabels, {{"limit", "3"}}).contains("warnings"));
}

TEST_F(PromApiTest, RemarksStandBesideTheAnswer) {
  const json answer = ask(PromCall::kQuery, {{"query", "rate(m[1m])"}});
  EXPECT_EQ(answer["data"]["result"].size(), 2u);
  ASSERT_EQ(answer["infos"].size(), 1u) << answer;
  EXPECT_THAT(answer["infos"][0], HasSubstr("PromQL info: metric might not be a counter"));
  EXPECT_THAT(ask(PromCall::kQuery, {{"query", "quantile(2, m)"}})["warnings"][0],
              HasSubstr("PromQL warning:"));
}

TEST_F(PromApiTest, WhatIsWrongWithAParameterIsBadData) {
  EXPECT_EQ(refusal(PromCall::kQuery, {{"query", ""}}),
            "400 bad_data: invalid parameter \"query\": 1:1: parse error: no expression found in "
            "input");
  EXPECT_THAT(refusal(PromCall::kQuery, {{"query", "m"}, {"time", "x"}}),
              HasSubstr("400 bad_data: invalid parameter \"time\""));
  EXPECT_THAT(refusal(PromCall::kQuery, {{"query", "m"}, {"timeout", "x"}}),
              HasSubstr("400 bad_data: invalid parameter \"timeout\""));
  EXPECT_THAT(refusal(PromCall::kQuery, {{"query", "m"}, {"limit", "x"}}),
              HasSubstr("400 bad_data: invalid parameter \"limit\""));
  EXPECT_EQ(refusal(PromCall::kQueryRange, range("m", "", "1", "1")),
            "400 bad_data: invalid parameter \"start\": cannot parse \"\" to a valid timestamp");
  EXPECT_EQ(refusal(PromCall::kQueryRange, range("m", "2", "1", "1")),
            "400 bad_data: invalid parameter \"end\": end timestamp must not be before start time");
  EXPECT_THAT(refusal(PromCall::kQueryRange, range("m", "0", "1", "0")),
              HasSubstr("invalid parameter \"step\": zero or negative"));
  EXPECT_THAT(refusal(PromCall::kQueryRange, range("m", "0", "1", "-5m")),
              HasSubstr("invalid parameter \"step\""));
  for (const auto* query : {"m[5m]", "('x')"}) {
    EXPECT_THAT(refusal(PromCall::kQueryRange, range(query, "0", "1", "1")),
                HasSubstr("400 bad_data: invalid parameter \"query\": invalid expression type"));
  }
}

TEST_F(PromApiTest, ElevenThousandStepsBeyondTheFirstAreTheMost) {
  EXPECT_EQ(
      data(PromCall::kQueryRange, range("1", "0", "11000", "1"))["result"][0]["values"].size(),
      11001u);
  const std::string most =
      "400 bad_data: exceeded maximum resolution of 11,000 points per timeseries";
  EXPECT_THAT(refusal(PromCall::kQueryRange, range("1", "0", "11001", "1")), HasSubstr(most));
  EXPECT_THAT(refusal(PromCall::kQueryRange, range("1", "-292273086-05-16T16:47:06Z",
                                                   "292277025-08-18T07:12:54.999999999Z", "1")),
              HasSubstr(most));
}

TEST_F(PromApiTest, WhatAQueryCannotDoIsAnExecutionError) {
  EXPECT_THAT(refusal(PromCall::kQuery, {{"query", "n * on() m"}}), HasSubstr("422 execution: "));
  EXPECT_THAT(refusal(PromCall::kQuery, {{"query", "label_replace(m,'a','','','')"}}),
              HasSubstr("422 execution: vector cannot contain metrics with the same labelset"));
  options_.limits.max_samples = 10;
  EXPECT_EQ(refusal(PromCall::kQuery, {{"query", "sum(m[10m])"}}).substr(0, 3), "400");
  EXPECT_EQ(refusal(PromCall::kQuery, {{"query", "sum_over_time(m[10m])"}}),
            "422 execution: the query needs more than its limit of 10 samples");
  options_ = {.data = &data_, .clock = &clock_, .max_answer_bytes = 100};
  EXPECT_THAT(refusal(PromCall::kQuery, {{"query", "m[10m]"}}),
              HasSubstr("422 execution: the answer is longer than its limit of 100 bytes"));
}

TEST_F(PromApiTest, TimeSpentWaitingCounts) {
  EXPECT_EQ(refusal(PromCall::kQuery, {{"query", "m"}, {"timeout", "0"}}),
            "503 timeout: query timed out: it has 0 ms");
  const MonoTime asked_at = clock_.mono();
  clock_.advance(std::chrono::seconds(3));
  const auto status = [&](std::string timeout) {
    const PromQuestion question{.parameters = {{"query", "1"}, {"timeout", std::move(timeout)}},
                                .asked_at = asked_at};
    return PromApi(options_).answer(question, {}).status;
  };
  EXPECT_EQ(status("2.9"), 503u);
  EXPECT_EQ(status("4s"), 200u);
  clock_.advance(std::chrono::minutes(2));  // the longest, whatever is asked for
  EXPECT_EQ(status("1h"), 503u);
}

TEST_F(PromApiTest, AQueryThatNobodyWantsIsCanceled) {
  stop_.request_stop();
  EXPECT_EQ(refusal(PromCall::kQuery, {{"query", "m"}}), "503 canceled: the query was cancelled");
  EXPECT_THAT(refusal(PromCall::kSeries, {{"match[]", "m"}}), HasSubstr("503 canceled"));
  EXPECT_THAT(refusal(PromCall::kLabels, {}), HasSubstr("503 canceled"));
}

TEST_F(PromApiTest, SeriesAreTheUnionOfWhatIsMatched) {
  EXPECT_EQ(data(PromCall::kSeries, {{"match[]", "{a='1'}"}, {"match[]", "m"}}),
            json::parse(R"([{"__name__":"m","a":"1"},{"__name__":"m","a":"2"}])"));
  EXPECT_EQ(data(PromCall::kSeries, {{"match[]", "m"}, {"start", "2000"}}), json::array());
  EXPECT_EQ(data(PromCall::kSeries, {{"match[]", "n"}, {"start", "990"}, {"end", "990"}}).size(),
            1u);
  EXPECT_EQ(refusal(PromCall::kSeries, {}), "400 bad_data: no match[] parameter provided");
  EXPECT_EQ(refusal(PromCall::kSeries, {{"match[]", "{a=~'.*'}"}}).substr(0, 13), "400 bad_data:");
  options_.limits.max_series = 1;
  EXPECT_EQ(refusal(PromCall::kSeries, {{"match[]", "m"}}),
            "422 execution: the query needs more than its limit of 1 series");
}

TEST_F(PromApiTest, LabelsAndTheirValuesAreListed) {
  EXPECT_EQ(data(PromCall::kLabels, {}), json::parse(R"(["__name__","a","b"])"));
  EXPECT_EQ(data(PromCall::kLabels, {{"match[]", "n"}}), json::parse(R"(["__name__","b"])"));
  EXPECT_EQ(data(PromCall::kLabelValues, {}, "__name__"), json::parse(R"(["m","n"])"));
  EXPECT_EQ(data(PromCall::kLabelValues, {{"match[]", "n"}, {"match[]", "{a='2'}"}}, "a"),
            json::parse(R"(["2"])"));
  EXPECT_EQ(data(PromCall::kLabelValues, {}, "nothing"), json::array());
  EXPECT_EQ(data(PromCall::kLabelValues, {{"start", "1e6"}}, "a"), json::array());
  EXPECT_EQ(refusal(PromCall::kLabelValues, {}), "400 bad_data: invalid label name: \"\"");
}

TEST_F(PromApiTest, MetadataIsTheCatalogues) {
  const json all = data(PromCall::kMetadata, {});
  EXPECT_EQ(all.size(), catalog::metrics().size());
  const json one = data(PromCall::kMetadata, {{"metric", "gpu_power_watts"}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one["gpu_power_watts"][0]["type"], "gauge");
  EXPECT_EQ(one["gpu_power_watts"][0]["unit"], "watts");
  EXPECT_EQ(data(PromCall::kMetadata,
                 {{"metric", "gpu_energy_joules_total"}})["gpu_energy_joules_total"][0]["type"],
            "counter");
  EXPECT_EQ(data(PromCall::kMetadata, {{"limit", "2"}}).size(), 2u);
  EXPECT_EQ(data(PromCall::kMetadata, {{"limit", "0"}}).size(), 0u);
  EXPECT_EQ(data(PromCall::kMetadata, {{"metric", "up"}}), json::object());
  EXPECT_EQ(refusal(PromCall::kMetadata, {{"limit", "x"}}), "400 bad_data: limit must be a number");
}

TEST_F(PromApiTest, WhatThereIsNotIsAnsweredEmpty) {
  EXPECT_EQ(data(PromCall::kQueryExemplars, {{"query", "m"}}), json::array());
  EXPECT_EQ(refusal(PromCall::kQueryExemplars, {{"query", "m("}}).substr(0, 13), "400 bad_data:");
  EXPECT_EQ(data(PromCall::kRules, {{"type", "ALERT"}}), json::parse(R"({"groups":[]})"));
  EXPECT_EQ(refusal(PromCall::kRules, {{"type", "x"}}),
            "400 bad_data: invalid parameter \"type\": not supported value \"x\"");
  EXPECT_EQ(data(PromCall::kAlerts, {}), json::parse(R"({"alerts":[]})"));
}

TEST_F(PromApiTest, TheInterfaceSaysWhichItIs) {
  const json info = data(PromCall::kBuildInfo, {});
  EXPECT_EQ(info["version"], "3.0.0");
  EXPECT_EQ(info["revision"], "gpusight-0.1.0");
  EXPECT_EQ(data(PromCall::kFormatQuery, {{"query", "sum( m )by(a)"}}), "sum by (a) (m)");
  EXPECT_THAT(refusal(PromCall::kFormatQuery, {{"query", "sum("}}),
              HasSubstr("400 bad_data: invalid parameter \"query\""));
}

TEST_F(PromApiTest, WhatAQueryCostIsToldToThoseWhoAsk) {
  EXPECT_FALSE(data(PromCall::kQuery, {{"query", "m"}}).contains("stats"));
  const json cost = data(PromCall::kQuery, {{"query", "m"}, {"stats", "all"}})["stats"];
  EXPECT_GE(cost["samples"]["totalQueryableSamples"], 2);
  EXPECT_TRUE(cost["timings"].contains("execTotalTime"));
}

TEST_F(PromApiTest, WithoutSeriesOnlyWhatNeedsNoneIsAnswered) {
  options_.data = nullptr;
  EXPECT_EQ(refusal(PromCall::kQuery, {{"query", "1"}}),
            "503 unavailable: there is no history to ask");
  EXPECT_EQ(respond(PromCall::kBuildInfo, {}).status, 200u);
}

}  // namespace
}  // namespace gpusight::serve
