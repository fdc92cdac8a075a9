#include "sample/lane_runner.h"

#include <pthread.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace gpusight::sample {

void Mailbox::put(LaneResult result, const std::function<void()>& settled) {
  {
    MutexLock lock(mutex_);
    settled();
    if (results_.size() >= kLimit) {
      ++dropped_;
    } else {
      results_.push_back(std::move(result));
    }
    if (is_any_out(awaited_)) return;
  }
  arrived_.notify_all();
}

void Mailbox::settle(const std::function<void()>& settled) {
  {
    MutexLock lock(mutex_);
    settled();
    if (is_any_out(awaited_)) return;
  }
  arrived_.notify_all();
}

bool Mailbox::is_any_out(std::optional<collect::LaneCadence> cadence) const {
  if (cadence) return out_[place(*cadence)] > 0;
  return std::ranges::any_of(out_, [](const auto& lanes) { return lanes > 0; });
}

std::vector<LaneResult> Mailbox::take() {
  MutexLock lock(mutex_);
  return std::exchange(results_, {});
}

void Mailbox::wait(Duration patience,
                   std::optional<collect::LaneCadence> cadence) NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mutex_);
  awaited_ = cadence;
  arrived_.wait_for(lock, patience, [&] { return !is_any_out(cadence); });
}

uint64_t Mailbox::dropped() const {
  MutexLock lock(mutex_);
  return dropped_;
}

namespace {

// A lane that waits by itself comes back empty again and again, however long the ticks are.
bool says_nothing(LaneResult& result) {
  return result.cadence == collect::LaneCadence::kEvents &&
         result.verdict == collect::Verdict::kGood && result.report.subjects().empty() &&
         result.report.events().empty() && result.report.calls() == 0;
}

}  // namespace

struct LaneRunner::Core {
  explicit Core(Options o) : options(std::move(o)), info(options.lane->info()) {}

  Options options;
  const collect::LaneInfo info;  // a copy: readable after the generation is gone
  mutable Mutex mutex;
  std::condition_variable_any wake;
  bool wanted GUARDED_BY(mutex) = false;   // a poll is asked for
  bool pending GUARDED_BY(mutex) = false;  // asked for, and its result not in the mailbox
  bool running GUARDED_BY(mutex) = false;
  MonoTime running_since GUARDED_BY(mutex){};
  bool retired GUARDED_BY(mutex) = false;
  bool stopping GUARDED_BY(mutex) = false;
  bool finished GUARDED_BY(mutex) = false;

  void set_pending(bool is_pending) REQUIRES(mutex) {
    if (std::exchange(pending, is_pending) == is_pending) return;
    options.mailbox->count_out(info.cadence, is_pending ? 1 : -1);
  }

  // Waits until there is something to do; false when the thread should end.
  bool await_work() NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex);
    const bool is_events = info.cadence == collect::LaneCadence::kEvents;
    wake.wait(lock, [&] { return stopping || (!retired && (wanted || is_events)); });
    if (stopping) return false;
    wanted = false;
    running = true;
    running_since = options.clock->mono();
    return true;
  }

  void poll_once() {
    LaneResult result{.source = options.source,
                      .generation = options.generation_number,
                      .lane = info.name,
                      .cadence = info.cadence,
                      .report = collect::Report(*options.clock, options.source_number)};
    const MonoTime before = options.clock->mono();
    result.verdict = options.lane->poll(result.report);
    result.took = options.clock->mono() - before;
    const auto settled = [this] {
      MutexLock lock(mutex);
      running = false;
      set_pending(wanted);
    };
    if (says_nothing(result)) return options.mailbox->settle(settled);
    options.mailbox->put(std::move(result), settled);
  }
};

std::shared_ptr<LaneRunner> LaneRunner::start(Options options) {
  auto core = std::make_shared<Core>(std::move(options));
  std::thread([core] { run(core); }).detach();
  return std::shared_ptr<LaneRunner>(new LaneRunner(core));
}

void LaneRunner::run(const std::shared_ptr<Core>& core) {
  pthread_setname_np(pthread_self(), core->info.name.substr(0, 15).c_str());
  while (core->await_work()) core->poll_once();
  core->options.lane = nullptr;
  core->options.generation.reset();
  core->options.mailbox->settle([&core] {
    MutexLock lock(core->mutex);
    core->set_pending(false);
    core->finished = true;
  });
}

const collect::LaneInfo& LaneRunner::info() const { return core_->info; }
uint64_t LaneRunner::generation() const { return core_->options.generation_number; }

void LaneRunner::trigger() {
  {
    MutexLock lock(core_->mutex);
    if (core_->pending || core_->retired || core_->stopping) return;
    core_->wanted = true;
    core_->set_pending(true);
  }
  core_->wake.notify_one();
}

bool LaneRunner::is_pending() const {
  MutexLock lock(core_->mutex);
  return core_->pending;
}

Duration LaneRunner::running_for(MonoTime now) const {
  MutexLock lock(core_->mutex);
  return core_->running ? now - core_->running_since : Duration::zero();
}

void LaneRunner::retire() {
  core_->options.mailbox->settle([this] {
    MutexLock lock(core_->mutex);
    core_->retired = true;
    core_->set_pending(false);
  });
}

void LaneRunner::stop() {
  {
    MutexLock lock(core_->mutex);
    core_->stopping = true;
  }
  core_->wake.notify_one();
}

bool LaneRunner::is_finished() const {
  MutexLock lock(core_->mutex);
  return core_->finished;
}

}  // namespace gpusight::sample
