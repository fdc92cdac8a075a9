#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A running clock, three plain boards.
constexpr const char* kRunning = R"(
[workload.steady]
phases = [{seconds = 1, high = 0.5}]
[[gpu]]
board = "h100-sxm-80gb"
count = 3
[[process]]
pid = 2900001
gpu = 0
name = "/usr/bin/train"
memory_mib = 1000
)";

class FaultTest : public SimTest {
 protected:
  nvmlReturn_t power(nvmlDevice_t device) const {
    unsigned value = 0;
    return call("nvmlDeviceGetPowerUsage", device, &value);
  }
  void again() {
    call("nvmlShutdown");
    ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  }
};

TEST_F(FaultTest, CallsBeforeInitAndAfterShutdownAreRefused) {
  EXPECT_EQ(power(nullptr), NVML_ERROR_UNINITIALIZED);
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t device = gpu(0);
  EXPECT_EQ(call("nvmlShutdown"), NVML_SUCCESS);
  EXPECT_EQ(call("nvmlShutdown"), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(power(device), NVML_ERROR_UNINITIALIZED);
}

TEST_F(FaultTest, InitAndShutdownAreCounted) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  const nvmlDevice_t device = gpu(0);
  EXPECT_EQ(call("nvmlShutdown"), NVML_SUCCESS);
  EXPECT_EQ(power(device), NVML_SUCCESS);
}

TEST_F(FaultTest, AHandleDoesNotOutliveItsSession) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t device = gpu(0);
  again();
  EXPECT_EQ(power(device), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(power(gpu(0)), NVML_SUCCESS);
}

// FAULT-038
TEST_F(FaultTest, ALostGpuComesBackAfterAReinitOnly) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t device = gpu(2);
  control("[[fault]]\nkind = \"gpu_lost\"\ngpu = 2\n");
  nvmlDevice_t other = nullptr;
  EXPECT_EQ(power(device), NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 2U, &other), NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(power(gpu(1)), NVML_SUCCESS);
  control("");
  EXPECT_EQ(power(device), NVML_ERROR_GPU_IS_LOST);
  again();
  EXPECT_EQ(power(gpu(2)), NVML_SUCCESS);
}

TEST_F(FaultTest, ALostGpuMayComeBackAtOnce) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t device = gpu(2);
  control("[[fault]]\nkind = \"gpu_lost\"\ngpu = 2\nback = \"at_once\"\n");
  EXPECT_EQ(power(device), NVML_ERROR_GPU_IS_LOST);
  control("");
  EXPECT_EQ(power(device), NVML_SUCCESS);
}

// FAULT-040
TEST_F(FaultTest, ABlockedCallReallyBlocksAndTheOthersGoOn) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t first = gpu(0);
  const nvmlDevice_t second = gpu(1);
  control(
      "[[fault]]\nkind = \"block\"\ngpu = 1\nfunction = \"nvmlDeviceGetPowerUsage\"\n"
      "forever = true\n");
  std::atomic<bool> done{false};
  std::thread stuck([&] {
    power(second);
    done = true;
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(done);
  EXPECT_EQ(power(first), NVML_SUCCESS);
  EXPECT_FALSE(done);
  control("");
  stuck.join();
  EXPECT_TRUE(done);
}

TEST_F(FaultTest, WithSerializedCallsABlockedCallHoldsUpAll) {
  ASSERT_EQ(init(std::string("serialize_calls = true\n") + kRunning), NVML_SUCCESS);
  const nvmlDevice_t first = gpu(0);
  const nvmlDevice_t second = gpu(1);
  control(
      "[[fault]]\nkind = \"block\"\ngpu = 1\nfunction = \"nvmlDeviceGetPowerUsage\"\n"
      "seconds = 0.3\n");
  const auto begin = steady_clock::now();
  std::thread stuck([&] { power(second); });
  std::this_thread::sleep_for(milliseconds(60));
  EXPECT_EQ(power(first), NVML_SUCCESS);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(280));
  stuck.join();
}

TEST_F(FaultTest, AnyFunctionReturnsAnyCodeOnceInNCalls) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control(
      "[[fault]]\nkind = \"return\"\nfunction = \"nvmlDeviceGetPower*\"\ncode = \"UNKNOWN\"\n"
      "gpu = [0, 2]\nevery = 3\n");
  const nvmlReturn_t expected[] = {0, 0, 999, 0, 0, 999};
  for (const nvmlReturn_t code : expected) EXPECT_EQ(power(gpu(0)), code);
  EXPECT_EQ(power(gpu(1)), NVML_SUCCESS);
  control(
      "[[fault]]\nkind = \"return\"\nfunction = \"nvmlDeviceGetHandleByIndex_v2\"\ncode = 4\n"
      "gpu = 1\n");
  nvmlDevice_t device = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 1U, &device), NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0U, &device), NVML_SUCCESS);
}

// FAULT-010, FAULT-024
TEST_F(FaultTest, SentinelsReplaceValues) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control(R"(
[[fault]]
kind = "value"
function = "nvmlDeviceGetUtilizationRates"
field = "gpu"
value = "all_ones"
[[fault]]
kind = "value"
function = "nvmlDeviceGetFieldValues"
field = "82"
value = 255
[[fault]]
kind = "value"
function = "nvmlDeviceGetMemoryInfo"
field = "used"
value = 999999999999
)");
  nvmlUtilization_t utilisation{};
  ASSERT_EQ(call("nvmlDeviceGetUtilizationRates", gpu(0), &utilisation), NVML_SUCCESS);
  EXPECT_EQ(utilisation.gpu, 0xFFFFFFFFU);
  EXPECT_LE(utilisation.memory, 100U);
  nvmlFieldValue_t field{};
  field.fieldId = 82;
  ASSERT_EQ(call("nvmlDeviceGetFieldValues", gpu(0), 1, &field), NVML_SUCCESS);
  EXPECT_EQ(field.value.uiVal, 255U);
  nvmlMemory_t memory{};
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", gpu(0), &memory), NVML_SUCCESS);
  EXPECT_GT(memory.used, memory.total);
}

TEST_F(FaultTest, ADriverReloadKillsAllHandlesUntilANewSession) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t device = gpu(0);
  control("[[fault]]\nkind = \"driver_reload\"\ncode = \"GPU_IS_LOST\"\nfor = 0.2\n");
  EXPECT_EQ(power(device), NVML_ERROR_GPU_IS_LOST);
  call("nvmlShutdown");
  EXPECT_EQ(call("nvmlInit_v2"), NVML_ERROR_DRIVER_NOT_LOADED);
  std::this_thread::sleep_for(milliseconds(250));
  ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  EXPECT_EQ(power(gpu(0)), NVML_SUCCESS);
}

// FAULT-042, FAULT-043
TEST_F(FaultTest, InitFailsAsOftenAsItIsTold) {
  const std::string twice =
      "\n[[fault]]\nkind = \"init_fails\"\ncode = \"DRIVER_NOT_LOADED\"\n"
      "times = 2\n";
  EXPECT_EQ(init(kRunning + twice), NVML_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(call("nvmlInit_v2"), NVML_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  get<void()>("gpusight_sim_restart")();
  EXPECT_EQ(init(std::string(kRunning) + "\n[[fault]]\nkind = \"version_mismatch\"\n"),
            NVML_ERROR_LIB_RM_VERSION_MISMATCH);
}

TEST_F(FaultTest, AListMayNeverBeLongEnough) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control("[[fault]]\nkind = \"insufficient_size\"\n");
  nvmlProcessInfo_t rows[64];
  unsigned count = 4;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(0), &count, rows),
              NVML_ERROR_INSUFFICIENT_SIZE);
  }
  EXPECT_EQ(count, 19U);
}

// FAULT-071
TEST_F(FaultTest, NamesMayHoldAnyBytes) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control(
      "[[fault]]\nkind = \"name_bytes\"\nbytes = 'NVIDIA \\xff\\xfe\\x1b[31m'\n"
      "[[fault]]\nkind = \"name_bytes\"\nof = \"process\"\nbytes = '/bin/\\x80'\n");
  EXPECT_EQ(name_of(gpu(0)), "NVIDIA \xff\xfe\x1b[31m");
  char name[64];
  ASSERT_EQ(call("nvmlSystemGetProcessName", 2900001U, name, 64U), NVML_SUCCESS);
  EXPECT_STREQ(name, "/bin/\x80");
}

// FAULT-037
TEST_F(FaultTest, TheIndexOrderChangesWithASessionOnly) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  char first[96], now[96];
  ASSERT_EQ(call("nvmlDeviceGetUUID", gpu(0), first, 96U), NVML_SUCCESS);
  control("[[fault]]\nkind = \"index_order\"\n");
  ASSERT_EQ(call("nvmlDeviceGetUUID", gpu(0), now, 96U), NVML_SUCCESS);
  EXPECT_STREQ(now, first);
  again();
  ASSERT_EQ(call("nvmlDeviceGetUUID", gpu(2), now, 96U), NVML_SUCCESS);
  EXPECT_STREQ(now, first);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetIndex", gpu(2)), 2U);
}

TEST_F(FaultTest, AProcessMayBeGoneBeforeItsNameIsAsked) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control("[[fault]]\nkind = \"process_gone\"\npid = 2900001\n");
  nvmlProcessInfo_t rows[4];
  unsigned count = 4;
  char name[64];
  ASSERT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(0), &count, rows), NVML_SUCCESS);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(call("nvmlSystemGetProcessName", 2900001U, name, 64U), NVML_ERROR_NOT_FOUND);
}

// FAULT-006
TEST_F(FaultTest, ProcessMemoryMayBeUnavailable) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control("[[fault]]\nkind = \"process_memory_unavailable\"\n");
  nvmlProcessInfo_t rows[4];
  unsigned count = 4;
  ASSERT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(0), &count, rows), NVML_SUCCESS);
  EXPECT_EQ(rows[0].usedGpuMemory, ~0ULL);
}

TEST_F(FaultTest, LatencyDelaysEachCall) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control("[[fault]]\nkind = \"latency\"\nmicroseconds = 5000\n");
  const nvmlDevice_t device = gpu(0);
  const auto begin = steady_clock::now();
  for (int i = 0; i < 5; ++i) power(device);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(25));
}

// FAULT-012
TEST_F(FaultTest, AnXidReachesWhoRegisteredBefore) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", gpu(1), 8ULL, set), NVML_SUCCESS);
  nvmlEventData_t data{};
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 30U), NVML_ERROR_TIMEOUT);
  control("[[fault]]\nkind = \"xid\"\ncode = 31\ngpu = [1, 2]\n");
  ASSERT_EQ(call("nvmlEventSetWait_v2", set, &data, 500U), NVML_SUCCESS);
  EXPECT_EQ(data.eventData, 31U);
  EXPECT_EQ(data.eventType, 8U);
  EXPECT_EQ(data.device, gpu(1));
  EXPECT_EQ(data.gpuInstanceId, 0xFFFFFFFFU);
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 30U), NVML_ERROR_TIMEOUT);
  control("[[fault]]\nkind = \"xid\"\ncode = 31\ngpu = [1, 2]\nid = 2\n");
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 500U), NVML_SUCCESS);
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 100U), NVML_ERROR_TIMEOUT);
  control("");
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 100U), NVML_ERROR_TIMEOUT);
  EXPECT_EQ(get<int()>("gpusight_sim_open_event_sets")(), 1);
  EXPECT_EQ(call("nvmlEventSetFree", set), NVML_SUCCESS);
  EXPECT_EQ(call("nvmlEventSetFree", set), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(get<int()>("gpusight_sim_open_event_sets")(), 0);
}

TEST_F(FaultTest, WhoWaitsIsWokenWhenTheEventIsDueOrPutIntoTheControlFile) {
  ASSERT_EQ(init(std::string(kRunning) + "[[fault]]\nkind = \"xid\"\ncode = 13\nat = 0.4\n"),
            NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", gpu(0), 8ULL, set), NVML_SUCCESS);
  nvmlEventData_t data{};
  const auto wait = [&] { return call("nvmlEventSetWait_v2", set, &data, 20000U); };
  auto begin = steady_clock::now();
  ASSERT_EQ(wait(), NVML_SUCCESS);
  EXPECT_EQ(data.eventData, 13U);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(4000));
  // Any call that finds the file changed wakes the one that waits.
  const nvmlDevice_t device = gpu(1);
  std::thread other([&] {
    usleep(50000);
    control("[[fault]]\nkind = \"xid\"\ncode = 31\ngpu = 0\n");
    power(device);
  });
  begin = steady_clock::now();
  EXPECT_EQ(wait(), NVML_SUCCESS);
  EXPECT_EQ(data.eventData, 31U);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(4000));
  other.join();
}

TEST_F(FaultTest, WaitingForEventsCostsNextToNothing) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  for (unsigned i = 0; i < 2; ++i) {
    ASSERT_EQ(call("nvmlDeviceRegisterEvents", gpu(i), 8ULL | 4ULL, set), NVML_SUCCESS);
  }
  nvmlEventData_t data{};
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  while (call("nvmlEventSetWait_v2", set, &data, 1000U) == NVML_SUCCESS) {
  }
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 20);  // twice a second would be enough
}

TEST_F(FaultTest, TheOldEventCallWritesTwentyFourBytes) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", gpu(0), 8ULL, set), NVML_SUCCESS);
  control("[[fault]]\nkind = \"xid\"\ncode = 79\ngpu = 0\n");
  nvmlEventData_t data{};
  data.gpuInstanceId = 0x55555555;
  ASSERT_EQ(call("nvmlEventSetWait", set, &data, 500U), NVML_SUCCESS);
  EXPECT_EQ(data.eventData, 79U);
  EXPECT_EQ(data.gpuInstanceId, 0x55555555U);
}

TEST_F(FaultTest, ScenarioFaultsStrikeAtTheirTime) {
  ASSERT_EQ(init(std::string("[clock]\nfrozen_at = 4\n") + kRunning +
                 "\n[[fault]]\nkind = \"gpu_lost\"\ngpu = 1\nat = 5\nuntil = 30\nback = "
                 "\"at_once\"\n"),
            NVML_SUCCESS);
  const nvmlDevice_t device = gpu(1);
  EXPECT_EQ(power(device), NVML_SUCCESS);
  control("[clock]\nfrozen_at = 5\n");
  EXPECT_EQ(power(device), NVML_ERROR_GPU_IS_LOST);
  control("[clock]\nfrozen_at = 30\n");
  EXPECT_EQ(power(device), NVML_SUCCESS);
}

TEST_F(FaultTest, ABadControlFileChangesNothing) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  control("[[fault]]\nkind = \"gpu_lost\"\ngpu = 0\n");
  testing::internal::CaptureStderr();
  control("[[fault]]\nkind = \"gpu_lsot\"\ngpu = 0\n");
  EXPECT_EQ(power(gpu(1)), NVML_SUCCESS);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("control.toml:2: fault[0].kind"), std::string::npos) << said;
  EXPECT_NE(said.find("did you mean \"gpu_lost\""), std::string::npos) << said;
}

TEST_F(FaultTest, CountsAreWrittenPerFunctionAndGpu) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  setenv("GPUSIGHT_SIM_COUNTS", path("counts").c_str(), 1);
  power(gpu(0));
  power(gpu(2));
  power(gpu(2));
  EXPECT_EQ(get<int(const char*)>("gpusight_sim_call_count")("nvmlDeviceGetPowerUsage"), 3);
  EXPECT_EQ(get<int(const char*)>("gpusight_sim_call_count")("nvmlNoSuchCall"), -1);
  EXPECT_EQ(get<unsigned long long()>("gpusight_sim_total_calls")(), 7U);
  control("dump_counts = true\n");
  power(gpu(0));
  std::ifstream file(path("counts"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("nvmlDeviceGetPowerUsage\t0\t1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nvmlDeviceGetPowerUsage\t2\t2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("open-sessions\t-\t1\n"), std::string::npos) << text;
}

TEST_F(FaultTest, OneFieldOfABatchMayFailAlone) {
  ASSERT_EQ(init(std::string(kRunning) +
                 "[[fault]]\nkind = \"return\"\nfunction = \"nvmlDeviceGetFieldValues\"\n"
                 "field = \"82\"\ncode = \"NO_PERMISSION\"\n"),
            NVML_SUCCESS);
  nvmlFieldValue_t fields[2] = {};
  fields[0].fieldId = 82;
  fields[1].fieldId = 83;
  ASSERT_EQ(call("nvmlDeviceGetFieldValues", gpu(0), 2, fields), NVML_SUCCESS);
  EXPECT_EQ(fields[0].nvmlReturn, NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(fields[1].nvmlReturn, NVML_SUCCESS);
}

// FAULT-085
TEST_F(FaultTest, InitMayGrowWithTheLimitOfOpenFiles) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit few{.rlim_cur = 50, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto begin = steady_clock::now();
  EXPECT_EQ(init(std::string(kRunning) + "[[fault]]\nkind = \"latency\"\nfunction = \"nvmlInit*\"\n"
                                         "microseconds_per_open_file = 1000\n"),
            NVML_SUCCESS);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(50));
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
}

// FAULT-083, FAULT-084
TEST_F(FaultTest, EveryCallTakesAsLongAsTheEnvironmentSays) {
  setenv("GPUSIGHT_SIM_LATENCY", "2000", 1);
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  unsetenv("GPUSIGHT_SIM_LATENCY");
  const nvmlDevice_t device = gpu(0);
  const auto begin = steady_clock::now();
  for (int i = 0; i < 10; ++i) power(device);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(20));
}

// FAULT-081
TEST_F(FaultTest, CallsAreCountedByGpu) {
  ASSERT_EQ(init(kRunning), NVML_SUCCESS);
  const nvmlDevice_t first = gpu(0);
  const nvmlDevice_t second = gpu(1);
  get<void()>("gpusight_sim_reset_counts")();
  for (int i = 0; i < 5; ++i) power(first);
  power(second);
  const auto about = get<unsigned long long(unsigned)>("gpusight_sim_gpu_calls");
  EXPECT_EQ(about(0), 5U);
  EXPECT_EQ(about(1), 1U);
  EXPECT_EQ(about(2), 0U);
  EXPECT_EQ(about(1000), 0U);
}

// FAULT-013
TEST_F(FaultTest, SomeXidsAreInTheKernelsLogOnly) {
  ASSERT_EQ(init(std::string(kRunning) +
                 "[[fault]]\nkind = \"xid\"\ncode = 119\nwhere = \"kernel_log\"\nat = 0.1\n"),
            NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", gpu(0), 8ULL, set), NVML_SUCCESS);
  nvmlEventData_t data{};
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 300U), NVML_ERROR_TIMEOUT);
}

}  // namespace
}  // namespace gpusight::sim
