// The gate that every exported function passes: counting, delays, faults and handle checks, in the
// order in which a real library finds them. A Call lives on the caller's stack for the length of
// one call.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "library.h"

namespace gpusight::sim {

// Which handles a function takes.
enum class Takes { kGpu, kInstance, kAny };

class Call {
 public:
  explicit Call(Fn fn);

  // The checks; SUCCESS when the call may go on. Each of them also counts the call.
  nvmlReturn_t enter_system();
  nvmlReturn_t enter_session();  // of a session just begun; already counted
  nvmlReturn_t enter_device(nvmlDevice_t device, Takes takes);

  // For a system call that turns out to be about a GPU (a handle by index): the faults of that GPU.
  nvmlReturn_t concern(std::size_t gpu);

  const Plan& plan() const { return *plan_; }
  const Scenario& scenario() const { return *plan_->scenario; }
  double t() const { return t_; }
  Fn fn() const { return fn_; }

  // After enter_device().
  std::size_t gpu() const { return target_.gpu; }
  const GpuModel& model() const { return *model_; }
  const Board& board() const { return model_->board(); }
  const InstanceSpec* instance() const { return instance_; }  // null for a whole GPU

  bool lost(std::size_t gpu) const;
  bool driver_older_than(std::string_view version) const;

  // Whether a structure's version word is the one of `T`, number `number`, and this driver has it.
  template <class T>
  bool takes(unsigned word, unsigned number) const;
  // What a wrong version word gets: drivers before 520 had no code of their own for it.
  nvmlReturn_t version_mismatch() const;

  // The first active fault of a kind that fits this call's GPU and function.
  const LiveFault* fault(FaultKind kind) const;

  // The code that a fault has for one entry of a batch (a field, a metric); SUCCESS when none has.
  nvmlReturn_t code_of_entry(std::string_view field) const;

  // Stores a value, unless a fault puts another one in its place.
  template <class T>
  void put(T* out, T value, std::string_view field = {}) const {
    const LiveFault* other = value_fault(field);
    *out = other == nullptr ? value : static_cast<T>(other->fault.value);
  }

  // Stores a text with its terminator; INSUFFICIENT_SIZE when it does not fit.
  nvmlReturn_t put_text(char* out, unsigned length, const std::string& text) const;

 private:
  nvmlReturn_t begin();  // existence and session
  enum class Faults { kAll, kOfThisGpu };
  nvmlReturn_t delays_and_returns(Faults which);  // latency, blocking, scripted codes
  bool concerned(const LiveFault& one, Faults which) const;
  void pause(double seconds, const LiveFault* while_active) const;
  bool session_dead(nvmlReturn_t* code) const;
  const LiveFault* value_fault(std::string_view field) const;

  Fn fn_;
  const char* name_;
  std::unique_lock<std::mutex> serial_;
  std::shared_ptr<const Plan> plan_;
  double t_ = 0;
  bool has_gpu_ = false;
  Target target_;
  std::optional<GpuModel> model_;
  const InstanceSpec* instance_ = nullptr;
};

// A call about one device: checks, then the body. `arguments_good` is false when a pointer is null.
template <class Body>
nvmlReturn_t on_device(Fn fn, nvmlDevice_t device, bool arguments_good, Takes takes, Body body) {
  Call call(fn);
  if (const nvmlReturn_t code = call.enter_device(device, takes); code != NVML_SUCCESS) return code;
  if (!arguments_good) return NVML_ERROR_INVALID_ARGUMENT;
  return body(call);
}

template <class Body>
nvmlReturn_t on_gpu(Fn fn, nvmlDevice_t device, bool arguments_good, Body body) {
  return on_device(fn, device, arguments_good, Takes::kGpu, std::move(body));
}

template <class Body>
nvmlReturn_t on_system(Fn fn, bool arguments_good, Body body) {
  Call call(fn);
  if (const nvmlReturn_t code = call.enter_system(); code != NVML_SUCCESS) return code;
  if (!arguments_good) return NVML_ERROR_INVALID_ARGUMENT;
  return body(call);
}

// One number of a whole GPU: `body(call)` gives it.
template <class T, class Body>
nvmlReturn_t one_number(Fn fn, nvmlDevice_t device, T* out, Body body) {
  return on_gpu(fn, device, out != nullptr, [&](Call& call) {
    call.put(out, static_cast<T>(body(call)));
    return NVML_SUCCESS;
  });
}

// The same where only some boards have it.
template <class T, class Has, class Body>
nvmlReturn_t number_if(Fn fn, nvmlDevice_t device, T* out, Has has, Body body) {
  return on_gpu(fn, device, out != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!has(call.board())) return NVML_ERROR_NOT_SUPPORTED;
    call.put(out, static_cast<T>(body(call)));
    return NVML_SUCCESS;
  });
}

// The version word of a structure: its size and number.
template <class T>
constexpr unsigned version_of(unsigned number) {
  return static_cast<unsigned>(sizeof(T)) | number << 24;
}

template <class T>
bool Call::takes(unsigned word, unsigned number) const {
  if (word != version_of<T>(number)) return false;
  return *kSince<T> == '\0' || !driver_older_than(kSince<T>);
}

// A body must not return these constants as different types.
inline constexpr nvmlReturn_t kSuccess = NVML_SUCCESS;

}  // namespace gpusight::sim
