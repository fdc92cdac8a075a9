// Every built-in scenario is played through: what it answers holds together at any time.
#include "embedded.h"
#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

class BuiltinTest : public SimTest, public testing::WithParamInterface<std::string> {
 protected:
  void at(double seconds) { control("[clock]\nfrozen_at = " + std::to_string(seconds) + "\n"); }

  // The memory calls agree where both answer.
  void check_memory(nvmlDevice_t device) const {
    nvmlMemory_t old{};
    nvmlMemory_v2_t now{};
    now.version = 0x02000028;
    if (call("nvmlDeviceGetMemoryInfo", device, &old) != NVML_SUCCESS) return;
    EXPECT_EQ(old.used + old.free, old.total);
    if (call("nvmlDeviceGetMemoryInfo_v2", device, &now) != NVML_SUCCESS) return;
    EXPECT_EQ(now.reserved + now.used + now.free, now.total);
    EXPECT_EQ(now.total, old.total);
  }

  void check_ranges(nvmlDevice_t device) const {
    nvmlUtilization_t busy{};
    if (call("nvmlDeviceGetUtilizationRates", device, &busy) == NVML_SUCCESS) {
      EXPECT_LE(busy.gpu, 100U);
      EXPECT_LE(busy.memory, 100U);
    }
    unsigned value = 0;
    if (call("nvmlDeviceGetTemperature", device, 0U, &value) == NVML_SUCCESS) {
      EXPECT_GT(value, 5U);
      EXPECT_LT(value, 125U);
    }
    unsigned most = 0;
    if (call("nvmlDeviceGetClockInfo", device, 0U, &value) == NVML_SUCCESS &&
        call("nvmlDeviceGetMaxClockInfo", device, 0U, &most) == NVML_SUCCESS) {
      EXPECT_LE(value, most);
      EXPECT_GT(value, 50U);
    }
  }

  // Counters that must never fall.
  std::vector<unsigned long long> counters(nvmlDevice_t device) const {
    std::vector<unsigned long long> result;
    unsigned long long value = 0;
    result.push_back(call("nvmlDeviceGetTotalEnergyConsumption", device, &value) == 0 ? value : 0);
    for (const unsigned kind : {0U, 1U}) {
      const bool good = call("nvmlDeviceGetTotalEccErrors", device, kind, 1U, &value) == 0;
      result.push_back(good ? value : 0);
    }
    unsigned replays = 0;
    result.push_back(call("nvmlDeviceGetPcieReplayCounter", device, &replays) == 0 ? replays : 0);
    for (const unsigned policy : {0U, 1U, 3U}) {
      nvmlViolationTime_t held{};
      const bool good = call("nvmlDeviceGetViolationStatus", device, policy, &held) == 0;
      result.push_back(good ? held.violationTime : 0);
    }
    return result;
  }
};

TEST_P(BuiltinTest, HoldsTogetherAtAnyTime) {
  setenv("GPUSIGHT_SIM_SCENARIO", GetParam().c_str(), 1);
  std::vector<unsigned long long> last;
  for (const double seconds : {25.0, 31.0, 65.0, 125.0, 260.0}) {
    SCOPED_TRACE(GetParam() + " at " + std::to_string(seconds));
    at(seconds);
    if (call("nvmlInit_v2") != NVML_SUCCESS) continue;  // some refuse for a while
    nvmlDevice_t device = nullptr;
    if (call("nvmlDeviceGetHandleByIndex_v2", 0U, &device) == NVML_SUCCESS) {
      check_memory(device);
      check_ranges(device);
      const std::vector<unsigned long long> now = counters(device);
      for (std::size_t i = 0; i < last.size(); ++i) {
        // A call that fails for once has no figure to compare.
        EXPECT_TRUE(now[i] >= last[i] || now[i] == 0) << "counter " << i;
      }
      last = now;
    }
    call("nvmlShutdown");
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const EmbeddedText& one : embedded_scenarios()) {
    // Two that do on purpose what is looked for here: values that cannot be, and waiting without
    // end.
    const bool apart = one.name == "fault-sentinels" || one.name == "fault-stuck-driver";
    if (!apart) result.emplace_back(one.name);
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, BuiltinTest, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (char& letter : name) {
                             if (letter == '-' || letter == '.') letter = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace gpusight::sim
