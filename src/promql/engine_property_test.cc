// What holds for every query: whatever the order of series, the number of steps, the partition.
#include <cmath>
#include <random>

#include "promql/engine_test_support.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kStepMs = 15'000;
constexpr int64_t kSamples = 80;

struct RandomSeries {
  model::Labels labels;
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

// Counters with resets, gauges, gaps, stale markers, NaN; names m_total and n.
std::vector<RandomSeries> random_series(std::mt19937& random) {
  std::vector<RandomSeries> all;
  for (const char* name : {"m_total", "n"}) {
    for (int i = 0; i < 6; ++i) {
      RandomSeries series{
          .labels = {{"__name__", name}, {"a", std::to_string(i % 2)}, {"b", std::to_string(i)}}};
      double value = 0;
      for (int64_t k = 0; k < kSamples; ++k) {
        if (random() % 10 == 0) continue;
        value = random() % 15 == 0 ? 0 : value + static_cast<double>(random() % 50);
        const bool stale = random() % 25 == 0;
        series.times_ms.push_back(k * kStepMs + static_cast<int64_t>(random() % 5000));
        series.values.push_back(stale ? model::stale_marker() : value);
      }
      all.push_back(std::move(series));
    }
  }
  return all;
}

void fill(MemorySeries& data, const std::vector<RandomSeries>& all) {
  for (const RandomSeries& series : all) {
    ASSERT_TRUE(data.add(series.labels, series.times_ms, series.values).ok());
  }
}

const std::vector<std::string>& queries() {
  static const std::vector<std::string> kQueries = {
      "m_total",
      "rate(m_total[2m])",
      "increase(m_total[90s] offset 30s)",
      "sum by (a) (rate(m_total[1m]))",
      "avg without (b) (n)",
      "stddev(n)",
      "topk by (a) (2, n)",
      "quantile by (a) (0.3, n)",
      R"(count_values("v", n))",
      "m_total / on(a, b) n",
      "n * on(a) group_left sum by (a) (m_total)",
      "m_total > bool on(a, b) n",
      "(n > 100) or m_total",
      "m_total and on(b) (n > 50)",
      "n unless on(b) (m_total > 200)",
      "max_over_time(rate(m_total[1m])[3m:20s])",
      "min_over_time(n[2m:])",
      "quantile_over_time(0.5, n[2m])",
      "last_over_time(n[1m])",
      "absent(n > 100)",
      R"(absent_over_time(n{b="1"}[20s]))",
      R"q(label_replace(n, "c", "$1", "b", "(.*)"))q",
      "timestamp(n)",
      "clamp(-n, -100, 5 + scalar(count(n)))",
      "n @ 600 - n",
      "predict_linear(n[3m] @ 600, 60)",
      "vector(time()) + on() group_right n",
      "histogram_quantile(0.5, label_join(sum by (b) (n), \"le\", \"\", \"b\"))",
      "sum(n) > 500 and on() vector(1)",
      "2 ^ minute() % 7",
      "minute(n * 100)",
  };
  return kQueries;
}

class EnginePropertyTest : public EngineTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    std::mt19937 random(static_cast<uint32_t>(GetParam()));
    series_ = random_series(random);
    fill(data_, series_);
  }
  static constexpr QueryRange kRange{300'000, 1'200'000, 45'000};

  std::vector<RandomSeries> series_;
};

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b ||
         std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b));
}

std::map<std::pair<model::Labels, int64_t>, double> points_of(const Matrix& matrix) {
  std::map<std::pair<model::Labels, int64_t>, double> points;
  for (const Series& series : matrix) {
    for (const Point& point : series.points) points[{series.labels, point.time_ms}] = point.value;
  }
  return points;
}

TEST_P(EnginePropertyTest, AnInstantIsAStepOfTheRange) {
  for (const std::string& query : queries()) {
    const auto whole = range(query, kRange);
    ASSERT_TRUE(whole.ok()) << query << ": " << whole.status().message();
    const auto points = points_of(std::get<Matrix>(whole.value().value));
    size_t seen = 0;
    for (int64_t t = kRange.start_ms; t <= kRange.end_ms; t += kRange.step_ms) {
      const auto one = instant(query, t);
      ASSERT_TRUE(one.ok()) << query << ": " << one.status().message();
      for (const Sample& sample : std::get<Vector>(one.value().value)) {
        const auto at = points.find({sample.labels, t});
        ASSERT_NE(at, points.end()) << query << " " << print_labels(sample.labels) << " @" << t;
        EXPECT_TRUE(same(at->second, sample.point.value)) << query << " @" << t;
        ++seen;
      }
    }
    EXPECT_EQ(seen, points.size()) << query;
  }
}

// A Queryable that hands out the series in another order than that of their labels.
class Shuffled final : public model::Queryable {
 public:
  Shuffled(const MemorySeries& data, uint32_t seed) : data_(data), seed_(seed) {}
  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override {
    struct Set final : model::SeriesSet {
      int64_t resolution_ms() const override { return 0; }
      std::string_view tier() const override { return "raw"; }
      Result<std::unique_ptr<model::SeriesCursor>> next() override {
        if (cursors.empty()) return std::unique_ptr<model::SeriesCursor>();
        auto last = std::move(cursors.back());
        cursors.pop_back();
        return last;
      }
      std::vector<std::unique_ptr<model::SeriesCursor>> cursors;
    };
    const auto all = TRY(data_.select(matchers, hints, std::move(stop)));
    auto set = std::make_unique<Set>();
    while (auto cursor = TRY(all->next())) set->cursors.push_back(std::move(cursor));
    std::shuffle(set->cursors.begin(), set->cursors.end(), std::mt19937(seed_));
    return std::unique_ptr<model::SeriesSet>(std::move(set));
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
  uint32_t seed_;
};

TEST_P(EnginePropertyTest, TheOrderOfSeriesDoesNotMatter) {
  for (const std::string& query : queries()) {
    if (query.starts_with("topk")) continue;  // among equals it is the order that decides
    const auto want = range(query, kRange);
    const auto got = range(Shuffled(data_, static_cast<uint32_t>(GetParam())), query, kRange);
    ASSERT_TRUE(want.ok() && got.ok()) << query << ": " << got.status().message();
    const Matrix& a = std::get<Matrix>(want.value().value);
    const Matrix& b = std::get<Matrix>(got.value().value);
    ASSERT_EQ(a.size(), b.size()) << query;
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].labels, b[i].labels) << query;
      ASSERT_EQ(a[i].points.size(), b[i].points.size()) << query;
      for (size_t k = 0; k < a[i].points.size(); ++k) {
        EXPECT_TRUE(same(a[i].points[k].value, b[i].points[k].value)) << query;
      }
    }
  }
}

TEST_P(EnginePropertyTest, ASumIsTheSumOfItsParts) {
  for (const std::string_view inner :
       {"n", "m_total", "rate(m_total[2m])", "count_over_time(n[1m])"}) {
    for (const std::string_view by : {"by (a)", "by (b)", "without (a)", "by (a, b)"}) {
      const std::string parts = fmt::format("sum(sum {} ({}))", by, inner);
      const auto whole = range(fmt::format("sum({})", inner), kRange);
      const auto joined = range(parts, kRange);
      ASSERT_TRUE(whole.ok() && joined.ok());
      const auto want = points_of(std::get<Matrix>(whole.value().value));
      const auto got = points_of(std::get<Matrix>(joined.value().value));
      ASSERT_EQ(want.size(), got.size()) << parts;
      for (const auto& [place, value] : want) EXPECT_TRUE(same(value, got.at(place))) << parts;
    }
  }
}

TEST_P(EnginePropertyTest, DelayedAndImmediateNameRemovalAgreeWhereNoNameIsNeeded) {
  EngineOptions delayed;
  delayed.name_removal = NameRemoval::kDelayed;
  for (const std::string& query : queries()) {
    const auto want = range(query, kRange);
    options_ = delayed;
    const auto got = range(query, kRange);
    options_ = {};
    ASSERT_TRUE(want.ok() && got.ok()) << query << ": " << got.status().message();
    EXPECT_EQ(lines_of(got), lines_of(want)) << query;
  }
}

TEST_P(EnginePropertyTest, AnIncreaseOverResetsIsThatOfTheUnbrokenCounter) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  std::vector<int64_t> times_ms;
  std::vector<double> broken;
  std::vector<double> unbroken;
  double total = 1000;
  double since_reset = 1000;
  for (int64_t k = 0; k < 200; ++k) {
    const auto gained = static_cast<double>(1 + random() % 9);
    const bool reset = random() % 20 == 0;
    since_reset = reset ? gained : since_reset + gained;
    total += gained;
    times_ms.push_back(k * kStepMs);
    broken.push_back(since_reset);
    unbroken.push_back(total);
  }
  ASSERT_TRUE(data_.add({{"__name__", "broken_total"}}, times_ms, broken).ok());
  ASSERT_TRUE(data_.add({{"__name__", "unbroken_total"}}, times_ms, unbroken).ok());
  // Windows that begin and end on a sample less one step: extrapolation reaches both edges, and
  // only stops short where the counter would fall below zero, that is, just after a reset.
  const QueryRange steps{600'000, 2'900'000, 100'000};
  const auto got = range("increase(broken_total[5m])", steps);
  const auto want = range("increase(unbroken_total[5m])", steps);
  const Matrix& a = std::get<Matrix>(got.value().value);
  const Matrix& b = std::get<Matrix>(want.value().value);
  ASSERT_EQ(a.size(), 1u);
  ASSERT_EQ(a[0].points.size(), b[0].points.size());
  for (size_t i = 0; i < a[0].points.size(); ++i) {
    EXPECT_LE(a[0].points[i].value, b[0].points[i].value * (1 + 1e-12));
    EXPECT_GE(a[0].points[i].value, b[0].points[i].value * 0.9);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EnginePropertyTest, ::testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace gpusight::promql
