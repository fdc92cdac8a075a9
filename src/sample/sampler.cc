#include "sample/sampler.h"

#include <pthread.h>

#include <algorithm>
#include <cmath>

#include "sample/self_usage.h"

namespace gpusight::sample {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A wall clock that moves this much against the monotonic one has been set, not disciplined.
constexpr Duration kClockJump = seconds(1);

// The process in a device's list; nullptr if it is not there.
const model::Process* find_process(const model::SnapshotPtr& snapshot, const std::string& uuid,
                                   int64_t pid) {
  if (snapshot == nullptr) return nullptr;
  for (const model::DeviceSnapshot& device : snapshot->devices) {
    if (device.device->uuid != uuid) continue;
    const auto at = std::ranges::find(device.processes, pid, &model::Process::pid);
    return at == device.processes.end() ? nullptr : &*at;
  }
  return nullptr;
}

// Whose process came or went: those who may see it are told by that.
void add_owner(model::Event& event, const model::Owner& owner) {
  if (owner.uid) event.fields.emplace_back("uid", std::to_string(*owner.uid));
  if (!owner.user.empty()) event.fields.emplace_back("user", owner.user);
  if (!owner.command.empty()) event.fields.emplace_back("name", owner.command);
}

}  // namespace

Sampler::Sampler(Options options)
    : options_(std::move(options)),
      board_({.interval = options_.interval,
              .host_name = options_.host_name,
              .disabled = options_.disabled}) {
  board_.expect(options_.expected, now());
}

Sampler::~Sampler() { stop(seconds(3)); }

Duration Sampler::deadline() const {
  return std::min<Duration>(milliseconds(100), options_.interval / 2);
}

void Sampler::open_sources() {
  for (auto& source : options_.sources) {
    const size_t place = sources_.size();
    board_.add_source(place, std::string(source->name()), source->declares());
    sources_.push_back(
        SourceRunner::start({.source = std::move(source),
                             .mailbox = mailbox_,
                             .clock = options_.clock,
                             .release = release_,
                             .place = place,
                             .number = static_cast<model::SourceNumber>(place + 1)}));
  }
  options_.sources.clear();
}

WallTime Sampler::release(Duration how_long) {
  const Now at = now();
  const Release release{.until = at.mono + how_long, .until_wall = at.wall + how_long};
  release_->set(how_long > Duration::zero() ? std::optional(release) : std::nullopt);
  return release.until_wall;
}

bool Sampler::are_sources_opened() const {
  return std::ranges::all_of(sources_, [](const auto& source) { return source->is_opened(); });
}

void Sampler::start() {
  open_sources();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "sample");
    run(stop);
  });
}

void Sampler::run(const std::stop_token& stop) {
  MonoTime next = options_.clock->mono();
  while (!stop.stop_requested()) {
    tick(deadline());
    next += options_.interval;
    // After a suspended laptop or a stopped process: go on from here, do not catch up.
    const MonoTime time = options_.clock->mono();
    if (time > next + options_.interval) next = time;
    if (!options_.clock->sleep_until(next, stop)) break;
  }
}

void Sampler::trigger_lanes(const Now& now) {
  lanes_.clear();
  for (size_t place = 0; place < sources_.size(); ++place) {
    const auto& source = sources_[place];
    // Lanes before news: those of a generation that the board does not know yet wait a tick.
    lanes_.push_back(source->lanes());
    board_.apply_news(place, source->take_news(), now);
    source->report_idle(board_.idle_for(place, now));
    for (const auto& lane : lanes_.back()) {
      if (lane->info().cadence == collect::LaneCadence::kEvents) continue;
      if (lane->info().cadence == collect::LaneCadence::kSlow) {
        MonoTime& due = slow_due_[lane->info().name];
        if (now.mono < due) continue;
        due = now.mono + kSlowPeriod;
      }
      lane->trigger();
    }
  }
}

void Sampler::collect_results(const Now& now) {
  for (LaneResult& result : mailbox_->take()) {
    const auto& source = sources_[result.source];
    if (result.verdict != collect::Verdict::kGood) {
      source->report_loss(result.generation, result.verdict);
    }
    if (result.verdict == collect::Verdict::kDeviceLost) {
      for (const auto& lane : lanes_[result.source]) {
        // A late word of a closed generation is not about the lane that has its name now.
        const bool is_its_own = lane->generation() == result.generation;
        if (is_its_own && lane->info().name == result.lane) lane->retire();
      }
    }
    board_.apply_result(std::move(result), now);
  }
}

void Sampler::note_pending() {
  for (size_t place = 0; place < lanes_.size(); ++place) {
    std::set<std::string> uuids;
    for (const auto& lane : lanes_[place]) {
      if (lane->info().cadence != collect::LaneCadence::kFast || !lane->is_pending()) continue;
      uuids.insert(lane->info().uuids.begin(), lane->info().uuids.end());
    }
    board_.set_pending(place, std::move(uuids));
  }
}

void Sampler::notice_clock_jump(const Now& now) {
  if (previous_ && options_.events != nullptr) {
    const Duration jump = (now.wall - previous_->wall) - (now.mono - previous_->mono);
    if (std::chrono::abs(jump) > kClockJump) {
      options_.events->append(
          {.wall = now.wall,
           .mono = now.mono,
           .kind = catalog::EventKind::kClockJump,
           .severity = catalog::Severity::kWarning,
           .arguments = {std::to_string(std::llround(gpusight::seconds(jump)))}});
    }
  }
  previous_ = now;
}

void Sampler::tick(Duration patience) {
  trigger_lanes(now());
  mailbox_->wait(patience, collect::LaneCadence::kFast);
  publish();
}

void Sampler::publish() {
  const bool late = mailbox_->is_any_out(collect::LaneCadence::kFast);
  const Now at = now();
  notice_clock_jump(at);
  collect_results(at);
  note_pending();

  Board::SelfReadings self = read_self_usage();
  self.dropped_samples =
      mailbox_->dropped() +
      (options_.head ? options_.head->refused_series() + options_.head->dropped_samples() : 0);
  const auto snapshot = std::make_shared<model::Snapshot>(board_.build(at, self, late));
  if (options_.complete) options_.complete(*snapshot);
  append_events(snapshot);
  published_ = snapshot;
  if (options_.head != nullptr) options_.head->append(*snapshot);
  if (options_.hub != nullptr) options_.hub->publish(snapshot);
  if (options_.after_tick) options_.after_tick(snapshot);
}

void Sampler::append_events(const model::SnapshotPtr& snapshot) {
  for (model::Event& event : board_.take_events()) {
    const bool is_exit = event.kind == catalog::EventKind::kProcessExit;
    if (is_exit || event.kind == catalog::EventKind::kProcessStart) {
      // Of one that is gone the last snapshot knows.
      const model::Process* process =
          find_process(is_exit ? published_ : snapshot, event.uuid, event.code);
      if (process != nullptr) add_owner(event, process->owner);
    }
    if (options_.events != nullptr) options_.events->append(std::move(event));
  }
}

model::SnapshotPtr Sampler::read_once(Duration settle, Duration patience) {
  if (sources_.empty()) open_sources();
  const MonoTime give_up = options_.clock->mono() + patience;
  while (!are_sources_opened() && options_.clock->mono() < give_up) {
    options_.clock->sleep_until(options_.clock->mono() + milliseconds(2), {});
  }
  trigger_lanes(now());
  mailbox_->wait(std::max<Duration>(give_up - options_.clock->mono(), deadline()), std::nullopt);
  if (settle > Duration::zero()) {
    options_.clock->sleep_until(options_.clock->mono() + settle, {});
    trigger_lanes(now());
    mailbox_->wait(seconds(1), std::nullopt);
  }
  publish();
  return options_.hub->latest();
}

bool Sampler::stop(Duration patience) {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  for (const auto& source : sources_) source->stop();
  const auto finished = [&] {
    return std::ranges::all_of(sources_, [](const auto& source) { return source->is_finished(); });
  };
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (!finished() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return finished();
}

}  // namespace gpusight::sample
