// The clock of gpusight: once a tick it asks every lane, waits a short while for what has arrived,
// builds the one Snapshot, feeds history and publishes.
//
// Threads: start(), stop() and read_once() are called by the owner. Between them one thread ticks;
// the lanes and sources have theirs. Nothing here ever waits for a driver longer than the tick's
// deadline.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collect/source.h"
#include "sample/board.h"
#include "sample/hub.h"
#include "sample/source_runner.h"
#include "store/event_log.h"
#include "store/head.h"

namespace gpusight::sample {

class Sampler {
 public:
  struct Options {
    const Clock* clock = nullptr;  // outlives the process's lanes
    Duration interval = std::chrono::seconds(1);
    std::string host_name;
    std::vector<std::unique_ptr<collect::Source>> sources;
    SnapshotHub* hub = nullptr;
    store::EventLog* events = nullptr;  // these may be nullptr
    store::Head* head = nullptr;
    std::vector<model::Device> expected;  // the persisted inventory
    catalog::MetricSet disabled;          // what nobody wants of the devices and the host
    // Completes a snapshot before anybody sees it: whose its processes are, what they tell. Called
    // once a tick on the sampling thread, must not wait. May be empty.
    std::function<void(model::Snapshot&)> complete;
    // Called on the sampling thread after publication. May be empty.
    std::function<void(const model::SnapshotPtr&)> after_tick;
  };

  explicit Sampler(Options options);
  ~Sampler();

  void start();  // opens the sources and ticks until stopped

  // One tick now, on the caller's thread: for those who own the time (tests, one-shot reading).
  // Waits at most `patience` for the lanes asked.
  void tick(Duration patience);
  Duration deadline() const;  // min(100 ms, half a tick)

  void open_sources();  // without ticking; start() does it too
  // Every source's first opening has come to an end, well or not.
  bool are_sources_opened() const;

  // For commands that read once: waits until every source was opened and every lane has answered,
  // at most `patience`, then `settle` longer and once more if settle is not zero.
  model::SnapshotPtr read_once(Duration settle, Duration patience);

  // Lets go of every device for so long, counted from now; zero takes them back. Any thread.
  // Returns at once and tells until when: what comes of it stands in the status of the sources.
  WallTime release(Duration how_long);

  // True when every thread has ended. False after `patience`: some are stuck in a driver and still
  // hold the clock and what the sources were made from, so the process must leave by _exit.
  bool stop(Duration patience);

 private:
  void run(const std::stop_token& stop);
  void trigger_lanes(const Now& now);
  void publish();
  void collect_results(const Now& now);
  void note_pending();
  void append_events(const model::SnapshotPtr& snapshot);
  void notice_clock_jump(const Now& now);
  Now now() const { return {options_.clock->mono(), options_.clock->wall()}; }

  Options options_;
  Board board_;
  const std::shared_ptr<ReleaseSwitch> release_ = std::make_shared<ReleaseSwitch>();
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::vector<std::shared_ptr<SourceRunner>> sources_;
  std::vector<std::vector<std::shared_ptr<LaneRunner>>> lanes_;  // by source, as of this tick
  std::map<std::string, MonoTime> slow_due_;                     // by lane
  std::optional<Now> previous_;
  model::SnapshotPtr published_;  // the last one; nullptr before the first
  std::jthread thread_;
};

}  // namespace gpusight::sample
