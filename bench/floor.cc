// The floor under every monitor: 25 NVML calls a GPU and second, and nothing else. What gpusight
// costs is shown as a multiple of it, since CPU times differ from machine to machine.
//
//   bench_floor LIBRARY SECONDS
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Device = void*;
struct Utilization {
  unsigned gpu;
  unsigned memory;
};

template <class Function>
Function* find(void* library, const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    std::fprintf(stderr, "bench_floor: no %s\n", name);
    std::exit(1);
  }
  return function;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_floor LIBRARY SECONDS\n");
    return 2;
  }
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "bench_floor: %s\n", dlerror());
    return 1;
  }
  auto* const init = find<int()>(library, "nvmlInit_v2");
  auto* const count_of = find<int(unsigned*)>(library, "nvmlDeviceGetCount_v2");
  auto* const handle = find<int(unsigned, Device*)>(library, "nvmlDeviceGetHandleByIndex_v2");
  auto* const utilization =
      find<int(Device, Utilization*)>(library, "nvmlDeviceGetUtilizationRates");
  auto* const temperature = find<int(Device, int, unsigned*)>(library, "nvmlDeviceGetTemperature");
  auto* const power = find<int(Device, unsigned*)>(library, "nvmlDeviceGetPowerUsage");
  auto* const clock = find<int(Device, int, unsigned*)>(library, "nvmlDeviceGetClockInfo");
  auto* const energy =
      find<int(Device, unsigned long long*)>(library, "nvmlDeviceGetTotalEnergyConsumption");

  unsigned count = 0;
  if (init() != 0 || count_of(&count) != 0) return 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  auto next = std::chrono::steady_clock::now();
  while (next < end) {
    for (unsigned index = 0; index < count; ++index) {
      Device device = nullptr;
      if (handle(index, &device) != 0) continue;
      Utilization load{};
      unsigned number = 0;
      unsigned long long joules = 0;
      for (int round = 0; round < 4; ++round) {  // 6 calls four times, and the handle: 25
        utilization(device, &load);
        temperature(device, 0, &number);
        power(device, &number);
        clock(device, 0, &number);
        clock(device, 2, &number);
        energy(device, &joules);
      }
    }
    next += std::chrono::seconds(1);
    std::this_thread::sleep_until(next);
  }
  return 0;
}
