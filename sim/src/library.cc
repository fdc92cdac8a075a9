#include "library.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "events.h"

namespace gpusight::sim {
namespace {

constexpr std::int64_t kControlCheckUs = 20000;
constexpr std::uint64_t kHandleMark = 0x5ULL
                                      << 40;  // canonical user space, where nothing is mapped

std::int64_t clock_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void say(const std::string& text) { std::fprintf(stderr, "gpusight-sim: %s\n", text.c_str()); }

// GPUSIGHT_SIM_LATENCY: microseconds that every call takes.
double latency_of_all() {
  const std::string text = environment("GPUSIGHT_SIM_LATENCY");
  if (text.empty()) return 0;
  double microseconds = 0;
  const char* end = text.data() + text.size();
  const bool good = std::from_chars(text.data(), end, microseconds).ptr == end &&
                    microseconds >= 0 && microseconds <= 1e8;
  if (!good) say("GPUSIGHT_SIM_LATENCY: microseconds are wanted, not \"" + text + "\"");
  return good ? microseconds / 1e6 : 0;
}

std::string identity_of(const Fault& fault) {
  std::string text = fault.id + '|' + std::to_string(static_cast<int>(fault.kind)) + '|' +
                     fault.function + '|' + std::to_string(fault.code) + '|' + fault.field + '|' +
                     std::to_string(fault.value) + '|' + std::to_string(fault.seconds) + '|' +
                     fault.bytes + '|' + std::to_string(fault.pid) + '|' +
                     std::to_string(fault.what) + '|' + std::to_string(fault.part) + '|' +
                     std::to_string(fault.amount) + '|' + std::to_string(fault.per_second) + '|' +
                     std::to_string(fault.every) + '|' + std::to_string(fault.times) + '|' +
                     std::to_string(fault.at) + '|' + std::to_string(fault.until);
  for (const unsigned gpu : fault.gpus) text += ',' + std::to_string(gpu);
  return text;
}

LiveFault live(Fault fault, double t) {
  std::string identity = identity_of(fault);
  if (fault.until_is_duration) fault.until += t;
  if (std::isinf(fault.at)) fault.at = t;
  return {std::move(fault), std::make_shared<std::atomic<std::uint64_t>>(0), std::move(identity),
          0};
}

}  // namespace

bool LiveFault::hits_gpu(std::size_t gpu) const {
  return fault.gpus.empty() ||
         std::find(fault.gpus.begin(), fault.gpus.end(), gpu) != fault.gpus.end();
}

bool LiveFault::hits_function(const char* name) const {
  return fault.function == "*" || fnmatch(fault.function.c_str(), name, 0) == 0;
}

Library& library() {
  // Never destroyed: threads of the program may still be inside a call while it exits.
  static Library* const only = new Library;
  return *only;
}

nvmlDevice_t make_handle(const Target& target) {
  const std::uint64_t slot = target.slot ? *target.slot + 1 : 0;
  const std::uint64_t bits =
      kHandleMark | std::uint64_t{target.generation & 0xFFFFF} << 20 | slot << 12 | target.gpu << 4;
  return reinterpret_cast<nvmlDevice_t>(bits);
}

std::optional<Target> read_handle(nvmlDevice_t handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  if (bits >> 40 != kHandleMark >> 40 || (bits & 0xF) != 0) return std::nullopt;
  Target target;
  target.generation = static_cast<unsigned>(bits >> 20 & 0xFFFFF);
  target.gpu = bits >> 4 & 0xFF;
  if (const auto slot = static_cast<unsigned>(bits >> 12 & 0xFF)) target.slot = slot - 1;
  return target;
}

// Loads the scenario when there is none yet, or when the environment names another one.
bool Library::load(std::string* error) {
  const std::string wanted = environment("GPUSIGHT_SIM_SCENARIO");
  if (scenario_ != nullptr && wanted == scenario_source_) return true;
  Parsed<Scenario> parsed = load_scenario(wanted);
  if (!parsed.value) {
    *error = parsed.error;
    return false;
  }
  if (version_key(variant_driver()) != 0 &&
      version_key(parsed.value->driver) > version_key(variant_driver())) {
    parsed.value->driver = variant_driver();
  }
  scenario_ = std::make_shared<const Scenario>(std::move(*parsed.value));
  scenario_source_ = wanted;
  start_clock();
  scenario_faults_.clear();
  for (const Fault& fault : scenario_->faults) {
    LiveFault begun = live(fault, 0);
    begun.fault.at = fault.at;  // active from the very beginning, not from second 0
    scenario_faults_.push_back(std::move(begun));
  }
  control_ = {};
  control_state_.clear();
  latency_seconds_ = latency_of_all();
  rebuild({});
  return true;
}

// Second 0 is now, unless GPUSIGHT_SIM_START names an instant (Unix seconds): processes that share
// it see the same machine at the same time.
void Library::start_clock() {
  const std::int64_t wall = clock_us(CLOCK_REALTIME);
  start_monotonic_us_ = clock_us(CLOCK_MONOTONIC);
  start_wall_us_ = wall - static_cast<std::int64_t>(scenario_->frozen_at.value_or(0) * 1e6);
  const std::string shared = environment("GPUSIGHT_SIM_START");
  double unix_seconds = 0;
  const char* end = shared.data() + shared.size();
  if (!shared.empty() && std::from_chars(shared.data(), end, unix_seconds).ptr == end) {
    start_wall_us_ = static_cast<std::int64_t>(unix_seconds * 1e6);
    start_monotonic_us_ = start_monotonic_us_.load() - (wall - start_wall_us_.load());
  } else if (!shared.empty()) {
    say("GPUSIGHT_SIM_START: seconds of the Unix epoch are wanted, not \"" + shared + "\"");
  }
  if (scenario_->start_unix)
    start_wall_us_ = static_cast<std::int64_t>(*scenario_->start_unix * 1e6);
}

void Library::rebuild(std::vector<LiveFault> control_faults) {
  control_faults_ = std::move(control_faults);
  auto plan = std::make_shared<Plan>();
  plan->scenario = scenario_;
  plan->driver_key = version_key(scenario_->driver);
  plan->fields = field_numbers(plan->driver_key);
  plan->faults = scenario_faults_;
  plan->faults.insert(plan->faults.end(), control_faults_.begin(), control_faults_.end());
  for (const LiveFault& one : plan->faults) {
    if (is_condition(one.fault.kind)) plan->conditions.push_back(one.fault);
  }
  plan->frozen_at = control_.frozen_at ? control_.frozen_at : scenario_->frozen_at;
  plan->offset_seconds = control_.offset_seconds;
  plan->latency_seconds = latency_seconds_;
  plan_ = std::move(plan);
  changed_.notify_all();
}

void Library::rest(const Plan& seen, double seconds) {
  const unsigned session = generation_.load();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] {
    return plan_.get() != &seen || generation_.load() != session || sessions_.load() == 0;
  });
}

double Library::now(const Plan& plan) const {
  if (plan.frozen_at) return *plan.frozen_at;
  const auto passed = clock_us(CLOCK_MONOTONIC) - start_monotonic_us_.load();
  return static_cast<double>(passed) / 1e6 + plan.offset_seconds;
}

std::uint64_t Library::stamp_us(double t) const {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, start_wall_us_.load() + static_cast<std::int64_t>(t * 1e6)));
}

double Library::from_stamp(std::uint64_t stamp) const {
  return static_cast<double>(static_cast<std::int64_t>(stamp) - start_wall_us_.load()) / 1e6;
}

std::shared_ptr<const Plan> Library::plan() {
  const std::int64_t monotonic = clock_us(CLOCK_MONOTONIC);
  const std::lock_guard lock(mutex_);
  if (plan_ != nullptr && monotonic >= next_control_check_us_.load()) {
    next_control_check_us_ = monotonic + kControlCheckUs;
    check_control(now(*plan_));
  }
  return plan_;
}

void Library::check_control(double t) {
  const std::string path = environment("GPUSIGHT_SIM_CONTROL");
  if (path.empty()) return;
  struct stat info {};
  std::string state = path;
  const bool there = stat(path.c_str(), &info) == 0;
  if (there) {
    state += '|' + std::to_string(info.st_ino) + '|' + std::to_string(info.st_size) + '|' +
             std::to_string(info.st_mtim.tv_sec) + '.' + std::to_string(info.st_mtim.tv_nsec);
  }
  if (state == control_state_) return;
  control_state_ = state;
  const std::optional<std::string> text = there ? read_whole_file(path) : std::string();
  if (!text) return say(path + ": cannot be read");
  const Parsed<Control> parsed = parse_control(*text, path, scenario_->gpus.size());
  if (!parsed.value) return say(parsed.error + " (the control file keeps its earlier meaning)");
  apply_control(*parsed.value, t);
}

void Library::apply_control(const Control& control, double t) {
  control_ = control;
  std::vector<LiveFault> faults;
  for (const Fault& fault : control.faults) {
    LiveFault fresh = live(fault, t);
    if (std::isinf(fault.at)) fresh.sessions_before = generation_.load();
    for (const LiveFault& old : control_faults_) {
      if (old.identity == fresh.identity && old.active(t)) fresh = old;
    }
    faults.push_back(std::move(fresh));
  }
  for (LiveFault& old : control_faults_) {
    const bool still = std::any_of(faults.begin(), faults.end(), [&](const LiveFault& fault) {
      return fault.identity == old.identity;
    });
    // What outlasts its line: a lost GPU that needs a new session, handles that a reload has
    // killed, events already under way, and what has been counted.
    const bool lasting = (old.fault.kind == FaultKind::kGpuLost && old.fault.after_reinit) ||
                         old.fault.kind == FaultKind::kDriverReload ||
                         old.fault.kind == FaultKind::kXid || is_counter(old.fault.kind);
    if (still || !lasting) continue;
    old.fault.until = std::min(old.fault.until, t);
    if (!old.identity.starts_with(kEnded)) old.identity.insert(0, kEnded);
    faults.push_back(std::move(old));
  }
  rebuild(std::move(faults));
  if (control.dump_counts) dump_counts();
}

nvmlReturn_t Library::init() {
  const std::lock_guard session(session_mutex_);
  std::string error;
  {
    const std::lock_guard lock(mutex_);
    if (sessions_.load() == 0 && !load(&error)) {
      say(error);
      return NVML_ERROR_UNKNOWN;
    }
  }
  const std::shared_ptr<const Plan> current = plan();
  const double t = now(*current);
  for (const LiveFault& fault : current->faults) {
    if (!fault.active(t)) continue;
    if (fault.fault.kind == FaultKind::kInitFails) {
      const std::uint64_t before = fault.hits->fetch_add(1);
      if (fault.fault.times == 0 || before < fault.fault.times) return fault.fault.code;
    }
    // While a reload is under way there is no driver to talk to.
    if (fault.fault.kind == FaultKind::kDriverReload && !std::isinf(fault.fault.until)) {
      return NVML_ERROR_DRIVER_NOT_LOADED;
    }
  }
  if (sessions_.load() == 0) {
    const std::string folder = environment("GPUSIGHT_SIM_DEVICE_FILES");
    if (!folder.empty() && !device_files_.open(folder, current->scenario->gpus.size())) {
      return NVML_ERROR_NO_PERMISSION;
    }
    session_begin_ = t;
    generation_.fetch_add(1);
  }
  sessions_.fetch_add(1);
  return NVML_SUCCESS;
}

nvmlReturn_t Library::shutdown() {
  const std::lock_guard session(session_mutex_);
  if (sessions_.load() == 0) return NVML_ERROR_UNINITIALIZED;
  if (sessions_.fetch_sub(1) == 1) {
    device_files_.close();
    changed_.notify_all();
    dump_counts();
  }
  return NVML_SUCCESS;
}

std::string Library::scenario_name() {
  const std::lock_guard lock(mutex_);
  return scenario_ == nullptr ? "" : scenario_->name;
}

void Library::restart() {
  const std::lock_guard session(session_mutex_);
  device_files_.close();
  const std::lock_guard lock(mutex_);
  sessions_ = 0;
  scenario_ = nullptr;
  plan_ = nullptr;
  changed_.notify_all();
  control_faults_.clear();
  next_control_check_us_ = 0;
  reset_counts();
  const std::lock_guard events(events_mutex_);
  event_sets_.clear();
  gpm_samples_.clear();
}

}  // namespace gpusight::sim
