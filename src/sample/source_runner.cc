#include "sample/source_runner.h"

#include <pthread.h>

#include <algorithm>
#include <thread>

#include "base/log.h"

namespace gpusight::sample {
namespace {

using std::chrono::seconds;

constexpr Duration kWatchPeriod = seconds(1);
constexpr Duration kLongestPause = seconds(60);
constexpr Duration kMaybeStuckAfter = std::chrono::milliseconds(200);
constexpr Duration kStuckAfter = seconds(2);
// A lost device has fallen off the bus or is being reset: trying again at once helps nobody, and
// every opening disturbs the devices that are well.
constexpr Duration kFirstPauseAfterDeviceLoss = seconds(5);
constexpr Duration kFirstPauseAfterGenerationLoss = seconds(1);
// A generation that stood this long was well: pauses start short again.
constexpr Duration kWellAfter = seconds(120);

void set_stuck(model::SourceStatus& status, Duration stuck_for) {
  status.phase = model::SourcePhase::kStuck;
  status.message = catalog::MessageId::kSourceStuck;
  status.arguments = {std::to_string(std::chrono::duration_cast<seconds>(stuck_for).count())};
}

}  // namespace

struct SourceRunner::Core {
  explicit Core(Options o)
      : options(std::move(o)),
        declared(options.source->declares().begin(), options.source->declares().end()) {
    news.status.name = std::string(options.source->name());
  }

  Options options;
  const std::vector<catalog::MetricId> declared;
  std::stop_source stop;

  // Control thread only.
  std::shared_ptr<collect::Generation> generation;
  MonoTime opened_at{};
  Duration pause{};
  uint64_t next_number = 1;           // of a generation
  std::vector<model::Device> closed;  // of the generation closed last; told once, if on purpose
  std::string said;                   // the last log line, said again only when it changes

  mutable Mutex mutex;
  SourceNews news GUARDED_BY(mutex);
  std::vector<std::shared_ptr<LaneRunner>> lanes GUARDED_BY(mutex);
  std::optional<collect::Verdict> loss GUARDED_BY(mutex);
  Duration idle_for GUARDED_BY(mutex){};
  std::optional<MonoTime> in_call_since GUARDED_BY(mutex);  // opening or closing, which may hang
  bool finished GUARDED_BY(mutex) = false;

  void open();
  std::vector<std::shared_ptr<LaneRunner>> start_lanes(uint64_t number) const;
  // True when all lane threads are gone and the generation is closed; false when asked to stop
  // first.
  bool close();
  void control_loop();
  void leave();  // the last that the control thread does
  // False when asked to stop meanwhile.
  bool sleep(Duration how_long) {
    return options.clock->sleep_until(options.clock->mono() + how_long, stop.get_token());
  }
  void set_in_call_since(std::optional<MonoTime> since);
  void say_status() REQUIRES(mutex);
  void renew_after_loss(collect::Verdict verdict);
  std::optional<Release> release_wanted() const;
  bool stay_released();
  void say_released(catalog::MessageId message, std::vector<std::string> arguments);
  bool let_go(collect::Wish wish);
  void say_stuck(Duration stuck_for);
  std::optional<collect::Verdict> take_loss();
  Duration longest_run() const;
  bool lanes_finished() const;
};

void SourceRunner::Core::open() {
  set_in_call_since(options.clock->mono());
  {
    MutexLock lock(mutex);
    // From now on devices are held again, however long opening takes.
    if (news.status.phase == model::SourcePhase::kReleased) {
      news.status.phase = model::SourcePhase::kStarting;
      news.status.message = catalog::MessageId::kSourceStarting;
      news.status.arguments.clear();
    }
  }
  collect::Opened opened = options.source->open();
  opened_at = options.clock->mono();
  closed.clear();
  generation = std::move(opened.generation);
  std::vector<std::shared_ptr<LaneRunner>> started;
  if (generation) started = start_lanes(next_number);
  // All at once: who sees that the source was opened finds its lanes.
  MutexLock lock(mutex);
  lanes = std::move(started);
  news.generation = next_number++;
  news.status = std::move(opened.status);
  news.opened = true;
  news.untouched = std::move(opened.untouched);
  news.devices.clear();
  if (generation) {
    news.devices.assign(generation->devices().begin(), generation->devices().end());
  }
  loss.reset();
  idle_for = {};
  in_call_since.reset();
  say_status();
}

void SourceRunner::Core::set_in_call_since(std::optional<MonoTime> since) {
  MutexLock lock(mutex);
  in_call_since = since;
}

void SourceRunner::Core::say_status() {
  std::string text =
      catalog::format_message(news.status.message, catalog::Lang::kEnglish, news.status.arguments);
  if (text == said) return;
  // A machine without a GPU, or with one that sleeps, is nothing to warn of.
  const bool well = news.status.phase != model::SourcePhase::kDegraded;
  log::write(well ? log::Level::kInfo : log::Level::kWarning, news.status.name + ": " + text);
  said = std::move(text);
}

std::vector<std::shared_ptr<LaneRunner>> SourceRunner::Core::start_lanes(uint64_t number) const {
  std::vector<std::shared_ptr<LaneRunner>> started;
  for (const auto& lane : generation->lanes()) {
    started.push_back(LaneRunner::start({.generation = generation,
                                         .lane = lane.get(),
                                         .mailbox = options.mailbox,
                                         .clock = options.clock,
                                         .source = options.place,
                                         .generation_number = number,
                                         .source_number = options.number}));
  }
  return started;
}

bool SourceRunner::Core::lanes_finished() const {
  MutexLock lock(mutex);
  return std::ranges::all_of(lanes, [](const auto& lane) { return lane->is_finished(); });
}

Duration SourceRunner::Core::longest_run() const {
  MutexLock lock(mutex);
  Duration longest{};
  for (const auto& lane : lanes) {
    if (lane->info().cadence == collect::LaneCadence::kEvents) continue;  // it waits, by design
    longest = std::max(longest, lane->running_for(options.clock->mono()));
  }
  return longest;
}

void SourceRunner::Core::say_stuck(Duration stuck_for) {
  MutexLock lock(mutex);
  set_stuck(news.status, stuck_for);
}

bool SourceRunner::Core::close() {
  // The lanes that are well are polled on for as long as another may be stuck.
  while (longest_run() > kMaybeStuckAfter) {
    if (longest_run() > kStuckAfter) say_stuck(longest_run());
    if (!sleep(kMaybeStuckAfter)) return false;
  }
  {
    MutexLock lock(mutex);
    for (const auto& lane : lanes) lane->stop();
  }
  while (!lanes_finished()) {
    if (longest_run() > kStuckAfter) say_stuck(longest_run());
    if (!sleep(std::chrono::milliseconds(20))) return false;
  }
  {
    MutexLock lock(mutex);
    lanes.clear();
  }
  if (generation) {
    const std::span<const model::Device> devices = generation->devices();
    closed.assign(devices.begin(), devices.end());
  }
  set_in_call_since(options.clock->mono());
  generation.reset();
  set_in_call_since(std::nullopt);
  return true;
}

std::optional<collect::Verdict> SourceRunner::Core::take_loss() {
  MutexLock lock(mutex);
  return std::exchange(loss, std::nullopt);
}

void SourceRunner::Core::renew_after_loss(collect::Verdict verdict) {
  const bool whole = verdict == collect::Verdict::kGenerationLost;
  const Duration first = whole ? kFirstPauseAfterGenerationLoss : kFirstPauseAfterDeviceLoss;
  const bool was_well = options.clock->mono() - opened_at > kWellAfter;
  pause = was_well || pause == Duration::zero() ? first : std::min(pause * 2, kLongestPause);
  // The devices that are well are read on during the pause; dead handles are not.
  if (whole && !close()) return;
  for (Duration left = pause; left > Duration::zero(); left -= kWatchPeriod) {
    if (!sleep(std::min(left, kWatchPeriod))) return;
    if (release_wanted()) return;
    if (!whole && take_loss() == collect::Verdict::kGenerationLost) break;
  }
  if (!whole && !close()) return;
  open();
}

std::optional<Release> SourceRunner::Core::release_wanted() const {
  if (options.release == nullptr || !options.source->holds_devices()) return std::nullopt;
  return options.release->wanted(options.clock->mono());
}

void SourceRunner::Core::say_released(catalog::MessageId message,
                                      std::vector<std::string> arguments) {
  MutexLock lock(mutex);
  for (model::Device& device : std::exchange(closed, {})) {
    // What is a part of a GPU is as its GPU is.
    if (device.parent.empty()) {
      news.untouched.emplace_back(std::move(device), model::DeviceState::kReleased);
    }
  }
  news.status.phase = model::SourcePhase::kReleased;
  news.status.message = message;
  news.status.arguments = std::move(arguments);
  say_status();
}

// As long as it is wanted that the devices are let go of. False when asked to stop meanwhile.
bool SourceRunner::Core::stay_released() {
  if (generation && !close()) return false;
  while (const auto release = release_wanted()) {
    say_released(catalog::MessageId::kSourceReleased, {utc_text(release->until_wall)});
    if (!sleep(kWatchPeriod)) return false;
  }
  open();
  return true;
}

// The source wants its devices closed, and knows itself when to open them again. False when asked
// to stop meanwhile.
bool SourceRunner::Core::let_go(collect::Wish wish) {
  if (!close()) return false;
  closed.clear();  // the source itself says what has become of them
  if (wish == collect::Wish::kLetGo) {
    say_released(catalog::MessageId::kSourceUnbound, {});
    return true;
  }
  MutexLock lock(mutex);
  news.status.phase = model::SourcePhase::kAsleep;
  news.status.message = catalog::MessageId::kSourceReleasedForSleep;
  news.status.arguments.clear();
  return true;
}

void SourceRunner::Core::control_loop() {
  open();
  while (sleep(kWatchPeriod)) {
    if (release_wanted()) {
      if (!stay_released()) break;
      continue;
    }
    if (const auto verdict = take_loss()) {
      renew_after_loss(*verdict);
      continue;
    }
    collect::Activity activity{.is_open = generation != nullptr};
    {
      MutexLock lock(mutex);
      activity.idle_for = idle_for;
    }
    const collect::Wish wish = options.source->watch(activity);
    auto untouched = options.source->untouched();
    {
      MutexLock lock(mutex);
      news.untouched = std::move(untouched);
    }
    if (wish == collect::Wish::kOpen) {
      if (generation && !close()) break;
      open();
    } else if (wish != collect::Wish::kStay && generation) {
      if (!let_go(wish)) break;
    }
  }
}

void SourceRunner::Core::leave() {
  {
    MutexLock lock(mutex);
    for (const auto& lane : lanes) lane->stop();
  }
  // Not under the lock: closing may hang in the driver, and others ask whether we have finished.
  generation.reset();
  MutexLock lock(mutex);
  finished = true;
}

std::shared_ptr<SourceRunner> SourceRunner::start(Options options) {
  auto core = std::make_shared<Core>(std::move(options));
  std::thread([core] {
    pthread_setname_np(pthread_self(), "source");
    core->control_loop();
    core->leave();
  }).detach();
  return std::shared_ptr<SourceRunner>(new SourceRunner(core));
}

std::string_view SourceRunner::name() const { return core_->options.source->name(); }
std::span<const catalog::MetricId> SourceRunner::declares() const { return core_->declared; }

SourceNews SourceRunner::take_news() {
  MutexLock lock(core_->mutex);
  SourceNews& known = core_->news;
  SourceNews news{.status = known.status,
                  .generation = known.generation,
                  .opened = std::exchange(known.opened, false),
                  .untouched = known.untouched};
  if (news.opened) news.devices = std::move(known.devices);
  // The control thread cannot say so itself. The first opening may take long: it says "starting".
  if (core_->in_call_since && news.generation > 0) {
    const Duration in_call_for = core_->options.clock->mono() - *core_->in_call_since;
    if (in_call_for > kStuckAfter) set_stuck(news.status, in_call_for);
  }
  return news;
}

std::vector<std::shared_ptr<LaneRunner>> SourceRunner::lanes() const {
  MutexLock lock(core_->mutex);
  return core_->lanes;
}

void SourceRunner::report_loss(uint64_t generation, collect::Verdict verdict) {
  MutexLock lock(core_->mutex);
  if (generation != core_->news.generation) return;  // of a generation that is gone already
  const bool graver = verdict == collect::Verdict::kGenerationLost || !core_->loss;
  if (graver) core_->loss = verdict;
}

void SourceRunner::report_idle(Duration idle_for) {
  MutexLock lock(core_->mutex);
  core_->idle_for = idle_for;
}

bool SourceRunner::is_opened() const {
  MutexLock lock(core_->mutex);
  return core_->news.generation > 0;
}

void SourceRunner::stop() {
  core_->stop.request_stop();
  MutexLock lock(core_->mutex);
  for (const auto& lane : core_->lanes) lane->stop();
}

bool SourceRunner::is_finished() const {
  MutexLock lock(core_->mutex);
  return core_->finished &&
         std::ranges::all_of(core_->lanes, [](const auto& lane) { return lane->is_finished(); });
}

}  // namespace gpusight::sample
