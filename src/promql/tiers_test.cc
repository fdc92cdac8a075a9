// Rolled-up tiers: what is computed from them, what is refused, how far the engine looks back.
#include <cmath>
#include <map>
#include <memory>

#include "promql/engine_test_support.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;

// One series of a counter and a gauge, answered from the tier that `choose` names: rows rolled up
// from samples at every second of [0, 4 h]. It hands out stretches of `stretch` rows.
class TieredData final : public model::Queryable {
 public:
  using Choose = int64_t (*)(const model::SelectHints&);
  explicit TieredData(Choose choose) : choose_(choose) {}

  static double gauge_at(int64_t second) { return static_cast<double>(second * 7 % 101); }
  static double counter_at(int64_t second) { return static_cast<double>(second * 2 % 5000); }

  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token) const override {
    asked_.push_back(hints);
    const int64_t resolution_ms = choose_(hints);
    auto set = std::make_unique<Set>(resolution_ms);
    for (const auto& [name, at] : {Named{"counter_total", counter_at}, Named{"gauge", gauge_at}}) {
      const model::Labels labels = {{"__name__", name}};
      if (!model::matches(labels, matchers)) continue;
      set->cursors.push_back(resolution_ms == 0 ? raw(labels, at, hints)
                                                : rolled(labels, at, hints, resolution_ms));
    }
    return std::unique_ptr<model::SeriesSet>(std::move(set));
  }
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher>, int64_t, int64_t,
                                               std::stop_token) const override {
    return std::vector<std::string>{"__name__"};
  }
  Result<std::vector<std::string>> label_values(std::string_view, std::span<const model::Matcher>,
                                                int64_t, int64_t, std::stop_token) const override {
    return std::vector<std::string>{"counter_total", "gauge"};
  }

  mutable std::vector<model::SelectHints> asked_;

 private:
  static constexpr size_t kStretch = 7;
  using At = double (*)(int64_t);
  struct Named {
    const char* name;
    At at;
  };

  class Cursor final : public model::SeriesCursor {
   public:
    explicit Cursor(model::Labels labels) : labels_(std::move(labels)) {}
    const model::Labels& labels() const override { return labels_; }
    Result<model::Stretch> next() override {
      const size_t count = std::min(kStretch, times_ms.size() - at_);
      model::Stretch stretch{.times_ms = std::span(times_ms).subspan(at_, count)};
      if (rollups.empty()) {
        stretch.values = std::span(values).subspan(at_, count);
      } else {
        stretch.rollups = std::span(rollups).subspan(at_, count);
      }
      at_ += count;
      return stretch;
    }
    std::vector<int64_t> times_ms;
    std::vector<double> values;
    std::vector<model::Rollup> rollups;

   private:
    model::Labels labels_;
    size_t at_ = 0;
  };

  class Set final : public model::SeriesSet {
   public:
    explicit Set(int64_t resolution_ms) : resolution_ms_(resolution_ms) {}
    int64_t resolution_ms() const override { return resolution_ms_; }
    std::string_view tier() const override {
      return resolution_ms_ == 0 ? "raw" : resolution_ms_ == kMinute ? "1m" : "1h";
    }
    Result<std::unique_ptr<model::SeriesCursor>> next() override {
      if (at_ == cursors.size()) return std::unique_ptr<model::SeriesCursor>();
      return std::unique_ptr<model::SeriesCursor>(std::move(cursors[at_++]));
    }
    std::vector<std::unique_ptr<Cursor>> cursors;

   private:
    int64_t resolution_ms_;
    size_t at_ = 0;
  };

  static std::unique_ptr<Cursor> raw(const model::Labels& labels, At at,
                                     const model::SelectHints& hints) {
    auto cursor = std::make_unique<Cursor>(labels);
    for (int64_t time = 0; time <= 4 * kHour; time += kSecond) {
      if (time <= hints.start_ms || time > hints.end_ms) continue;
      cursor->times_ms.push_back(time);
      cursor->values.push_back(at(time / kSecond));
    }
    return cursor;
  }

  static std::unique_ptr<Cursor> rolled(const model::Labels& labels, At at,
                                        const model::SelectHints& hints, int64_t resolution_ms) {
    auto cursor = std::make_unique<Cursor>(labels);
    for (int64_t time = resolution_ms; time <= 4 * kHour; time += resolution_ms) {
      if (time <= hints.start_ms || time > hints.end_ms) continue;
      model::Rollup row{.min = HUGE_VAL, .max = -HUGE_VAL};
      for (int64_t t = time - resolution_ms + kSecond; t <= time; t += kSecond) {
        const double value = at(t / kSecond);
        const double before = at(t / kSecond - 1);
        if (row.count == 0) row.first = value;
        row.last = value;
        row.sum += value;
        row.min = std::min(row.min, value);
        row.max = std::max(row.max, value);
        row.increase += value < before ? value : value - before;
        ++row.count;
      }
      cursor->times_ms.push_back(time);
      cursor->rollups.push_back(row);
    }
    return cursor;
  }

  Choose choose_;
};

constexpr TieredData::Choose kRaw = [](const model::SelectHints&) { return int64_t{0}; };
constexpr TieredData::Choose kMinutes = [](const model::SelectHints&) { return kMinute; };
constexpr TieredData::Choose kHours = [](const model::SelectHints&) { return kHour; };

using TiersTest = EngineTest;

TEST_F(TiersTest, FunctionsThatRowsCanAnswerAgreeWithRawSamples) {
  const TieredData raw(kRaw);
  const TieredData minutes(kMinutes);
  const QueryRange steps{30 * kMinute, 3 * kHour, 15 * kMinute};
  for (const std::string_view query :
       {"avg_over_time(gauge[10m])", "sum_over_time(gauge[10m])", "count_over_time(gauge[10m])",
        "min_over_time(gauge[10m])", "max_over_time(gauge[10m])", "last_over_time(gauge[10m])",
        "rate(counter_total[10m])", "increase(counter_total[10m])", "delta(gauge[10m])",
        "sum(rate(counter_total[10m]))", "gauge"}) {
    const auto want = range(raw, query, steps);
    const auto got = range(minutes, query, steps);
    ASSERT_TRUE(want.ok() && got.ok()) << query << got.status().message();
    const Matrix& a = std::get<Matrix>(want.value().value);
    const Matrix& b = std::get<Matrix>(got.value().value);
    ASSERT_EQ(a.size(), 1u) << query;
    ASSERT_EQ(b.size(), 1u) << query;
    EXPECT_EQ(a[0].labels, b[0].labels) << query;
    ASSERT_EQ(a[0].points.size(), b[0].points.size()) << query;
    for (size_t i = 0; i < a[0].points.size(); ++i) {
      EXPECT_NEAR(b[0].points[i].value, a[0].points[i].value,
                  1e-9 * (1 + std::fabs(a[0].points[i].value)))
          << query << " at " << a[0].points[i].time_ms;
    }
    EXPECT_LT(got.value().stats.samples_read, want.value().stats.samples_read / 30) << query;
  }
}

TEST_F(TiersTest, OtherFunctionsRefuseTheTierByName) {
  const TieredData minutes(kMinutes);
  for (const std::string name : {"stddev_over_time", "changes", "resets", "deriv", "irate",
                                 "idelta", "present_over_time", "absent_over_time"}) {
    const auto result = instant(minutes, name + "(gauge[10m])", kHour);
    EXPECT_EQ(result.status().code(), Code::kUnsupported) << name;
    EXPECT_TRUE(result.status().message().starts_with(
        name + " cannot be computed from samples rolled up to 1m; ask for a shorter range"))
        << result.status().message();
  }
  EXPECT_EQ(instant(minutes, "quantile_over_time(0.5, gauge[10m])", kHour).status().code(),
            Code::kUnsupported);
  EXPECT_EQ(instant(minutes, "predict_linear(gauge[10m], 60)", kHour).status().code(),
            Code::kUnsupported);
  EXPECT_EQ(instant(minutes, "gauge[10m]", kHour).status().code(), Code::kUnsupported);
}

TEST_F(TiersTest, ASubqueryOverATierIsMadeOfItsInstants) {
  const TieredData minutes(kMinutes);
  const auto result = instant(minutes, "stddev_over_time(gauge[10m:1m])", kHour);
  EXPECT_TRUE(result.ok()) << result.status().message();
}

TEST_F(TiersTest, AnInstantIsTheLastValueOfItsRow) {
  const TieredData minutes(kMinutes);
  EXPECT_EQ(lines_of(instant(minutes, "gauge", 90 * kSecond)),
            Lines{"gauge " + number_text(TieredData::gauge_at(60))});
  EXPECT_EQ(lines_of(instant(minutes, "timestamp(gauge)", 90 * kSecond)), Lines{"{} 60"});
}

TEST_F(TiersTest, CoarseTiersAreLookedBackIntoFurther) {
  const TieredData hours(kHours);
  const auto result = instant(hours, "gauge", 4 * kHour + 119 * kMinute);
  EXPECT_EQ(lines_of(result),
            Lines{"gauge " + number_text(TieredData::gauge_at(int64_t{4} * 3600))});
  EXPECT_EQ(lines_of(instant(hours, "gauge", 6 * kHour)), Lines{});
  ASSERT_GE(hours.asked_.size(), 2u);
  EXPECT_EQ(hours.asked_[0].start_ms, 4 * kHour + 119 * kMinute - 5 * kMinute);
  EXPECT_EQ(hours.asked_[1].start_ms, 4 * kHour + 119 * kMinute - 2 * kHour);
}

TEST_F(TiersTest, AnInfoSaysWhichTiersServedUnlessAllWasRaw) {
  const TieredData mixed(
      [](const model::SelectHints& hints) { return hints.range_ms > 0 ? kMinute : int64_t{0}; });
  const std::string_view query = "gauge + on() sum_over_time(gauge[10m])";
  EXPECT_EQ(remarks(instant(mixed, query, kHour), query),
            Lines{"PromQL info: answered from samples at these resolutions: raw, 1m (1:1)"});
  EXPECT_EQ(instant(mixed, query, kHour).value().stats.tiers,
            (std::vector<std::string>{"raw", "1m"}));
  const TieredData raw(kRaw);
  EXPECT_EQ(remarks(instant(raw, query, kHour), query), Lines{});
}

TEST_F(TiersTest, HintsTellWhatWillBeDone) {
  const TieredData raw(kRaw);
  ASSERT_TRUE(range(raw, "sum(rate(gauge[10m] offset 5m))", {kHour, 2 * kHour, kMinute}).ok());
  const model::SelectHints& rate = raw.asked_.back();
  EXPECT_EQ(rate.start_ms, 45 * kMinute);
  EXPECT_EQ(rate.end_ms, 115 * kMinute);
  EXPECT_EQ(rate.step_ms, kMinute);
  EXPECT_EQ(rate.range_ms, 10 * kMinute);
  EXPECT_EQ(rate.function, "rate");

  ASSERT_TRUE(instant(raw, "abs(gauge)", kHour).ok());
  const model::SelectHints& abs = raw.asked_.back();
  EXPECT_EQ(abs.start_ms, 55 * kMinute);
  EXPECT_EQ(abs.end_ms, kHour);
  EXPECT_EQ(abs.step_ms, 0);
  EXPECT_EQ(abs.range_ms, 0);
  EXPECT_EQ(abs.function, "abs");

  ASSERT_TRUE(instant(raw, "max_over_time((gauge + 1)[1h:2m])", kHour).ok());
  EXPECT_EQ(raw.asked_.back().step_ms, 2 * kMinute);
  EXPECT_EQ(raw.asked_.back().function, "");
}

}  // namespace
}  // namespace gpusight::promql
