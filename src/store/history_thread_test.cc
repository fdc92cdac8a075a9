// Queries, figures and checks from other threads while history is written, merged and rolled up.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/history_test_util.h"

namespace gpusight::store {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(HistoryThreads, EachQuerySeesEverySampleUpToSomeMoment) {
  History::Options options;
  options.commit_interval = minutes(1);
  // Time flies here: ten minutes pass between two steps of a query.
  RecordedMachine machine(options, std::chrono::hours(10));
  std::atomic<int64_t> published_ms{machine.celsius(0, seconds(15))};
  const int64_t first_ms = published_ms;
  std::atomic<bool> is_over{false};
  const auto read = [&] {
    while (!is_over) {
      const int64_t at_least_ms = published_ms;
      const Points points = machine.points();
      ASSERT_FALSE(points.empty());
      EXPECT_EQ(points.front().time_ms, first_ms);
      EXPECT_GE(points.back().time_ms, at_least_ms);
      for (size_t i = 1; i < points.size(); ++i) {
        ASSERT_EQ(points[i].time_ms, points[i - 1].time_ms + 15'000);
      }
    }
  };
  std::thread reader(read);
  std::thread looker([&] {
    while (!is_over) {
      EXPECT_TRUE(machine.history->stats().recording.ok());
      EXPECT_TRUE(machine.history->check().ok());
    }
  });
  for (int i = 0; i < 1200; ++i) published_ms = machine.celsius(i % 50, seconds(15));
  is_over = true;
  reader.join();
  looker.join();
  machine.restart();
  EXPECT_EQ(machine.points().size(), 1201U);
}

TEST(HistoryThreads, AQueryThatIsReadSlowlySeesWhatWasThereWhenItBegan) {
  RecordedMachine machine;
  for (int i = 0; i < 100; ++i) machine.celsius(i);
  machine.settle();
  const auto set = machine.history->queryable().select({}, {.end_ms = INT64_MAX}, {});
  ASSERT_TRUE(set.ok());
  // Its chunks are merged away and history goes on for hours.
  for (int i = 0; i < 700; ++i) machine.celsius(i % 40, seconds(30));
  machine.settle();
  EXPECT_EQ(read_set(**set).begin()->second.size(), 100U);
}

TEST(HistoryThreads, ACancelledQueryLetsGoOfItsView) {
  RecordedMachine machine;
  for (int i = 0; i < 30; ++i) machine.celsius(i);
  machine.settle();
  std::stop_source stop;
  const auto set = machine.history->queryable().select({}, {.end_ms = INT64_MAX}, stop.get_token());
  ASSERT_TRUE(set.ok());
  stop.request_stop();
  EXPECT_EQ((*set)->next().status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace gpusight::store
