#include "promql/memory_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace gpusight::promql {
namespace {

using model::equal_matcher;
using testing::ElementsAre;
using testing::IsEmpty;

struct Read {
  model::Labels labels;
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

std::vector<Read> read(const MemorySeries& data, std::vector<model::Matcher> matchers,
                       model::SelectHints hints) {
  std::vector<Read> all;
  const auto set = data.select(matchers, hints, {}).value();
  EXPECT_EQ(set->resolution_ms(), 0);
  EXPECT_EQ(set->tier(), "raw");
  while (const auto cursor = set->next().value()) {
    Read one{.labels = cursor->labels()};
    while (true) {
      const model::Stretch stretch = cursor->next().value();
      if (stretch.times_ms.empty()) break;
      EXPECT_EQ(stretch.times_ms.size(), stretch.values.size());
      EXPECT_TRUE(stretch.rollups.empty());
      one.times_ms.insert(one.times_ms.end(), stretch.times_ms.begin(), stretch.times_ms.end());
      one.values.insert(one.values.end(), stretch.values.begin(), stretch.values.end());
    }
    all.push_back(std::move(one));
  }
  return all;
}

void add(MemorySeries& data, const model::Labels& labels, std::vector<int64_t> times_ms,
         std::vector<double> values) {
  const Status status = data.add(labels, times_ms, values);
  EXPECT_TRUE(status.ok()) << status.message();
}

const model::Labels kUpA = {{"__name__", "up"}, {"job", "a"}};
const model::Labels kUpB = {{"Zone", "z"}, {"__name__", "up"}, {"job", "b"}};
const model::Labels kLoad = {{"__name__", "load"}};
const model::Labels kNameless = {{"job", "a"}};

class MemorySeriesTest : public testing::Test {
 protected:
  MemorySeriesTest() {
    add(data_, kUpA, {0, 10, 20, 30}, {1, 2, 3, 4});
    add(data_, kUpB, {5, 15}, {5, 6});
    add(data_, kLoad, {10}, {7});
    add(data_, kNameless, {10}, {8});
  }
  MemorySeries data_;
};

TEST_F(MemorySeriesTest, GivesSamplesAfterTheStartUpToTheEnd) {
  const auto found = read(data_, {equal_matcher("__name__", "up"), equal_matcher("job", "a")},
                          {.start_ms = 0, .end_ms = 20});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].labels, kUpA);
  EXPECT_THAT(found[0].times_ms, ElementsAre(10, 20));
  EXPECT_THAT(found[0].values, ElementsAre(2, 3));
}

TEST_F(MemorySeriesTest, LeavesOutSeriesWithoutSamplesInTheRange) {
  const auto found = read(data_, {equal_matcher("__name__", "up")}, {.start_ms = 15, .end_ms = 40});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].labels, kUpA);
  EXPECT_THAT(read(data_, {equal_matcher("__name__", "none")}, {.end_ms = 40}), IsEmpty());
}

TEST_F(MemorySeriesTest, GivesSeriesInLabelOrderWithAndWithoutAName) {
  for (const auto& matchers : {std::vector{equal_matcher("__name__", "up")}, {}}) {
    const auto found = read(data_, matchers, {.start_ms = -1, .end_ms = 100});
    EXPECT_EQ(found.size(), matchers.empty() ? 4u : 2u);
    EXPECT_TRUE(std::ranges::is_sorted(found, {}, &Read::labels));
  }
}

TEST_F(MemorySeriesTest, AnEmptyNameMeansSeriesWithoutOne) {
  const auto found = read(data_, {equal_matcher("__name__", "")}, {.start_ms = -1, .end_ms = 100});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].labels, kNameless);
}

TEST_F(MemorySeriesTest, AppendsToWhatASeriesHas) {
  add(data_, kLoad, {11, 12}, {9, 10});
  const auto found = read(data_, {equal_matcher("__name__", "load")}, {.end_ms = 100});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].values, ElementsAre(7, 9, 10));
  EXPECT_EQ(data_.series_count(), 4u);
}

TEST_F(MemorySeriesTest, RefusesTimesThatDoNotRiseAndChangesNothing) {
  const std::vector<std::vector<int64_t>> bad = {{30, 40}, {31, 31}, {50, 40}, {29}};
  for (const auto& times : bad) {
    const std::vector<double> values(times.size(), 1.0);
    EXPECT_EQ(data_.add(kUpA, times, values).code(), Code::kInvalidArgument);
  }
  const std::vector<int64_t> one = {100};
  EXPECT_EQ(data_.add(kUpA, one, {}).code(), Code::kInvalidArgument);
  const auto found = read(data_, {equal_matcher("job", "a"), equal_matcher("__name__", "up")},
                          {.start_ms = -1, .end_ms = 1000});
  EXPECT_THAT(found.at(0).times_ms, ElementsAre(0, 10, 20, 30));
  const std::vector<int64_t> twice = {1, 1};
  const std::vector<double> values = {1, 1};
  EXPECT_FALSE(data_.add({{"__name__", "new"}}, twice, values).ok());
  EXPECT_EQ(data_.series_count(), 4u);
}

TEST_F(MemorySeriesTest, NamesLabelsAndValuesOfSeriesThatHaveSamplesThere) {
  EXPECT_THAT(data_.label_names({}, 0, 100, {}).value(), ElementsAre("Zone", "__name__", "job"));
  EXPECT_THAT(data_.label_names({}, 30, 100, {}).value(), ElementsAre("__name__", "job"));
  EXPECT_THAT(data_.label_values("job", {}, 0, 100, {}).value(), ElementsAre("a", "b"));
  EXPECT_THAT(data_.label_values("job", {}, 16, 100, {}).value(), ElementsAre("a"));
  EXPECT_THAT(data_.label_values("none", {}, 0, 100, {}).value(), IsEmpty());
}

TEST_F(MemorySeriesTest, IsEmptyAfterClear) {
  data_.clear();
  EXPECT_EQ(data_.series_count(), 0u);
  EXPECT_THAT(read(data_, {}, {.start_ms = -1, .end_ms = 100}), IsEmpty());
  add(data_, kUpA, {0}, {1});
  EXPECT_EQ(data_.series_count(), 1u);
}

TEST_F(MemorySeriesTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(data_.select({}, {.end_ms = 1}, stop.get_token()).status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace gpusight::promql
