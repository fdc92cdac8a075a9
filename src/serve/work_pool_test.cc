#include "serve/work_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>

namespace gpusight::serve {
namespace {

using std::chrono::seconds;

// A job that runs until it is told to end, or asked to stop.
class Gate {
 public:
  WorkPool::Job job() {
    return [this](const std::stop_token& stop) {
      ++begun_;
      while (!open_ && !stop.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++(stop.stop_requested() ? stopped_ : done_);
    };
  }
  void open() { open_ = true; }
  bool wait_begun(int count) const {
    return eventually([&] { return begun_ == count; });
  }
  bool wait_done(int count) const {
    return eventually([&] { return done_ == count; });
  }
  int begun() const { return begun_; }
  int stopped() const { return stopped_; }

 private:
  template <typename Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 10000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
  }
  std::atomic<bool> open_ = false;
  std::atomic<int> begun_ = 0;
  std::atomic<int> done_ = 0;
  std::atomic<int> stopped_ = 0;
};

TEST(WorkPool, RunsAtLowPriorityAndLeavesTheCallersAlone) {
  std::promise<int> nice;
  WorkPool pool({.threads = 1, .niceness = 7});
  const int before = ::getpriority(PRIO_PROCESS, 0);
  ASSERT_TRUE(pool.submit([&](const std::stop_token&) {
    nice.set_value(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())));
  }));
  EXPECT_EQ(nice.get_future().get(), std::max(before, 7));
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
}

TEST(WorkPool, TakesNoMoreThanRunAndWait) {
  Gate gate;
  WorkPool pool({.threads = 2, .waiting = 3});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.submit(gate.job())) << i;
  EXPECT_TRUE(gate.wait_begun(2));
  EXPECT_FALSE(pool.submit(gate.job()));
  gate.open();
  EXPECT_TRUE(gate.wait_done(5));
  EXPECT_TRUE(pool.submit(gate.job()));
  EXPECT_TRUE(gate.wait_done(6));
}

TEST(WorkPool, AJobThatNobodyWantsIsNotRunAndMakesRoom) {
  Gate gate;
  WorkPool pool({.threads = 1, .waiting = 1});
  auto running = pool.submit(gate.job());
  ASSERT_TRUE(gate.wait_begun(1));
  auto waiting = pool.submit(gate.job());
  ASSERT_TRUE(running && waiting);
  ASSERT_FALSE(pool.submit(gate.job()));
  waiting->request_stop();
  ASSERT_TRUE(pool.submit(gate.job()));
  gate.open();
  EXPECT_TRUE(gate.wait_done(2));
  EXPECT_EQ(gate.begun(), 2);
}

TEST(WorkPool, StoppingAsksWhatRunsAndDropsWhatWaits) {
  Gate gate;
  WorkPool pool({.threads = 2, .waiting = 3});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pool.submit(gate.job()));
  ASSERT_TRUE(gate.wait_begun(2));
  pool.stop();
  EXPECT_TRUE(pool.wait_until_idle(seconds(10)));
  EXPECT_EQ(gate.begun(), 2);
  EXPECT_EQ(gate.stopped(), 2);
  EXPECT_FALSE(pool.submit(gate.job()));
}

TEST(WorkPool, SaysThatAJobIsStuck) {
  std::latch release(1);
  std::latch begun(1);
  WorkPool pool({.threads = 1});
  ASSERT_TRUE(pool.submit([&](const std::stop_token&) {
    begun.count_down();
    release.wait();
  }));
  begun.wait();
  pool.stop();
  EXPECT_FALSE(pool.wait_until_idle(std::chrono::milliseconds(5)));
  release.count_down();
  EXPECT_TRUE(pool.wait_until_idle(seconds(10)));
}

}  // namespace
}  // namespace gpusight::serve
