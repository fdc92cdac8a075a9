// Opens a source, keeps its lanes running, and opens it again when it broke, woke up or was let go.
//
// All of it happens on one control thread per source, which may hang in a driver: nobody waits for
// it. A generation is closed only when none of its lanes is inside a call; while one is stuck, the
// others go on and opening again waits, and the status says so.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "collect/source.h"
#include "sample/lane_runner.h"
#include "sample/release.h"

namespace gpusight::sample {

// What changed about a source since it was last asked.
struct SourceNews {
  model::SourceStatus status;
  uint64_t generation = 0;  // 0 before the first opening
  bool opened = false;      // once a generation: `devices` are its own; else there are none
  std::vector<model::Device> devices;
  std::vector<std::pair<model::Device, model::DeviceState>> untouched;
};

class SourceRunner {
 public:
  struct Options {
    std::unique_ptr<collect::Source> source;
    std::shared_ptr<Mailbox> mailbox;
    const Clock* clock = nullptr;
    std::shared_ptr<const ReleaseSwitch> release;  // nullptr: never let go of on purpose
    size_t place = 0;                              // in the sampler's list
    model::SourceNumber number = 0;
  };

  static std::shared_ptr<SourceRunner> start(Options options);

  std::string_view name() const;
  std::span<const catalog::MetricId> declares() const;

  // The state of the source now; `opened` is true once per generation.
  SourceNews take_news();
  std::vector<std::shared_ptr<LaneRunner>> lanes() const;
  // A lane of this generation said that its device or its generation is gone.
  void report_loss(uint64_t generation, collect::Verdict verdict);
  // How long the source's devices have shown no work.
  void report_idle(Duration idle_for);
  // The first opening has come to an end, well or not, and its lanes can be asked.
  bool is_opened() const;

  void stop();
  bool is_finished() const;  // control thread and all lane threads are gone

 private:
  struct Core;
  explicit SourceRunner(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  std::shared_ptr<Core> core_;
};

}  // namespace gpusight::sample
