#include "store/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gpusight::store {
namespace {

using catalog::EventKind;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

WallTime at(int second) { return WallTime(seconds(1'735'000'000 + second)); }

model::Event event(int second, EventKind kind = EventKind::kXid, std::string uuid = "GPU-a") {
  return {.wall = at(second), .kind = kind, .uuid = std::move(uuid), .code = second};
}

std::vector<uint64_t> ids(const std::vector<model::Event>& events) {
  std::vector<uint64_t> ids;
  for (const model::Event& e : events) ids.push_back(e.id);
  return ids;
}

TEST(EventLog, GivesIdsThatGrowByOneFromOne) {
  EventLog log;
  EXPECT_EQ(log.append(event(1)).id, 1u);
  EXPECT_EQ(log.append(event(2)).id, 2u);
  model::Event named = event(3);
  named.id = 99;  // not the caller's to give
  EXPECT_EQ(log.append(named).id, 3u);
  EXPECT_THAT(ids(log.find({})), ElementsAre(1, 2, 3));
}

TEST(EventLog, IdsGoOnAfterThoseOfEarlierRuns) {
  EventLog log(3);
  std::vector<model::Event> earlier;
  for (const uint64_t id : {5, 6, 9}) {
    earlier.push_back(event(1));
    earlier.back().id = id;
  }
  log.restore(earlier);
  EXPECT_EQ(log.append(event(2)).id, 10u);
  EXPECT_THAT(ids(log.find({})), ElementsAre(6, 9, 10));
}

TEST(EventLog, KeepsAllThatAnEventSays) {
  EventLog log;
  model::Event full = event(7);
  full.severity = catalog::Severity::kError;
  full.fields = {{"pid", "4711"}};
  full.arguments = {"79", "gpu has fallen off the bus"};
  log.append(full);
  const std::vector<model::Event> found = log.find({});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fields, full.fields);
  EXPECT_EQ(found[0].arguments, full.arguments);
  EXPECT_EQ(found[0].severity, full.severity);
  EXPECT_EQ(found[0].wall, full.wall);
}

TEST(EventLog, FiltersByTimeBothEndsIncludedByKindByDeviceAndByAllAtOnce) {
  EventLog log;
  log.append(event(1));
  log.append(event(2, EventKind::kDeviceLost));
  log.append(event(3, EventKind::kXid, "GPU-b"));
  log.append(event(4, EventKind::kDaemonStart, ""));
  EXPECT_THAT(ids(log.find({.from = at(2), .to = at(3)})), ElementsAre(2, 3));
  EXPECT_THAT(ids(log.find({.from = at(4)})), ElementsAre(4));
  EXPECT_THAT(ids(log.find({.to = at(1)})), ElementsAre(1));
  EXPECT_THAT(ids(log.find({.kind = EventKind::kXid})), ElementsAre(1, 3));
  EXPECT_THAT(ids(log.find({.uuid = "GPU-a"})), ElementsAre(1, 2));
  EXPECT_THAT(ids(log.find({.after_id = 2})), ElementsAre(3, 4));
  EXPECT_THAT(log.find({.after_id = 4}), IsEmpty());
  EXPECT_THAT(ids(log.find({.from = at(2), .kind = EventKind::kXid, .after_id = 1})),
              ElementsAre(3));
  EXPECT_THAT(log.find({.from = at(3), .to = at(2)}), IsEmpty());
}

TEST(EventLog, LimitGivesTheNewestThatMatchOldestFirst) {
  EventLog log;
  for (int i = 1; i <= 10; ++i) {
    log.append(event(i, i % 2 == 0 ? EventKind::kXid : EventKind::kProcessStart));
  }
  EXPECT_THAT(ids(log.find({.limit = 3})), ElementsAre(8, 9, 10));
  EXPECT_THAT(ids(log.find({.kind = EventKind::kXid, .limit = 2})), ElementsAre(8, 10));
  EXPECT_THAT(log.find({.limit = 0}), IsEmpty());
}

TEST(EventLog, FindsEventsWhoseWallClockWentBack) {
  EventLog log;
  log.append(event(100));
  log.append(event(5, EventKind::kClockJump, ""));
  log.append(event(101));
  EXPECT_THAT(ids(log.find({.from = at(100)})), ElementsAre(1, 3));
  EXPECT_THAT(ids(log.find({.to = at(50)})), ElementsAre(2));
}

TEST(EventLog, ForgetsTheOldestWhenFullAndCountsThem) {
  EventLog log(3);
  for (int i = 1; i <= 5; ++i) log.append(event(i));
  EXPECT_THAT(ids(log.find({})), ElementsAre(3, 4, 5));
  EXPECT_EQ(log.forgotten(), 2u);
  EXPECT_THAT(ids(log.find({.after_id = 1})), ElementsAre(3, 4, 5));
}

TEST(EventLog, ListenersHearEachEventWithItsIdUntilTheyUnsubscribe) {
  EventLog log;
  std::vector<uint64_t> heard;
  std::vector<uint64_t> also;
  const uint64_t one = log.subscribe([&](const model::Event& e) { heard.push_back(e.id); });
  log.subscribe([&](const model::Event& e) { also.push_back(e.id); });
  log.append(event(1));
  log.append(event(2));
  log.unsubscribe(one);
  log.unsubscribe(12345);  // nobody: nothing happens
  log.append(event(3));
  EXPECT_THAT(heard, ElementsAre(1, 2));
  EXPECT_THAT(also, ElementsAre(1, 2, 3));
}

TEST(EventLog, AListenerMayReadTheLog) {
  EventLog log;
  size_t seen = 0;
  log.subscribe([&](const model::Event&) { seen = log.find({}).size(); });
  log.append(event(1));
  EXPECT_EQ(seen, 1u);
}

TEST(EventLog, ManyThreadsAppendAndListenersHearThemInOrder) {
  EventLog log(500);
  std::vector<uint64_t> heard;  // written under the log's own order
  log.subscribe([&](const model::Event& e) { heard.push_back(e.id); });
  std::atomic<bool> is_done{false};
  std::thread reader([&] {
    while (!is_done) {
      const std::vector<uint64_t> found = ids(log.find({.limit = 50}));
      ASSERT_TRUE(std::ranges::is_sorted(found));
    }
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 400; ++i) log.append(event(i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  is_done = true;
  reader.join();
  ASSERT_EQ(heard.size(), 1200u);
  for (size_t i = 0; i < heard.size(); ++i) ASSERT_EQ(heard[i], i + 1);
  EXPECT_EQ(log.forgotten(), 700u);
}

TEST(EventLog, NobodyIsCalledOnceUnsubscribeReturned) {
  EventLog log;
  std::atomic<bool> is_done{false};
  std::thread writer([&] {
    while (!is_done) log.append(event(1));
  });
  for (int i = 0; i < 200; ++i) {
    auto alive = std::make_unique<std::atomic<int>>(0);
    const uint64_t id = log.subscribe([&alive](const model::Event&) { ++*alive; });
    log.unsubscribe(id);
    alive.reset();
  }
  is_done = true;
  writer.join();
}

}  // namespace
}  // namespace gpusight::store
