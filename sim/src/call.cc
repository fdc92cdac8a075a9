#include "call.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "unsupported.h"

namespace gpusight::sim {
namespace {

constexpr double kPauseStepSeconds = 0.01;

void sleep_for(double seconds) {
  timespec rest{};
  rest.tv_sec = static_cast<time_t>(seconds);
  rest.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
  while (nanosleep(&rest, &rest) != 0) {
  }
}

// Some drivers' start-up grows with how many files the process may open.
double latency_of(const Fault& fault) {
  if (fault.per_second <= 0) return fault.seconds;
  rlimit files{};
  const bool known = getrlimit(RLIMIT_NOFILE, &files) == 0;
  return fault.seconds + (known ? static_cast<double>(files.rlim_cur) * fault.per_second : 0);
}

bool has_prefix(const std::string& driver, std::string_view prefix) {
  return driver.size() >= prefix.size() && driver.compare(0, prefix.size(), prefix) == 0 &&
         (driver.size() == prefix.size() || driver[prefix.size()] == '.');
}

// Whether that driver's library had the function.
bool existed(const FunctionFact& fact, const Plan& plan) {
  if (fact.first_driver > plan.driver_key) return false;
  if (fact.last_driver != 0 && fact.last_driver < plan.driver_key) return false;
  std::string_view holes = fact.holes;
  while (!holes.empty()) {
    const std::size_t comma = std::min(holes.find(','), holes.size());
    if (has_prefix(plan.scenario->driver, holes.substr(0, comma))) return false;
    holes.remove_prefix(std::min(comma + 1, holes.size()));
  }
  const auto& missing = plan.scenario->missing_symbols;
  return std::find(missing.begin(), missing.end(), fact.name) == missing.end();
}

}  // namespace

Call::Call(Fn fn) : fn_(fn), name_(kFunctionFacts[static_cast<unsigned>(fn)].name) {}

nvmlReturn_t Call::begin() {
  Library& lib = library();
  if (!lib.initialised()) return NVML_ERROR_UNINITIALIZED;
  plan_ = lib.plan();
  if (plan_ == nullptr) return NVML_ERROR_UNINITIALIZED;
  if (plan_->scenario->serialize_calls) serial_ = std::unique_lock(lib.serial());
  t_ = lib.now(*plan_);
  if (!existed(kFunctionFacts[static_cast<unsigned>(fn_)], *plan_)) {
    return NVML_ERROR_FUNCTION_NOT_FOUND;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t Call::enter_system() {
  library().count(fn_, -1);
  return enter_session();
}

nvmlReturn_t Call::enter_session() {
  if (const nvmlReturn_t code = begin(); code != NVML_SUCCESS) return code;
  return delays_and_returns(Faults::kAll);
}

nvmlReturn_t Call::enter_device(nvmlDevice_t device, Takes takes) {
  const std::optional<Target> target = read_handle(device);
  library().count(fn_, target ? static_cast<int>(target->gpu) : -1);
  if (const nvmlReturn_t code = begin(); code != NVML_SUCCESS) return code;
  const bool known = target && target->gpu < scenario().gpus.size();
  if (known) {
    target_ = *target;
    has_gpu_ = true;
    model_.emplace(scenario(), target_.gpu, plan_->conditions);
  }
  if (const nvmlReturn_t code = delays_and_returns(Faults::kAll); code != NVML_SUCCESS) return code;
  if (!known || target_.generation != (library().generation() & 0xFFFFF)) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  if (lost(target_.gpu)) return NVML_ERROR_GPU_IS_LOST;
  if (target_.slot) {
    instance_ = model_->instance_in_slot(*target_.slot, t_);
    if (instance_ == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (takes == Takes::kGpu) return NVML_ERROR_NOT_SUPPORTED;
  } else if (takes == Takes::kInstance) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  return NVML_SUCCESS;
}

bool Call::concerned(const LiveFault& one, Faults which) const {
  if (!one.active(t_) || !one.hits_function(name_)) return false;
  if (one.fault.gpus.empty()) return which == Faults::kAll;
  return has_gpu_ && one.hits_gpu(target_.gpu);
}

nvmlReturn_t Call::delays_and_returns(Faults which) {
  if (which == Faults::kAll && plan_->latency_seconds > 0) pause(plan_->latency_seconds, nullptr);
  for (const LiveFault& one : plan_->faults) {
    if (!concerned(one, which)) continue;
    if (one.fault.kind == FaultKind::kLatency) pause(latency_of(one.fault), nullptr);
    if (one.fault.kind == FaultKind::kBlock && one.strikes()) pause(one.fault.seconds, &one);
  }
  nvmlReturn_t code = NVML_SUCCESS;
  if (session_dead(&code)) return code;
  for (const LiveFault& one : plan_->faults) {
    // A fault of one field or metric is that entry's, not the call's.
    const bool of_call = one.fault.kind == FaultKind::kReturn && one.fault.field.empty();
    if (!of_call || !concerned(one, which)) continue;
    if (one.strikes()) return one.fault.code;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t Call::concern(std::size_t gpu) {
  target_.gpu = gpu;
  has_gpu_ = true;
  model_.emplace(scenario(), gpu, plan_->conditions);
  if (const nvmlReturn_t code = delays_and_returns(Faults::kOfThisGpu); code != NVML_SUCCESS) {
    return code;
  }
  return lost(gpu) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

// Sleeps as a call inside the kernel does: nothing but its end, or the end of the fault, wakes it.
void Call::pause(double seconds, const LiveFault* while_active) const {
  if (while_active == nullptr) return sleep_for(seconds);
  Library& lib = library();
  double left = seconds;
  while (left > 0) {
    sleep_for(std::min(left, kPauseStepSeconds));
    left -= kPauseStepSeconds;
    const std::shared_ptr<const Plan> current = lib.plan();
    if (current == nullptr) return;
    const double now = lib.now(*current);
    const bool still =
        std::any_of(current->faults.begin(), current->faults.end(), [&](const LiveFault& one) {
          return one.identity == while_active->identity && one.active(now);
        });
    if (!still) return;
  }
}

// A driver reload kills every session that began before it.
bool Call::session_dead(nvmlReturn_t* code) const {
  Library& lib = library();
  for (const LiveFault& one : plan_->faults) {
    if (one.fault.kind != FaultKind::kDriverReload || t_ < one.fault.at) continue;
    const bool before = lib.session_begin() < one.fault.at ||
                        (one.sessions_before != 0 && lib.generation() <= one.sessions_before);
    if (!before) continue;
    *code = one.fault.code;
    return true;
  }
  return false;
}

bool Call::lost(std::size_t gpu) const {
  for (const LiveFault& one : plan_->faults) {
    if (one.fault.kind != FaultKind::kGpuLost || !one.hits_gpu(gpu) || t_ < one.fault.at) continue;
    if (t_ < one.fault.until) return true;
    if (one.fault.after_reinit && library().session_begin() < one.fault.until) return true;
  }
  return false;
}

nvmlReturn_t Call::version_mismatch() const {
  return driver_older_than("520") ? NVML_ERROR_INVALID_ARGUMENT
                                  : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

bool Call::driver_older_than(std::string_view version) const {
  return plan_->driver_key < version_key(version);
}

const LiveFault* Call::fault(FaultKind kind) const {
  for (const LiveFault& one : plan_->faults) {
    if (one.fault.kind == kind && one.active(t_) && one.hits_function(name_) &&
        (!has_gpu_ || one.hits_gpu(target_.gpu))) {
      return &one;
    }
  }
  return nullptr;
}

nvmlReturn_t Call::code_of_entry(std::string_view field) const {
  for (const LiveFault& one : plan_->faults) {
    if (one.fault.kind != FaultKind::kReturn || one.fault.field != field || field.empty()) continue;
    if (!concerned(one, Faults::kAll) || !one.strikes()) continue;
    return one.fault.code;
  }
  return NVML_SUCCESS;
}

const LiveFault* Call::value_fault(std::string_view field) const {
  for (const LiveFault& one : plan_->faults) {
    if (one.fault.kind != FaultKind::kValue || !one.active(t_)) continue;
    if (!one.hits_function(name_) || (has_gpu_ && !one.hits_gpu(target_.gpu))) continue;
    if (!one.fault.field.empty() && one.fault.field != field) continue;
    if (one.strikes()) return &one;
  }
  return nullptr;
}

nvmlReturn_t Call::put_text(char* out, unsigned length, const std::string& text) const {
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (length < text.size() + 1) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

nvmlReturn_t unsupported(Fn fn) {
  return on_system(fn, true, [](Call&) -> nvmlReturn_t { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t unsupported(Fn fn, nvmlDevice_t device) {
  return on_device(fn, device, true, Takes::kAny,
                   [](Call&) -> nvmlReturn_t { return NVML_ERROR_NOT_SUPPORTED; });
}

}  // namespace gpusight::sim
