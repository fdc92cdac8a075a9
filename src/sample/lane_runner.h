// Runs one lane of a source on a thread of its own, so that a driver that does not answer blocks
// nothing else.
//
// The thread owns (by shared_ptr) everything it touches. stop() never waits: a thread that is
// inside a stuck call stays there, and its generation with it, until the call returns or the
// process leaves.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/annotations.h"
#include "base/clock.h"
#include "collect/source.h"

namespace gpusight::sample {

struct LaneResult {
  size_t source = 0;        // place in the sampler's list of sources
  uint64_t generation = 0;  // number of the generation within its source
  std::string lane;
  collect::LaneCadence cadence = collect::LaneCadence::kFast;
  collect::Report report;
  collect::Verdict verdict = collect::Verdict::kGood;
  Duration took{};
};

// Where lanes put what they found. Thread-safe. Bounded: beyond the limit results are dropped and
// counted, which happens only when nobody takes them.
class Mailbox {
 public:
  // `settled` runs under the mailbox's lock, so that who waits here sees result and lane state
  // change together.
  void put(LaneResult result, const std::function<void()>& settled) EXCLUDES(mutex_);
  void settle(const std::function<void()>& settled) EXCLUDES(mutex_);  // a change without a result
  std::vector<LaneResult> take() EXCLUDES(mutex_);
  // Waits in real time until no lane is out (of that cadence, or any) or `patience` has passed. The
  // last lane to answer wakes the one that waits, not every lane. One thread waits at a time.
  void wait(Duration patience, std::optional<collect::LaneCadence> cadence) EXCLUDES(mutex_);
  // A lane is out from when it was asked until its result lies here. Lanes keep count themselves.
  void count_out(collect::LaneCadence cadence, int change) { out_[place(cadence)] += change; }
  bool is_any_out(std::optional<collect::LaneCadence> cadence) const;
  uint64_t dropped() const EXCLUDES(mutex_);

 private:
  static size_t place(collect::LaneCadence cadence) { return static_cast<size_t>(cadence); }

  static constexpr size_t kLimit = 4096;
  mutable Mutex mutex_;
  std::condition_variable_any arrived_;
  std::vector<LaneResult> results_ GUARDED_BY(mutex_);
  uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  std::optional<collect::LaneCadence> awaited_ GUARDED_BY(mutex_);  // nullopt: every lane
  std::array<std::atomic<int>, 3> out_{};                           // by cadence
};

class LaneRunner {
 public:
  struct Options {
    std::shared_ptr<collect::Generation> generation;  // keeps `lane` alive
    collect::Lane* lane = nullptr;
    std::shared_ptr<Mailbox> mailbox;
    const Clock* clock = nullptr;  // outlives the process's lanes
    size_t source = 0;
    uint64_t generation_number = 0;
    model::SourceNumber source_number = 0;
  };

  // Starts the thread. A lane of cadence kEvents polls without being triggered.
  static std::shared_ptr<LaneRunner> start(Options options);

  const collect::LaneInfo& info() const;
  uint64_t generation() const;  // the number of its generation
  // Asks for one poll; nothing happens while the previous one is still running.
  void trigger();
  // True from trigger() until its result lies in the mailbox.
  bool is_pending() const;
  // How long the running poll has taken so far; zero when none runs.
  Duration running_for(MonoTime now) const;
  // The lane's device is lost: no more polls, the thread stays until stop().
  void retire();
  void stop();
  // The thread is gone and holds nothing any more.
  bool is_finished() const;

 private:
  struct Core;
  explicit LaneRunner(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  static void run(const std::shared_ptr<Core>& core);

  std::shared_ptr<Core> core_;
};

}  // namespace gpusight::sample
