// The window over samples that come in stretches of any size.
#include <gtest/gtest.h>

#include <random>

#include "promql/samples.h"

namespace gpusight::promql {
namespace {

// Hands out one series in stretches, each in memory that is gone with the next.
class Stretches final : public SampleSource {
 public:
  Stretches(std::vector<int64_t> times_ms, std::vector<double> values, size_t stretch)
      : SampleSource(Instants({}, {}, {}), 0),
        times_ms_(std::move(times_ms)),
        values_(std::move(values)),
        stretch_(stretch) {}

  Result<bool> next_series(Row&) override { return true; }
  Result<model::Stretch> next_stretch() override {
    const size_t end = std::min(at_ + stretch_, times_ms_.size());
    now_times_.assign(times_ms_.begin() + static_cast<ptrdiff_t>(at_),
                      times_ms_.begin() + static_cast<ptrdiff_t>(end));
    now_values_.assign(values_.begin() + static_cast<ptrdiff_t>(at_),
                       values_.begin() + static_cast<ptrdiff_t>(end));
    now_times_.shrink_to_fit();
    at_ = end;
    return model::Stretch{.times_ms = now_times_, .values = now_values_};
  }

 private:
  std::vector<int64_t> times_ms_;
  std::vector<double> values_;
  std::vector<int64_t> now_times_;
  std::vector<double> now_values_;
  size_t stretch_;
  size_t at_ = 0;
};

class SlidingWindowTest : public ::testing::Test {
 protected:
  class NoData final : public model::Queryable {
   public:
    Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher>,
                                                     const model::SelectHints&,
                                                     std::stop_token) const override {
      return Status(Code::kNotFound, "nothing");
    }
    Result<std::vector<std::string>> label_names(std::span<const model::Matcher>, int64_t, int64_t,
                                                 std::stop_token) const override {
      return std::vector<std::string>{};
    }
    Result<std::vector<std::string>> label_values(std::string_view, std::span<const model::Matcher>,
                                                  int64_t, int64_t,
                                                  std::stop_token) const override {
      return std::vector<std::string>{};
    }
  };

  NoData data_;
  EngineOptions options_;
  SystemClock clock_;
};

// A window by the definition, sample by sample.
std::vector<double> expected(const std::vector<int64_t>& times, const std::vector<double>& values,
                             int64_t start, int64_t end) {
  std::vector<double> inside;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] > start && times[i] <= end && has_value(values[i])) inside.push_back(values[i]);
  }
  return inside;
}

TEST_F(SlidingWindowTest, HoldsTheSamplesOfEveryWindowWhateverTheStretches) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> times;
    std::vector<double> values;
    int64_t time = 0;
    const bool with_stale = round % 3 == 0;
    const size_t count = random() % 200;
    for (size_t i = 0; i < count; ++i) {
      times.push_back(time += 1 + random() % 20);
      values.push_back(with_stale && random() % 5 == 0 ? no_value() : static_cast<double>(i));
    }
    const int64_t width = 1 + random() % 60;
    const int64_t step = random() % 40;
    Evaluation evaluation(data_, options_, clock_, {}, {});
    Stretches source(times, values, 1 + random() % 70);
    SlidingWindow<double> window(evaluation);
    window.restart();
    for (int64_t i = 0, end = -10; i < 100; ++i, end += step) {
      ASSERT_TRUE(window.move_to(source, end - width, end).ok());
      const std::vector<double> held(window.values().begin(), window.values().end());
      ASSERT_EQ(held, expected(times, values, end - width, end)) << "round " << round;
      ASSERT_EQ(window.times_ms().size(), held.size());
    }
  }
}

TEST_F(SlidingWindowTest, FindsTheFirstTimeAfterABound) {
  const std::vector<int64_t> times = {1, 3, 5, 7, 9, 11, 13};
  for (size_t from = 0; from <= times.size(); ++from) {
    for (int64_t bound = 0; bound < 15; ++bound) {
      size_t want = from;
      while (want < times.size() && times[want] <= bound) ++want;
      EXPECT_EQ(first_after(times, from, bound), want) << from << " " << bound;
    }
  }
}

TEST_F(SlidingWindowTest, WhatItCopiesIsChargedAndGivenBack) {
  options_.limits.max_bytes = 4096;
  Evaluation evaluation(data_, options_, clock_, {}, {});
  std::vector<int64_t> times;
  for (int64_t i = 0; i < 10'000; ++i) times.push_back(i);
  const std::vector<double> values(times.size(), 1.0);
  {
    Stretches source(times, values, 100);
    SlidingWindow<double> narrow(evaluation);
    narrow.restart();
    for (int64_t end = 0; end < 10'000; end += 50) {
      ASSERT_TRUE(narrow.move_to(source, end - 10, end).ok());
    }
  }
  Stretches source(times, values, 100);
  SlidingWindow<double> wide(evaluation);
  wide.restart();
  const Status status = wide.move_to(source, -1, 9'999);
  EXPECT_EQ(status.code(), Code::kExhausted);
}

}  // namespace
}  // namespace gpusight::promql
