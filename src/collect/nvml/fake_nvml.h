// For tests: a driver's library made of plain functions over a machine that the test describes. One
// at a time is current; calls go to it, are counted, and can be made to fail by name.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collect/nvml/nvml_library.h"

namespace gpusight::collect::nvml {

struct FakeMig {
  std::string uuid;
  std::string name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  MemoryV2 memory{.total = 5000, .reserved = 100, .free = 3900, .used = 1000};
  std::vector<ProcessRow> processes;
  bool exists = true;  // false: a hole in the numbering
};

struct FakeGpu {
  std::string uuid = "GPU-0";
  std::string name = "NVIDIA H100 80GB HBM3";
  unsigned bus = 0x19;
  unsigned pci_device_id = 0x233010de;
  unsigned pci_subsystem_id = 0x16c110de;
  unsigned architecture = 9;
  bool lost = false;
  Utilization utilization{.gpu = 50, .memory = 25};
  MemoryV2 memory{.total = 80'000'000'000,
                  .reserved = 500'000'000,
                  .free = 59'500'000'000,
                  .used = 20'000'000'000};
  int temperature = 40;
  std::map<uint32_t, FieldValue> fields;  // what is not in here is not supported; scope 0
  std::map<std::pair<uint32_t, uint32_t>, FieldValue> scoped_fields;  // by id and scope
  // Answers of the calls that give numbers, by "name" or "name:argument"; likewise.
  std::map<std::string, std::vector<uint64_t>> numbers;
  std::map<SamplingType, std::vector<RingSample>> rings;
  unsigned power_mw = 300'000;
  std::vector<unsigned> fans = {30, 31};
  unsigned performance_state = 0;
  unsigned long long throttle = 0;
  std::vector<ProcessRow> compute;
  std::vector<ProcessRow> graphics;
  std::vector<ProcessShare> shares;      // the driver's ring: newer ones than asked for are given
  std::map<unsigned, unsigned> links;    // to the bus number of another device, by link
  std::map<size_t, unsigned> ancestors;  // the driver's word for the path to that GPU
  std::vector<EncoderSession> encoders;
  std::vector<FbcSession> captures;
  bool has_gpm = false;
  std::map<uint32_t, double> gpm;  // by metric; what is not in here fails with a zero
  std::map<std::pair<unsigned, uint32_t>, double> instance_gpm;  // by GPU instance and metric
  Return gpm_missing = Return::kUnknown;                         // how it fails
  unsigned mig_mode = 0;
  std::vector<FakeMig> instances;

  void set_field(uint32_t id, ValueType type, uint64_t value);
  void set_field_of(uint32_t scope, uint32_t id, ValueType type, uint64_t value);
  void add_sample(SamplingType type, uint64_t timestamp_us, uint32_t value);
  std::string pci() const;
};

class FakeNvml {
 public:
  FakeNvml();
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  static FakeNvml* current();
  static const std::map<std::string, void*>& functions();

  // As load_library() gives it. Counts how often it was asked for.
  Loaded load();
  void* symbol(const char* name) const;
  static std::vector<std::string> function_names();

  int calls(const std::string& name) const;
  int total() const { return total_; }

  std::vector<FakeGpu> gpus;
  std::set<std::string> missing;         // symbols that this library does not have
  std::map<std::string, Return> forced;  // what a function returns, whatever it is asked
  std::map<std::pair<std::string, int>, Return> forced_on;  // the same for one GPU
  std::map<std::string, int> calls_until_forced;  // forced takes effect after so many more calls
  std::string driver = "580.105.08";
  std::string path = "/usr/lib/libnvidia-ml.so.580.105.08";
  size_t row_bytes = 24;           // what _v3 writes
  int gpm_samples = 0;             // allocated and not freed
  uint64_t asked_since_us = 0;     // the last time that shares were asked for
  unsigned too_small_answers = 0;  // process lists say INSUFFICIENT_SIZE so often, asking for more
  std::deque<EventData> events;
  std::map<uint64_t, Return> registering;  // by mask
  bool simulated = false;
  int loads = 0;
  int sessions = 0;  // init less shutdown
  int event_sets = 0;

  // For the functions.
  std::optional<Return> enter(const char* name, Handle handle = nullptr);
  FakeGpu* gpu_of(Handle handle);
  FakeMig* mig_of(Handle handle);

 private:
  std::map<std::string, int> counts_;
  int total_ = 0;
};

Handle gpu_handle(size_t gpu);
Handle mig_handle_of(size_t gpu, size_t instance);

}  // namespace gpusight::collect::nvml
