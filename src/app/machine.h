// Puts together what reads this machine: the sources of the registry, owners, history, the sampler.
//
// One per process. Everything lives until the Machine is destroyed; when stop() returned false some
// thread is stuck in a driver and still uses it, so the process must leave by _exit instead.
#pragma once

#include <memory>
#include <string>

#include "attribute/framework_notes.h"
#include "attribute/job_maps.h"
#include "attribute/process_table.h"
#include "base/clock.h"
#include "collect/source.h"
#include "config/config.h"
#include "sample/hub.h"
#include "sample/sampler.h"
#include "store/event_log.h"
#include "store/head.h"
#include "store/history.h"
#include "store/inventory.h"

namespace gpusight::app {

// Where the readings come from.
struct Origin {
  std::string root = "/";
  std::string nvml_path;  // empty: the usual places
  Duration interval = std::chrono::seconds(1);
  collect::Pace pace = collect::Pace::kSpread;
  catalog::MetricSet disabled = {};
  std::string job_map_dir = {};  // as attribute::JobMaps takes it
};

Origin origin_of(const config::Config& config);

class Machine {
 public:
  // `inventory` may be nullptr: then nothing is expected and nothing remembered.
  Machine(const Origin& origin, store::Inventory* inventory);

  // Every tick and event from now on goes there too; before start(). It outlives what stop() stops.
  void record(store::History& history);
  void start() { sampler_.start(); }
  model::SnapshotPtr read_once(Duration settle) { return sampler_.read_once(settle, kPatience); }
  WallTime release(Duration how_long) { return sampler_.release(how_long); }
  bool stop(Duration patience) { return sampler_.stop(patience); }

  const Clock& clock() const { return clock_; }
  sample::SnapshotHub& hub() { return hub_; }
  store::EventLog& events() { return events_; }
  store::Head& head() { return head_; }
  attribute::FrameworkNotes& notes() { return notes_; }

 private:
  // What one-shot commands wait for a driver to wake up: without persistence that takes seconds.
  static constexpr Duration kPatience = std::chrono::seconds(20);

  sample::Sampler::Options sampler_options(const Origin& origin);

  SystemClock clock_;
  sample::SnapshotHub hub_;
  store::EventLog events_;
  store::Head head_;
  store::Inventory* inventory_;
  store::History* history_ = nullptr;
  attribute::ProcessTable processes_;
  attribute::JobMaps jobs_;
  attribute::FrameworkNotes notes_;
  sample::Sampler sampler_;
};

}  // namespace gpusight::app
