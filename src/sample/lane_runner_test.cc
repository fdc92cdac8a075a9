#include "sample/lane_runner.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace gpusight::sample {
namespace {

using std::chrono::milliseconds;

// Waits by itself; what it has to say is up to the test.
class WaitingLane final : public collect::Lane {
 public:
  explicit WaitingLane(std::atomic<int>& polls, bool has_calls)
      : polls_(polls), has_calls_(has_calls) {}
  const collect::LaneInfo& info() const override { return info_; }
  collect::Verdict poll(collect::Report& report) override {
    std::this_thread::sleep_for(milliseconds(1));
    if (has_calls_) report.count_call(milliseconds(1));
    ++polls_;
    return collect::Verdict::kGood;
  }

 private:
  std::atomic<int>& polls_;
  const bool has_calls_;
  const collect::LaneInfo info_{.name = "waits", .cadence = collect::LaneCadence::kEvents};
};

class OneLane final : public collect::Generation {
 public:
  OneLane(std::atomic<int>& polls, bool has_calls)
      : lanes_{std::make_unique<WaitingLane>(polls, has_calls)} {}
  std::span<const model::Device> devices() const override { return {}; }
  std::span<const std::unique_ptr<collect::Lane>> lanes() const override { return lanes_; }

 private:
  std::array<std::unique_ptr<collect::Lane>, 1> lanes_;
};

// How many results lie in the mailbox after the lane was polled at least ten times.
size_t results_of_ten_polls(bool has_calls) {
  SystemClock clock;
  std::atomic<int> polls = 0;
  const auto mailbox = std::make_shared<Mailbox>();
  auto generation = std::make_shared<OneLane>(polls, has_calls);
  const auto runner = LaneRunner::start({.generation = generation,
                                         .lane = generation->lanes()[0].get(),
                                         .mailbox = mailbox,
                                         .clock = &clock});
  while (polls < 10) std::this_thread::sleep_for(milliseconds(1));
  runner->stop();
  while (!runner->is_finished()) std::this_thread::sleep_for(milliseconds(1));
  return mailbox->take().size();
}

TEST(LaneRunner, ALaneThatWaitsFillsTheMailboxOnlyWhenItHasSomethingToSay) {
  EXPECT_EQ(results_of_ten_polls(false), 0u);
  EXPECT_GE(results_of_ten_polls(true), 10u);
}

}  // namespace
}  // namespace gpusight::sample
