#include "collect/nvml/fake_nvml.h"

#include <gtest/gtest.h>

#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

constexpr uintptr_t kMigBase = 0x1000;

FakeNvml*& instance() {
  static FakeNvml* current = nullptr;
  return current;
}

}  // namespace

FakeNvml* FakeNvml::current() { return instance(); }

Handle gpu_handle(size_t gpu) { return reinterpret_cast<Handle>(gpu + 1); }
Handle mig_handle_of(size_t gpu, size_t instance) {
  return reinterpret_cast<Handle>(kMigBase * (gpu + 1) + instance);
}

void FakeGpu::set_field(uint32_t id, ValueType type, uint64_t value) {
  FieldValue field{.field_id = id, .timestamp_us = 1, .value_type = type};
  field.value.as_uint64 = value;
  fields[id] = field;
}

void FakeGpu::set_field_of(uint32_t scope, uint32_t id, ValueType type, uint64_t value) {
  FieldValue field{.field_id = id, .scope_id = scope, .timestamp_us = 1, .value_type = type};
  field.value.as_uint64 = value;
  scoped_fields[{id, scope}] = field;
}

void FakeGpu::add_sample(SamplingType type, uint64_t timestamp_us, uint32_t value) {
  RingSample sample{.timestamp_us = timestamp_us};
  sample.value.as_uint32 = value;
  rings[type].push_back(sample);
}

std::string FakeGpu::pci() const { return platform::pci_address(0, bus, 0); }

FakeNvml::FakeNvml() { instance() = this; }
FakeNvml::~FakeNvml() { instance() = nullptr; }

void* FakeNvml::symbol(const char* name) const {
  if (missing.contains(name)) return nullptr;
  if (std::string_view(name) == "gpusight_sim_scenario" && !simulated) return nullptr;
  const auto it = functions().find(name);
  return it == functions().end() ? nullptr : it->second;
}

Loaded FakeNvml::load() {
  ++loads;
  auto library = std::make_shared<NvmlLibrary>();
  library->api = resolve([this](const char* name) { return symbol(name); });
  library->path = path;
  library->simulated = library->api.sim_scenario != nullptr;
  return library;
}

std::vector<std::string> FakeNvml::function_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions()) names.push_back(name);
  std::erase(names, "gpusight_sim_scenario");
  return names;
}

int FakeNvml::calls(const std::string& name) const {
  const auto it = counts_.find(name);
  return it == counts_.end() ? 0 : it->second;
}

std::optional<Return> FakeNvml::enter(const char* name, Handle handle) {
  ++counts_[name];
  ++total_;
  const FakeGpu* gpu = gpu_of(handle);
  const auto on = forced_on.find({name, gpu == nullptr ? -1 : static_cast<int>(gpu - gpus.data())});
  if (on != forced_on.end()) return on->second;
  const auto it = forced.find(name);
  if (it != forced.end() && calls_until_forced[name]-- <= 0) return it->second;
  if (gpu != nullptr && gpu->lost) return Return::kGpuIsLost;
  return std::nullopt;
}

FakeGpu* FakeNvml::gpu_of(Handle handle) {
  auto number = reinterpret_cast<uintptr_t>(handle);
  if (number >= kMigBase) number /= kMigBase;
  return number >= 1 && number <= gpus.size() ? &gpus[number - 1] : nullptr;
}

FakeMig* FakeNvml::mig_of(Handle handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  FakeGpu* gpu = gpu_of(handle);
  if (number < kMigBase || gpu == nullptr) return nullptr;
  const size_t instance = number % kMigBase;
  return instance < gpu->instances.size() ? &gpu->instances[instance] : nullptr;
}

// The stand-in is only worth something if the real resolver finds all that it needs in it.
TEST(FakeNvml, HasEveryCallThatIsEssential) {
  FakeNvml fake;
  const Loaded loaded = fake.load();
  const auto& library = std::get<std::shared_ptr<NvmlLibrary>>(loaded);
  EXPECT_EQ(missing_essential(library->api), nullptr);
  EXPECT_FALSE(library->simulated);
}

}  // namespace gpusight::collect::nvml
