#include "sample/lane_runner.h"

#include <pthread.h>

#include <thread>

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
  }
  arrived_.notify_all();
}

void Mailbox::settle(const std::function<void()>& settled) {
  {
    MutexLock lock(mutex_);
    settled();
  }
  arrived_.notify_all();
}

std::vector<LaneResult> Mailbox::take() {
  MutexLock lock(mutex_);
  return std::exchange(results_, {});
}

void Mailbox::wait(Duration patience, const std::function<bool()>& done) NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mutex_);
  arrived_.wait_for(lock, patience, done);
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
      pending = wanted;
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
    core->pending = false;
    core->finished = true;
  });
}

const collect::LaneInfo& LaneRunner::info() const { return core_->info; }

void LaneRunner::trigger() {
  {
    MutexLock lock(core_->mutex);
    if (core_->pending || core_->retired || core_->stopping) return;
    core_->wanted = true;
    core_->pending = true;
  }
  core_->wake.notify_one();
}

bool LaneRunner::is_pending() const {
  MutexLock lock(core_->mutex);
  return core_->pending && !core_->retired;
}

Duration LaneRunner::running_for(MonoTime now) const {
  MutexLock lock(core_->mutex);
  return core_->running ? now - core_->running_since : Duration::zero();
}

void LaneRunner::retire() {
  core_->options.mailbox->settle([this] {
    MutexLock lock(core_->mutex);
    core_->retired = true;
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
