#include <algorithm>
#include <chrono>
#include <thread>

#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

class ValuesTest : public SimTest {
 protected:
  struct Drained {
    nvmlReturn_t code;
    std::vector<nvmlSample_t> samples;
  };

  Drained drain(nvmlDevice_t device, unsigned type, unsigned long long last_seen) const {
    nvmlSample_t samples[128];
    unsigned count = 128;
    unsigned kind = 0;
    const nvmlReturn_t code =
        call("nvmlDeviceGetSamples", device, type, last_seen, &kind, &count, samples);
    if (code != NVML_SUCCESS) return {code, {}};
    return {code, {samples, samples + count}};
  }

  nvmlFieldValue_t field(nvmlDevice_t device, unsigned id, unsigned scope = 0) const {
    nvmlFieldValue_t value{};
    value.fieldId = id;
    value.scopeId = scope;
    call("nvmlDeviceGetFieldValues", device, 1, &value);
    return value;
  }
};

TEST_F(ValuesTest, TheDefaultIsEightH100) {
  unsetenv("GPUSIGHT_SIM_SCENARIO");
  ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  unsigned count = 0;
  ASSERT_EQ(call("nvmlDeviceGetCount_v2", &count), NVML_SUCCESS);
  EXPECT_EQ(count, 8U);
  EXPECT_EQ(name_of(gpu(7)), "NVIDIA H100 80GB HBM3");
  EXPECT_STREQ(get<const char*()>("gpusight_sim_scenario")(), "h100-training");
}

TEST_F(ValuesTest, MemoryAddsUp) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  nvmlMemory_t old{};
  nvmlMemory_v2_t now{};
  now.version = 0x02000028;
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", gpu(0), &old), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo_v2", gpu(0), &now), NVML_SUCCESS);
  EXPECT_EQ(now.used, 3000ULL << 20);
  EXPECT_EQ(now.reserved + now.used + now.free, now.total);
  EXPECT_EQ(old.used, now.used + now.reserved);
  EXPECT_EQ(old.used + old.free, old.total);
}

TEST_F(ValuesTest, WhatABoardClassLacksIsNotSupported) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  unsigned value = 0;
  unsigned other = 0;
  char text[96];
  EXPECT_EQ(call("nvmlDeviceGetFanSpeed", gpu(0), &value), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(call("nvmlDeviceGetNumFans", gpu(1), &value), NVML_SUCCESS);
  EXPECT_EQ(value, 2U);
  EXPECT_EQ(call("nvmlDeviceGetFanSpeed_v2", gpu(1), 2U, &value), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(call("nvmlDeviceGetEccMode", gpu(1), &value, &other), NVML_SUCCESS);
  EXPECT_EQ(value, 0U);  // it could, but does not
  unsigned long long errors = 0;
  EXPECT_EQ(call("nvmlDeviceGetTotalEccErrors", gpu(1), 0U, 0U, &errors), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(call("nvmlDeviceGetSerial", gpu(1), text, 96U), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(call("nvmlDeviceGetMigMode", gpu(1), &value, &other), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(field(gpu(1), 82).nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(field(gpu(0), 82).nvmlReturn, NVML_SUCCESS);
  EXPECT_EQ(field(gpu(2), 185).nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(field(gpu(0), 185, 2).nvmlReturn, NVML_SUCCESS);
  EXPECT_EQ(field(gpu(0), 185, 1).nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(field(gpu(0), 194).value.siVal, -2);
  EXPECT_EQ(field(gpu(0), 9999).nvmlReturn, NVML_ERROR_INVALID_ARGUMENT);
}

// FAULT-015, FAULT-065
TEST_F(ValuesTest, ADividedGpuHasNoUtilisationAndItsListHasHoles) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  nvmlUtilization_t utilisation{};
  unsigned value = 0;
  EXPECT_EQ(call("nvmlDeviceGetUtilizationRates", gpu(2), &utilisation), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(drain(gpu(2), 1, 0).code, NVML_ERROR_NOT_SUPPORTED);
  nvmlDevice_t one = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetMigDeviceHandleByIndex", gpu(2), 1U, &one), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(call("nvmlDeviceGetMigDeviceHandleByIndex", gpu(2), 7U, &one),
            NVML_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(call("nvmlDeviceGetMigDeviceHandleByIndex", gpu(2), 2U, &one), NVML_SUCCESS);
  EXPECT_EQ(name_of(one), "NVIDIA A100-SXM4-40GB MIG 1g.5gb");
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetGpuInstanceId", one), 9U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceIsMigDeviceHandle", one), 1U);
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", one, &value), NVML_ERROR_NOT_SUPPORTED);
  nvmlDevice_t parent = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", one, &parent), NVML_SUCCESS);
  EXPECT_EQ(parent, gpu(2));
}

TEST_F(ValuesTest, AnInstanceHasItsOwnMemoryAndProcesses) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  nvmlDevice_t one = nullptr;
  ASSERT_EQ(call("nvmlDeviceGetMigDeviceHandleByIndex", gpu(2), 2U, &one), NVML_SUCCESS);
  nvmlMemory_t memory{};
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", one, &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, 4864ULL << 20);
  nvmlProcessInfo_t rows[4];
  unsigned count = 4;
  ASSERT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", one, &count, rows), NVML_SUCCESS);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(rows[0].gpuInstanceId, 9U);
  EXPECT_EQ(rows[0].computeInstanceId, 0U);
  nvmlDeviceAttributes_t attributes{};
  ASSERT_EQ(call("nvmlDeviceGetAttributes_v2", one, &attributes), NVML_SUCCESS);
  EXPECT_EQ(attributes.gpuInstanceSliceCount, 1U);
}

TEST_F(ValuesTest, ThePowerRingShowsPeaksThatTheCurrentValueHides) {
  unsetenv("GPUSIGHT_SIM_SCENARIO");
  ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  const Drained ring = drain(gpu(0), 0, 0);
  ASSERT_EQ(ring.code, NVML_SUCCESS);
  ASSERT_EQ(ring.samples.size(), 119U);
  // The last second: 50 samples of 20 ms.
  std::vector<unsigned> second;
  for (std::size_t i = 69; i < 119; ++i) second.push_back(ring.samples[i].sampleValue.uiVal);
  const auto [least, most] = std::minmax_element(second.begin(), second.end());
  EXPECT_LT(*least, 250000U);
  EXPECT_GT(*most, 550000U);
  for (std::size_t i = 1; i < ring.samples.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(ring.samples[i].timeStamp - ring.samples[i - 1].timeStamp),
                20000, 2);
  }
}

TEST_F(ValuesTest, ARingGivesOnlyWhatIsNew) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  const Drained all = drain(gpu(0), 1, 0);
  ASSERT_EQ(all.code, NVML_SUCCESS);
  EXPECT_EQ(all.samples.size(), 72U);
  const auto middle = all.samples[40].timeStamp;
  const Drained newer = drain(gpu(0), 1, middle);
  ASSERT_EQ(newer.code, NVML_SUCCESS);
  EXPECT_EQ(newer.samples.size(), 31U);
  EXPECT_GT(newer.samples.front().timeStamp, middle);
  EXPECT_EQ(drain(gpu(0), 1, all.samples.back().timeStamp).code, NVML_ERROR_NOT_FOUND);
}

TEST_F(ValuesTest, ABufferThatIsTooSmallGetsTheOldestSoThatNothingIsLost) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  const Drained all = drain(gpu(0), 0, 0);
  nvmlSample_t few[10];
  unsigned count = 10;
  unsigned kind = 0;
  ASSERT_EQ(call("nvmlDeviceGetSamples", gpu(0), 0U, 0ULL, &kind, &count, few), NVML_SUCCESS);
  EXPECT_EQ(count, 10U);
  EXPECT_EQ(few[9].timeStamp, all.samples[9].timeStamp);
}

TEST_F(ValuesTest, EqualScenariosGiveEqualNumbers) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  const auto power = number<unsigned>("nvmlDeviceGetPowerUsage", gpu(0));
  const auto energy = number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", gpu(0));
  get<void()>("gpusight_sim_restart")();
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetPowerUsage", gpu(0)), power);
  EXPECT_EQ(number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", gpu(0)), energy);
}

TEST_F(ValuesTest, ProcessesThatShareAStartSeeTheSameInstant) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto start = std::chrono::duration_cast<std::chrono::seconds>(now).count() - 1000;
  setenv("GPUSIGHT_SIM_START", std::to_string(start).c_str(), 1);
  std::string scenario = kThreeBoards;
  scenario.replace(scenario.find("frozen_at = 100"), 15, "");
  scenario += "[[process]]\npid = 2950000\ngpu = 1\nfrom = 990\nuntil = 1200\n";
  ASSERT_EQ(init(scenario), NVML_SUCCESS);
  unsetenv("GPUSIGHT_SIM_START");
  nvmlProcessInfo_t rows[4];
  unsigned count = 4;
  ASSERT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(1), &count, rows), NVML_SUCCESS);
  EXPECT_EQ(count, 1U);
}

TEST_F(ValuesTest, EnergyGrowsAsThePowerSays) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  control("[clock]\nfrozen_at = 200\n");
  const auto before = number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", gpu(0));
  control("[clock]\nfrozen_at = 260\n");
  const auto after = number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", gpu(0));
  const double mean_watts = static_cast<double>(after - before) / 1000 / 60;
  EXPECT_NEAR(mean_watts, number<unsigned>("nvmlDeviceGetPowerUsage", gpu(0)) / 1000.0, 3);
}

TEST_F(ValuesTest, ProcessesComeAndGoWithNewPids) {
  std::string scenario = kThreeBoards;
  scenario +=
      "[[process]]\npid = 2950000\ngpu = 1\nevery_seconds = 10\nfor_seconds = 4\nfrom = 0\n";
  ASSERT_EQ(init(scenario), NVML_SUCCESS);
  nvmlProcessInfo_t rows[4];
  const auto list = [&](double at) {
    control("[clock]\nfrozen_at = " + std::to_string(at) + "\n");
    unsigned count = 4;
    EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(1), &count, rows), NVML_SUCCESS);
    return count;
  };
  EXPECT_EQ(list(-1), 0U);
  EXPECT_EQ(list(1), 1U);
  EXPECT_EQ(rows[0].pid, 2950000U);
  EXPECT_EQ(list(5), 0U);
  EXPECT_EQ(list(12), 1U);
  EXPECT_EQ(rows[0].pid, 2950001U);
}

// FAULT-003
TEST_F(ValuesTest, ProcessUtilisationProbesAsTheRingAndEndsWithNotFound) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  unsigned count = 0;
  nvmlProcessUtilizationSample_t rows[100];
  auto* none = static_cast<nvmlProcessUtilizationSample_t*>(nullptr);
  EXPECT_EQ(call("nvmlDeviceGetProcessUtilization", gpu(0), none, &count, 0ULL),
            NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 100U);
  ASSERT_EQ(call("nvmlDeviceGetProcessUtilization", gpu(0), rows, &count, 0ULL), NVML_SUCCESS);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(rows[0].smUtil, 15U);  // half of a mean activity of 30 %
  EXPECT_EQ(rows[1].smUtil, 8U);
  const auto newest = std::max(rows[0].timeStamp, rows[1].timeStamp);
  count = 100;
  EXPECT_EQ(call("nvmlDeviceGetProcessUtilization", gpu(0), rows, &count, newest),
            NVML_ERROR_NOT_FOUND);
}

TEST_F(ValuesTest, FieldNumbersThatMovedFollowTheDriver) {
  for (const auto& [driver, id, there] :
       {std::tuple{"575.57.08", 251U, true}, std::tuple{"575.57.08", 269U, false},
        std::tuple{"580.105.08", 251U, false}, std::tuple{"580.105.08", 269U, true},
        std::tuple{"530.41.03", 186U, false}, std::tuple{"525.147.05", 186U, true}}) {
    std::string scenario = kThreeBoards;
    scenario.replace(scenario.find("580.105.08"), 10, driver);
    ASSERT_EQ(init(scenario), NVML_SUCCESS);
    EXPECT_EQ(field(gpu(0), id).nvmlReturn == NVML_SUCCESS, there) << driver << " " << id;
    get<void()>("gpusight_sim_restart")();
  }
}

TEST_F(ValuesTest, ManyThreadsMayCallAtOnce) {
  ASSERT_EQ(init(std::string("serialize_calls = true\n") + kThreeBoards), NVML_SUCCESS);
  std::vector<std::thread> threads;
  const nvmlDevice_t device = gpu(0);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) number<unsigned>("nvmlDeviceGetPowerUsage", device);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(get<int(const char*)>("gpusight_sim_call_count")("nvmlDeviceGetPowerUsage"), 2000);
}

TEST_F(ValuesTest, EveryExportedFunctionSurvivesAPlainCall) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  // Those without a simulation take whatever arguments come and say so.
  unsigned value = 0;
  EXPECT_EQ(call("nvmlDeviceGetSupportedVgpus", gpu(0), &value, &value), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(call("nvmlDeviceGetHostVgpuMode", gpu(0), &value), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(call("nvmlDeviceSetPersistenceMode", gpu(0), 1U), NVML_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace gpusight::sim
