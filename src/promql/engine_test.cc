// The engine as a whole: kinds of results, what is refused, limits, cancelling, statistics.
#include "promql/engine.h"

#include <memory>

#include "promql/engine_test_support.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kMinute = 60'000;

TEST_F(EngineTest, ResultsHaveTheKindOfTheExpression) {
  load(kMinute, {"m 1 2"});
  EXPECT_TRUE(std::holds_alternative<Scalar>(instant("1", 5000).value().value));
  EXPECT_TRUE(std::holds_alternative<String>(instant(R"(("a"))", 5000).value().value));
  EXPECT_TRUE(std::holds_alternative<Vector>(instant("m", 5000).value().value));
  EXPECT_TRUE(std::holds_alternative<Matrix>(instant("m[1m]", 5000).value().value));
  EXPECT_TRUE(std::holds_alternative<Matrix>(instant("(m[1m:1s])", 5000).value().value));
  EXPECT_TRUE(std::holds_alternative<Matrix>(range("1", {0, 0, 1}).value().value));
}

TEST_F(EngineTest, AVectorsTimesAreThoseOfEvaluation) {
  load(kMinute, {"m 1 2"});
  const auto result = instant("m", 90'000);
  EXPECT_EQ(std::get<Vector>(result.value().value).front().point.time_ms, 90'000);
  EXPECT_EQ(std::get<String>(instant(R"("a")", 7).value().value).time_ms, 7);
}

TEST_F(EngineTest, ResultsAreSortedByLabels) {
  load(kMinute, {R"(m{b="2"} 1)", R"(m{a="9"} 1)", R"(m{a="10"} 1)", "l 1"});
  const Lines want = {"l 1", R"(m{a="10"} 1)", R"(m{a="9"} 1)", R"(m{b="2"} 1)"};
  EXPECT_EQ(lines_of(instant(R"({__name__=~"l|m"})", 0)), want);
  EXPECT_EQ(lines_of(instant(R"(m or l)", 0)), want);
}

TEST_F(EngineTest, ARangeOfTextsOrRangesIsRefused) {
  EXPECT_EQ(lines_of(range(R"("a")", {0, 10, 1})),
            Lines{"error: invalid expression type \"string\" for range query, must be Scalar or "
                  "instant Vector"});
  EXPECT_EQ(range("m[5m]", {0, 10, 1}).status().code(), Code::kInvalidArgument);
}

TEST_F(EngineTest, StepsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(range("1", {0, 10, 0}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(range("1", {0, 10, -1}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(range("1", {10, 9, 1}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(range("1", {INT64_MIN, INT64_MAX, 1}).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(range("1", {0, 10'999, 1}).ok());
  const auto many = range("1", {0, 11'000, 1});
  EXPECT_EQ(many.status().code(), Code::kInvalidArgument);
  EXPECT_NE(many.status().message().find("11000"), std::string::npos);
}

TEST_F(EngineTest, TimesAtTheEndOfTheirRangeAreHarmless) {
  load(kMinute, {"m 1"});
  for (const int64_t time_ms : {INT64_MIN, INT64_MAX}) {
    EXPECT_TRUE(instant("m offset 5m + sum_over_time(m[5m:1m] offset -5m)", time_ms).ok());
  }
}

TEST_F(EngineTest, TooManySamplesEndTheQuery) {
  load(1000, {R"(m{a="1"} 0+1x99)", R"(m{a="2"} 0+1x99)"});
  options_.limits.max_samples = 200;
  EXPECT_TRUE(instant("sum_over_time(m[5m])", 99'000).ok());
  options_.limits.max_samples = 199;
  const auto result = instant("sum_over_time(m[5m])", 99'000);
  EXPECT_EQ(result.status().code(), Code::kExhausted);
  EXPECT_EQ(result.status().message(), "the query needs more than its limit of 199 samples");
}

TEST_F(EngineTest, SamplesOfSubqueriesCount) {
  load(1000, {"m 0+1x99"});
  options_.limits.max_samples = 150;
  EXPECT_TRUE(instant("m[99s:2s]", 99'000).ok());
  EXPECT_EQ(instant("m[99s:1s]", 99'000).status().code(), Code::kExhausted);
}

TEST_F(EngineTest, TooManySeriesEndTheQuery) {
  load(1000, {R"(m{a="1"} 1)", R"(m{a="2"} 1)", R"(m{a="3"} 1)"});
  options_.limits.max_series = 5;
  EXPECT_TRUE(instant("sum(m)", 0).ok());
  EXPECT_EQ(instant("m + m", 0).status().message(),
            "the query needs more than its limit of 5 series");
}

TEST_F(EngineTest, MemoryIsLimitedByWhatIsHeldAtOnce) {
  for (int i = 0; i < 200; ++i) load(1000, {fmt::format(R"(m{{a="{}"}} 0+1x999)", i)});
  const QueryRange steps{0, 999'000, 1000};
  options_.limits.max_bytes = 400'000;  // all rows would be 1.6 MB
  const auto folded = range("sum(m)", steps);
  ASSERT_TRUE(folded.ok());
  EXPECT_LT(folded.value().stats.peak_bytes, 100'000u);
  for (const std::string_view held : {"quantile(0.5, m)", "m + m", "sort(m) or m", "m"}) {
    EXPECT_EQ(range(held, steps).status().code(), Code::kExhausted) << held;
  }
}

TEST_F(EngineTest, ASubqueryOfEndlessStepsIsRefusedBeforeItStarts) {
  const auto result = instant("sum_over_time(vector(1)[100y:1ms])", 0);
  EXPECT_EQ(result.status().code(), Code::kExhausted);
  EXPECT_NE(result.status().message().find("bytes"), std::string::npos);
}

// A Queryable whose series each take a second to read.
class SlowData final : public model::Queryable {
 public:
  SlowData(const MemorySeries& data, FakeClock& clock) : data_(data), clock_(clock) {}

  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override {
    class Slow final : public model::SeriesSet {
     public:
      Slow(std::unique_ptr<model::SeriesSet> series, FakeClock& clock)
          : series_(std::move(series)), clock_(clock) {}
      int64_t resolution_ms() const override { return series_->resolution_ms(); }
      std::string_view tier() const override { return series_->tier(); }
      Result<std::unique_ptr<model::SeriesCursor>> next() override {
        clock_.advance(std::chrono::seconds(1));
        return series_->next();
      }

     private:
      std::unique_ptr<model::SeriesSet> series_;
      FakeClock& clock_;
    };
    auto series = TRY(data_.select(matchers, hints, std::move(stop)));
    return std::unique_ptr<model::SeriesSet>(std::make_unique<Slow>(std::move(series), clock_));
  }
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher> matchers,
                                               int64_t start_ms, int64_t end_ms,
                                               std::stop_token stop) const override {
    return data_.label_names(matchers, start_ms, end_ms, std::move(stop));
  }
  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const model::Matcher> matchers,
                                                int64_t start_ms, int64_t end_ms,
                                                std::stop_token stop) const override {
    return data_.label_values(name, matchers, start_ms, end_ms, std::move(stop));
  }

 private:
  const MemorySeries& data_;
  FakeClock& clock_;
};

TEST_F(EngineTest, AQueryThatTakesTooLongEnds) {
  load(1000, {R"(m{a="1"} 1)", R"(m{a="2"} 1)", R"(m{a="3"} 1)"});
  FakeClock clock;
  clock_ = &clock;
  const SlowData slow(data_, clock);
  options_.limits.timeout = std::chrono::seconds(4);
  EXPECT_TRUE(instant(slow, "sum(m)", 0).ok());
  options_.limits.timeout = std::chrono::milliseconds(1500);
  const auto result = instant(slow, "sum(m)", 0);
  EXPECT_EQ(result.status().code(), Code::kExhausted);
  EXPECT_EQ(result.status().message(), "the query needs more than its limit of 1500 ms of time");
}

TEST_F(EngineTest, AQueryCanBeCancelled) {
  load(1000, {"m 1"});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(instant(data_, "m", 0, stop.get_token()).status().code(), Code::kCancelled);
  EXPECT_EQ(instant(data_, "1", 0, stop.get_token()).status().code(), Code::kCancelled);
}

TEST_F(EngineTest, StatisticsSayWhatWasRead) {
  load(1000, {R"(m{a="1"} 0+1x9)", R"(m{a="2"} 0+1x9)"});
  const auto result = instant("sum_over_time(m[5s])", 9000);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().stats.series_read, 2u);
  EXPECT_EQ(result.value().stats.samples_read, 10u);
  EXPECT_EQ(result.value().stats.tiers, std::vector<std::string>{"raw"});
  EXPECT_TRUE(result.value().annotations.all().empty());
}

TEST_F(EngineTest, AnErrorOfTheDataIsTheQuerys) {
  class Broken final : public model::Queryable {
   public:
    Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher>,
                                                     const model::SelectHints&,
                                                     std::stop_token) const override {
      return Status(Code::kIo, "the disk is gone");
    }
    Result<std::vector<std::string>> label_names(std::span<const model::Matcher>, int64_t, int64_t,
                                                 std::stop_token) const override {
      return Status(Code::kIo, "the disk is gone");
    }
    Result<std::vector<std::string>> label_values(std::string_view, std::span<const model::Matcher>,
                                                  int64_t, int64_t,
                                                  std::stop_token) const override {
      return Status(Code::kIo, "the disk is gone");
    }
  };
  for (const std::string_view query :
       {"m", "sum(rate(m[5m]))", "1 + m", "m or m", "m[5m]", "absent(m)", "m[5m:1m]", "scalar(m)",
        "topk(scalar(m), m)", "histogram_quantile(0.5, m)"}) {
    const auto result = instant(Broken(), query, 0);
    EXPECT_EQ(result.status().code(), Code::kIo) << query;
    EXPECT_EQ(result.status().message(), "the disk is gone") << query;
  }
}

}  // namespace
}  // namespace gpusight::promql
