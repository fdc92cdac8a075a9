#include "promql/best_heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace gpusight::promql {
namespace {

using Order = BestHeap::Order;
using ::testing::ElementsAre;

std::vector<size_t> best(Order order, size_t size, const std::vector<double>& values) {
  BestHeap heap(order);
  heap.restart(size);
  for (size_t i = 0; i < values.size(); ++i) heap.offer({values[i], i});
  std::vector<size_t> series;
  for (const BestHeap::Entry& entry : heap.sorted()) series.push_back(entry.series);
  return series;
}

TEST(BestHeap, KeepsTheBestInTheirOrder) {
  EXPECT_THAT(best(Order::kGreatestFirst, 3, {1, 5, 2, 9, 4}), ElementsAre(3, 1, 4));
  EXPECT_THAT(best(Order::kLeastFirst, 3, {1, 5, 2, 9, 4}), ElementsAre(0, 2, 4));
  EXPECT_THAT(best(Order::kLeastFirst, 9, {3, 1}), ElementsAre(1, 0));
  EXPECT_THAT(best(Order::kLeastFirst, 0, {3, 1}), ElementsAre());
}

TEST(BestHeap, NanIsLastAndLeavesFirst) {
  const double nan = std::nan("");
  EXPECT_THAT(best(Order::kGreatestFirst, 2, {nan, 1, nan}), ElementsAre(1, 0));
  EXPECT_THAT(best(Order::kLeastFirst, 2, {nan, 7, 8}), ElementsAre(1, 2));
}

TEST(BestHeap, AmongEqualsTheOneOnTopLeaves) {
  EXPECT_THAT(best(Order::kGreatestFirst, 2, {3, 3, 3}), ElementsAre(0, 1));
  EXPECT_THAT(best(Order::kGreatestFirst, 2, {3, 3, 4}), ElementsAre(2, 1));
}

TEST(BestHeap, EverySeriesIsKeptOrGivenBackOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t count = random() % 40;
    const size_t size = random() % 12;
    BestHeap heap(round % 2 == 0 ? Order::kGreatestFirst : Order::kLeastFirst);
    heap.restart(size);
    std::vector<double> values;
    std::vector<bool> out(count);
    for (size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<double>(random() % 9));
      if (const auto series = heap.offer({values[i], i})) out[*series] = true;
    }
    std::vector<double> kept;
    for (const BestHeap::Entry& entry : heap.sorted()) {
      EXPECT_FALSE(out[entry.series]);
      kept.push_back(entry.value);
    }
    EXPECT_EQ(kept.size() + static_cast<size_t>(std::ranges::count(out, true)), count);
    std::ranges::sort(values);
    if (round % 2 == 0) std::ranges::reverse(values);
    values.resize(std::min(size, count));
    EXPECT_EQ(kept, values);
  }
}

}  // namespace
}  // namespace gpusight::promql
