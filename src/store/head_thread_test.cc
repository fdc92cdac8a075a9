// One writer, many readers; worth most under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/head_shape.h"
#include "store/head_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;

// Two series of one group carry the same number in each tick: a reader that sees them differ has
// seen half a tick.
TEST(HeadThreads, ReadersSeeWholeTicksWhileTheWriterGoesOn) {
  Head head;
  std::atomic<bool> is_done{false};
  std::atomic<int> rounds{0};
  std::thread writer([&] {
    Ticks ticks;
    // Blocks age out several times over while readers read.
    for (int i = 0; i < 2000 || (rounds < 30 && i < 10'000'000); ++i) {
      model::Snapshot& snapshot = ticks.next();
      const double number = (i * 31) % 100;
      ticks.device("GPU-a") = {{MetricId::kGpuTemperature, "", ticks.fresh(number)},
                               {MetricId::kGpuMemoryTemperature, "", ticks.fresh(number)}};
      head.append(snapshot);
    }
    is_done = true;
  });
  std::vector<std::thread> readers;
  readers.reserve(3);
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      while (!is_done) {
        if (reader == 0) {
          for (const HeadGroup& group : head.groups()) {
            ASSERT_EQ(group.series.size(), 2u);
            ASSERT_EQ(group.series[0].values, group.series[1].values);
          }
        } else {
          const Series all = read(head);
          ASSERT_TRUE(all.empty() || all.size() == 2);
          if (!all.empty()) {
            ASSERT_EQ(all.begin()->second, all.rbegin()->second);
          }
        }
        ASSERT_TRUE(head.label_values("uuid", {}, 0, INT64_MAX, {}).ok());
        ASSERT_LE(head.footprint().series, 2u);
        ++rounds;
      }
    });
  }
  writer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_GE(rounds, 30);
}

}  // namespace
}  // namespace gpusight::store
