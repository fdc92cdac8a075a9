// For tests: what the functions of the fake library have in common.
#pragma once

#include <cstring>
#include <map>
#include <string>

#include "collect/nvml/fake_nvml.h"

namespace gpusight::collect::nvml::fake {

inline FakeNvml* current() { return FakeNvml::current(); }

inline Return put_text(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

// Calls `act` with the GPU unless the call is to fail; MIG handles have no business here.
template <typename Act>
Return on_gpu(const char* name, Handle handle, Act act) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter(name, handle)) return *code;
  FakeGpu* gpu = fake.gpu_of(handle);
  if (gpu == nullptr) return Return::kInvalidArgument;
  if (fake.mig_of(handle) != nullptr) return Return::kNotSupported;
  return act(*gpu);
}

template <typename Act>
Return on_mig(const char* name, Handle handle, Act act) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter(name, handle)) return *code;
  FakeMig* mig = fake.mig_of(handle);
  return mig == nullptr ? Return::kInvalidArgument : act(*mig);
}

inline Return set_number(unsigned* out, unsigned value) {
  *out = value;
  return Return::kSuccess;
}

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Those of fake_nvml_tables_test.cc.
const std::map<std::string, void*>& table_functions();

}  // namespace gpusight::collect::nvml::fake
