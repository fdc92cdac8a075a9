// GPM, instances, sessions, accounting, shares of processes and events.
#include <algorithm>
#include <thread>

#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

// Seven of ten, for ever, on an H100 in two instances; one frozen instant at a time.
constexpr const char* kDivided = R"(
driver = "595.80"
[clock]
frozen_at = 100
[workload.steady]
phases = [{seconds = 1, high = 0.7, memory = 0.5, tensor = 0.5, decoder = 0.2, jpeg = 0.1}]
[[gpu]]
board = "h100-sxm-80gb"
[[gpu]]
board = "h100-sxm-80gb"
mig = true
[[gpu.instance]]
profile = "3g.40gb"
slot = 0
gi = 1
start = 4
[[gpu.instance]]
profile = "1g.10gb"
slot = 1
gi = 9
[[process]]
pid = 2900001
gpu = 1
gi = 1
ci = 0
share = 0.5
[[gpu]]
board = "a100-sxm-40gb"
)";

class GpmTest : public SimTest {
 protected:
  void at(double seconds) { control("[clock]\nfrozen_at = " + std::to_string(seconds) + "\n"); }
  nvmlGpmSample_t sample() const {
    nvmlGpmSample_t handle = nullptr;
    EXPECT_EQ(call("nvmlGpmSampleAlloc", &handle), NVML_SUCCESS);
    return handle;
  }
  // A pair of samples a second apart; the metric between them.
  nvmlGpmMetric_t metric(unsigned id, std::size_t index, std::optional<unsigned> instance = {}) {
    const nvmlGpmSample_t pair[] = {sample(), sample()};
    for (int i = 0; i < 2; ++i) {
      at(100 + i);
      const nvmlReturn_t code = instance
                                    ? call("nvmlGpmMigSampleGet", gpu(index), *instance, pair[i])
                                    : call("nvmlGpmSampleGet", gpu(index), pair[i]);
      EXPECT_EQ(code, NVML_SUCCESS);
    }
    nvmlGpmMetricsGet_t get{};
    get.version = 1;
    get.numMetrics = 1;
    get.sample1 = pair[0];
    get.sample2 = pair[1];
    get.metrics[0].metricId = id;
    EXPECT_EQ(call("nvmlGpmMetricsGet", &get), NVML_SUCCESS);
    for (const nvmlGpmSample_t one : pair) EXPECT_EQ(call("nvmlGpmSampleFree", one), NVML_SUCCESS);
    return get.metrics[0];
  }
};

// FAULT-014, FAULT-119
TEST_F(GpmTest, MetricsAreTheMeansBetweenTwoSamples) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  EXPECT_NEAR(metric(1, 0).value, 70, 0.01);
  EXPECT_NEAR(metric(5, 0).value, 35, 0.01);
  EXPECT_NEAR(metric(10, 0).value, 35, 0.01);
  EXPECT_NEAR(metric(30, 0).value, 20, 0.01);
  EXPECT_GT(metric(20, 0).value, 100);
  EXPECT_GT(metric(60, 0).value, 1000);
  EXPECT_EQ(metric(37, 0).nvmlReturn, NVML_ERROR_NOT_SUPPORTED);  // there are seven decoders
  EXPECT_EQ(metric(999, 0).nvmlReturn, NVML_ERROR_INVALID_ARGUMENT);
}

// FAULT-065
TEST_F(GpmTest, AnInstanceHasTheShareOfItsProcesses) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  EXPECT_NEAR(metric(1, 1, 1).value, 35, 0.01);
  EXPECT_NEAR(metric(1, 1, 9).value, 0, 0.01);
  EXPECT_EQ(call("nvmlGpmMigSampleGet", gpu(1), 5U, sample()), NVML_ERROR_INVALID_ARGUMENT);
}

// FAULT-014
TEST_F(GpmTest, ASingleMetricMayFailWithAZeroBesideIt) {
  ASSERT_EQ(init(std::string(kDivided) +
                 "[[fault]]\nkind = \"return\"\nfunction = \"nvmlGpmMetricsGet\"\nfield = \"2\"\n"
                 "code = \"UNKNOWN\"\n"),
            NVML_SUCCESS);
  EXPECT_EQ(metric(1, 0).nvmlReturn, NVML_SUCCESS);
  EXPECT_EQ(metric(2, 0).nvmlReturn, NVML_ERROR_UNKNOWN);
  EXPECT_EQ(metric(2, 0).value, 0);
}

// FAULT-053
TEST_F(GpmTest, OpenSamplesAreCounted) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  const auto open = get<int()>("gpusight_sim_open_gpm_samples");
  const nvmlGpmSample_t one = sample();
  const nvmlGpmSample_t two = sample();
  EXPECT_EQ(open(), 2);
  call("nvmlGpmSampleFree", one);
  EXPECT_EQ(call("nvmlGpmSampleFree", one), NVML_ERROR_INVALID_ARGUMENT);
  call("nvmlGpmSampleFree", two);
  EXPECT_EQ(open(), 0);
}

TEST_F(GpmTest, SamplesMustBelongTogetherAndLieApart) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  nvmlGpmMetricsGet_t get{};
  get.version = 1;
  get.numMetrics = 1;
  get.metrics[0].metricId = 1;
  get.sample1 = sample();
  get.sample2 = sample();
  EXPECT_EQ(call("nvmlGpmMetricsGet", &get), NVML_ERROR_INVALID_ARGUMENT);  // never taken
  ASSERT_EQ(call("nvmlGpmSampleGet", gpu(0), get.sample1), NVML_SUCCESS);
  at(100.05);
  ASSERT_EQ(call("nvmlGpmSampleGet", gpu(0), get.sample2), NVML_SUCCESS);
  EXPECT_EQ(call("nvmlGpmMetricsGet", &get), NVML_ERROR_INVALID_ARGUMENT);  // too near
  at(101);
  ASSERT_EQ(call("nvmlGpmSampleGet", gpu(1), get.sample2), NVML_SUCCESS);
  EXPECT_EQ(call("nvmlGpmMetricsGet", &get), NVML_ERROR_INVALID_ARGUMENT);  // of another GPU
  get.version = 2;
  EXPECT_EQ(call("nvmlGpmMetricsGet", &get), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

TEST_F(GpmTest, BoardsBeforeHopperHaveNone) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  nvmlGpmSupport_t support{.version = 1, .isSupportedDevice = 9};
  ASSERT_EQ(call("nvmlGpmQueryDeviceSupport", gpu(2), &support), NVML_SUCCESS);
  EXPECT_EQ(support.isSupportedDevice, 0U);
  EXPECT_EQ(call("nvmlGpmSampleGet", gpu(2), sample()), NVML_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(call("nvmlGpmQueryDeviceSupport", gpu(0), &support), NVML_SUCCESS);
  EXPECT_EQ(support.isSupportedDevice, 1U);
}

class InstanceTest : public SimTest {};

TEST_F(InstanceTest, GpuInstancesAreFoundByProfileAndById) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  nvmlGpuInstance_t found[7] = {};
  unsigned count = 7;
  ASSERT_EQ(call("nvmlDeviceGetGpuInstances", gpu(1), 9U, found, &count), NVML_SUCCESS);
  ASSERT_EQ(count, 1U);
  nvmlGpuInstanceInfo_t info{};
  ASSERT_EQ(call("nvmlGpuInstanceGetInfo", found[0], &info), NVML_SUCCESS);
  EXPECT_EQ(info.device, gpu(1));
  EXPECT_EQ(info.id, 1U);
  EXPECT_EQ(info.profileId, 9U);
  EXPECT_EQ(info.placement.start, 4U);
  EXPECT_EQ(info.placement.size, 4U);
  nvmlGpuInstance_t same = nullptr;
  ASSERT_EQ(call("nvmlDeviceGetGpuInstanceById", gpu(1), 1U, &same), NVML_SUCCESS);
  EXPECT_EQ(same, found[0]);
  EXPECT_EQ(call("nvmlDeviceGetGpuInstanceById", gpu(1), 4U, &same), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(call("nvmlDeviceGetGpuInstanceById", gpu(0), 1U, &same), NVML_ERROR_NOT_SUPPORTED);
  nvmlComputeInstance_t compute = nullptr;
  ASSERT_EQ(call("nvmlGpuInstanceGetComputeInstanceById", found[0], 0U, &compute), NVML_SUCCESS);
  nvmlComputeInstanceInfo_t inner{};
  ASSERT_EQ(call("nvmlComputeInstanceGetInfo_v2", compute, &inner), NVML_SUCCESS);
  EXPECT_EQ(inner.gpuInstance, found[0]);
  EXPECT_EQ(inner.placement.size, 3U);
}

TEST_F(InstanceTest, ProfilesSayWhatFitsAndWhatStillDoes) {
  ASSERT_EQ(init(kDivided), NVML_SUCCESS);
  nvmlGpuInstanceProfileInfo_v3_t info{};
  info.version = 0x03000098;
  ASSERT_EQ(call("nvmlDeviceGetGpuInstanceProfileInfoV", gpu(1), 0U, &info), NVML_SUCCESS);
  EXPECT_STREQ(info.name, "MIG 1g.10gb");
  EXPECT_EQ(info.instanceCount, 7U);
  EXPECT_EQ(info.memorySizeMB, 9984U);
  unsigned left = 9;
  ASSERT_EQ(call("nvmlDeviceGetGpuInstanceRemainingCapacity", gpu(1), 19U, &left), NVML_SUCCESS);
  EXPECT_EQ(left, 3U);  // three slices of seven, and as much of the memory, are free
  ASSERT_EQ(call("nvmlDeviceGetGpuInstanceRemainingCapacity", gpu(1), 0U, &left), NVML_SUCCESS);
  EXPECT_EQ(left, 0U);
}

class UserTest : public SimTest {};

// FAULT-112
TEST_F(UserTest, AccountingKeepsProcessesThatHaveGone) {
  ASSERT_EQ(init(R"(
[clock]
frozen_at = 50
[workload.steady]
phases = [{seconds = 1, high = 0.5}]
[[gpu]]
board = "a100-sxm-40gb"
accounting = true
[[process]]
pid = 2946000
gpu = 0
memory_mib = 900
share = 0.5
from = 0
every_seconds = 60
for_seconds = 40
[[process]]
pid = 2948000
gpu = 0
from = 30
)"),
            NVML_SUCCESS);
  unsigned pids[8] = {};
  unsigned count = 8;
  ASSERT_EQ(call("nvmlDeviceGetAccountingPids", gpu(0), &count, pids), NVML_SUCCESS);
  ASSERT_EQ(count, 2U);
  nvmlAccountingStats_t stats{};
  ASSERT_EQ(call("nvmlDeviceGetAccountingStats", gpu(0), 2946000U, &stats), NVML_SUCCESS);
  EXPECT_EQ(stats.isRunning, 0U);
  EXPECT_EQ(stats.time, 40000U);
  EXPECT_EQ(stats.gpuUtilization, 25U);
  EXPECT_EQ(stats.maxMemoryUsage, 900ULL << 20);
  ASSERT_EQ(call("nvmlDeviceGetAccountingStats", gpu(0), 2948000U, &stats), NVML_SUCCESS);
  EXPECT_EQ(stats.isRunning, 1U);
  EXPECT_EQ(stats.time, 0U);
  EXPECT_EQ(call("nvmlDeviceGetAccountingStats", gpu(0), 1U, &stats), NVML_ERROR_NOT_FOUND);
}

TEST_F(UserTest, VideoSessionsHaveRowsAndMeans) {
  ASSERT_EQ(init(R"(
[clock]
frozen_at = 10
[[gpu]]
board = "l40s"
[[video_session]]
pid = 2921100
codec = "hevc"
frames_per_second = 30
latency_microseconds = 2000
[[video_session]]
pid = 2921101
frames_per_second = 60
latency_microseconds = 1000
until = 20
[[video_session]]
pid = 2921102
kind = "capture"
frames_per_second = 25
)"),
            NVML_SUCCESS);
  unsigned count = 0, frames = 0, latency = 0;
  ASSERT_EQ(call("nvmlDeviceGetEncoderStats", gpu(0), &count, &frames, &latency), NVML_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(frames, 45U);
  EXPECT_EQ(latency, 1500U);
  nvmlEncoderSessionInfo_t rows[2] = {};
  count = 1;
  EXPECT_EQ(call("nvmlDeviceGetEncoderSessions", gpu(0), &count, rows),
            NVML_ERROR_INSUFFICIENT_SIZE);
  ASSERT_EQ(count, 2U);
  ASSERT_EQ(call("nvmlDeviceGetEncoderSessions", gpu(0), &count, rows), NVML_SUCCESS);
  EXPECT_EQ(rows[0].pid, 2921100U);
  EXPECT_EQ(rows[0].codecType, 1U);
  nvmlFBCStats_t capture{};
  ASSERT_EQ(call("nvmlDeviceGetFBCStats", gpu(0), &capture), NVML_SUCCESS);
  EXPECT_EQ(capture.sessionsCount, 1U);
  EXPECT_EQ(capture.averageFPS, 25U);
}

// FAULT-001, FAULT-002
TEST_F(UserTest, SharesOfProcessesCanBeGarbageOrFromTheFuture) {
  const std::string machine = R"(
[clock]
frozen_at = 100
start_unix = 1800000000
[workload.steady]
phases = [{seconds = 1, high = 0.5}]
[[gpu]]
board = "rtx-3090"
[[process]]
pid = 2900001
gpu = 0
)";
  ASSERT_EQ(init(machine), NVML_SUCCESS);
  nvmlProcessUtilizationSample_t rows[100] = {};
  const auto list = [&] {
    unsigned count = 100;
    EXPECT_EQ(call("nvmlDeviceGetProcessUtilization", gpu(0), rows, &count, 0ULL), NVML_SUCCESS);
    return count;
  };
  EXPECT_EQ(list(), 1U);
  const auto now = rows[0].timeStamp;
  control("[[fault]]\nkind = \"bad_samples\"\nhow = \"garbage\"\n");
  EXPECT_EQ(list(), 100U);
  EXPECT_EQ(rows[0].smUtil, 37100U);
  EXPECT_EQ(rows[1].pid, 0U);
  EXPECT_EQ(rows[2].pid, 2900001U);
  EXPECT_EQ(rows[99].timeStamp, 0U);
  control("[[fault]]\nkind = \"bad_samples\"\nhow = \"future\"\n");
  EXPECT_EQ(list(), 1U);
  EXPECT_EQ(rows[0].timeStamp, now + 3600000000ULL);
}

class EventTest : public SimTest {
 protected:
  struct Got {
    nvmlReturn_t code;
    unsigned long long type;
    unsigned long long data;
  };
  Got wait(nvmlEventSet_t set, unsigned timeout_ms = 0) const {
    nvmlEventData_t data{};
    const nvmlReturn_t code = call("nvmlEventSetWait_v2", set, &data, timeout_ms);
    return {code, data.eventType, data.eventData};
  }
  nvmlEventSet_t registered(unsigned long long types) const {
    nvmlEventSet_t set = nullptr;
    EXPECT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceRegisterEvents", gpu(0), types, set), NVML_SUCCESS);
    return set;
  }
  void at(double seconds, const std::string& more = "") {
    control("[clock]\nfrozen_at = " + std::to_string(seconds) + "\n" + more);
  }
};

TEST_F(EventTest, EccErrorsAreEventsByKind) {
  ASSERT_EQ(init(R"(
[clock]
frozen_at = 0
[[gpu]]
board = "h100-sxm-80gb"
[[fault]]
kind = "ecc_errors"
error = "uncorrected"
at = 10
[[fault]]
kind = "ecc_errors"
error = "corrected"
per_second = 4
at = 20
until = 22.5
)"),
            NVML_SUCCESS);
  const nvmlEventSet_t set = registered(3);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
  at(15);
  EXPECT_EQ(wait(set).type, 2U);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
  at(30);
  EXPECT_EQ(wait(set).type, 1U);  // at most one a second
  EXPECT_EQ(wait(set).type, 1U);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
}

TEST_F(EventTest, ChangesOfStateAreEvents) {
  ASSERT_EQ(init(R"(
[clock]
frozen_at = 3
[workload.main]
phases = [{seconds = 10, high = 0}, {seconds = 10, high = 1}]
[[gpu]]
board = "rtx-a5000-laptop"
[[fault]]
kind = "power_source"
source = "battery"
at = 5
)"),
            NVML_SUCCESS);
  const nvmlEventSet_t set = registered(nvmlEventTypePState | nvmlEventTypePowerSourceChange);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
  at(6);
  const Got source = wait(set);
  EXPECT_EQ(source.type, 0x80U);
  EXPECT_EQ(source.data, 1U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetPowerSource", gpu(0)), 1U);
  at(15);
  const Got state = wait(set);
  EXPECT_EQ(state.type, 4U);
  EXPECT_EQ(state.data, 0U);  // from P8 to P0
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
}

TEST_F(EventTest, ANewDivisionIsAnEvent) {
  setenv("GPUSIGHT_SIM_SCENARIO", "mig-change", 1);
  ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  at(10);
  const nvmlEventSet_t set = registered(nvmlEventMigConfigChange);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
  at(35);
  EXPECT_EQ(wait(set).type, 0x100U);
  at(50);
  EXPECT_EQ(wait(set).type, 0x100U);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
}

// FAULT-012
TEST_F(EventTest, AnXidMayBelongToAnInstanceAndComesAsOftenAsItHappens) {
  ASSERT_EQ(init(std::string(kDivided) + R"(
[[fault]]
kind = "xid"
code = 31
gpu = 1
gi = 1
ci = 0
at = 110
[[fault]]
kind = "xid"
code = 31
gpu = 1
at = 111
)"),
            NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", gpu(1), 8ULL, set), NVML_SUCCESS);
  at(120);
  nvmlEventData_t data{};
  ASSERT_EQ(call("nvmlEventSetWait_v2", set, &data, 0U), NVML_SUCCESS);
  EXPECT_EQ(data.eventData, 31U);
  EXPECT_EQ(data.gpuInstanceId, 1U);
  EXPECT_EQ(data.computeInstanceId, 0U);
  ASSERT_EQ(call("nvmlEventSetWait_v2", set, &data, 0U), NVML_SUCCESS);
  EXPECT_EQ(data.gpuInstanceId, 0xFFFFFFFFU);
  EXPECT_EQ(wait(set).code, NVML_ERROR_TIMEOUT);
}

TEST_F(EventTest, WhatABoardCannotTellIsNotRegistered) {
  ASSERT_EQ(init("[[gpu]]\nboard = \"gtx-1080\"\n"), NVML_SUCCESS);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  EXPECT_EQ(call("nvmlDeviceRegisterEvents", gpu(0), 1ULL, set), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(call("nvmlDeviceRegisterEvents", gpu(0), 8ULL, set), NVML_SUCCESS);
}

TEST_F(EventTest, TheDriverTellsOfGpusTakenAndGivenBack) {
  ASSERT_EQ(init("driver = \"595.80\"\n[clock]\nfrozen_at = 0\n[[gpu]]\nboard = \"l40s\"\n"
                 "[[fault]]\nkind = \"gpu_lost\"\nat = 10\nuntil = 20\n"),
            NVML_SUCCESS);
  nvmlSystemEventSetCreateRequest_v1_t create{.version = 0x01000010, .set = nullptr};
  ASSERT_EQ(call("nvmlSystemEventSetCreate", &create), NVML_SUCCESS);
  nvmlSystemRegisterEventRequest_v1_t wanted{
      .version = 0x01000018, .eventTypes = 3, .set = create.set};
  ASSERT_EQ(call("nvmlSystemRegisterEvents", &wanted), NVML_SUCCESS);
  nvmlSystemEventData_v1_t data[4] = {};
  nvmlSystemEventSetWaitRequest_v1_t wait{.version = 0x01000020,
                                          .timeoutms = 0,
                                          .set = create.set,
                                          .data = data,
                                          .dataSize = 4,
                                          .numEvent = 0};
  EXPECT_EQ(call("nvmlSystemEventSetWait", &wait), NVML_ERROR_TIMEOUT);
  at(25);
  ASSERT_EQ(call("nvmlSystemEventSetWait", &wait), NVML_SUCCESS);
  ASSERT_EQ(wait.numEvent, 2U);
  EXPECT_EQ(data[0].eventType, 1U);
  EXPECT_EQ(data[1].eventType, 2U);
  EXPECT_EQ(data[0].gpuId, 0x1b00U);
}

class PlaceTest : public SimTest {};

TEST_F(PlaceTest, NeighboursAndPeersFollowFromSlotsAndLinks) {
  ASSERT_EQ(init("[[gpu]]\nboard = \"h100-sxm-80gb\"\ncount = 8\n"), NVML_SUCCESS);
  const auto level = [&](unsigned a, unsigned b) {
    unsigned value = 99;
    EXPECT_EQ(call("nvmlDeviceGetTopologyCommonAncestor", gpu(a), gpu(b), &value), NVML_SUCCESS);
    return value;
  };
  EXPECT_EQ(level(0, 0), 0U);
  EXPECT_EQ(level(0, 1), 20U);
  EXPECT_EQ(level(0, 2), 40U);
  EXPECT_EQ(level(0, 7), 50U);
  nvmlDevice_t near[8] = {};
  unsigned count = 8;
  ASSERT_EQ(call("nvmlDeviceGetTopologyNearestGpus", gpu(0), 40U, &count, near), NVML_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(near[0], gpu(2));
  unsigned status = 9;
  ASSERT_EQ(call("nvmlDeviceGetP2PStatus", gpu(0), gpu(5), 2U, &status), NVML_SUCCESS);
  EXPECT_EQ(status, 0U);
  nvmlPciInfo_t remote{};
  ASSERT_EQ(call("nvmlDeviceGetNvLinkRemotePciInfo_v2", gpu(0), 0U, &remote), NVML_SUCCESS);
  EXPECT_STREQ(remote.busId, "00000000:C4:00.0");
}

TEST_F(PlaceTest, ABridgeJoinsPairs) {
  ASSERT_EQ(init("[[gpu]]\nboard = \"rtx-3090\"\ncount = 4\n"), NVML_SUCCESS);
  unsigned status = 9;
  ASSERT_EQ(call("nvmlDeviceGetP2PStatus", gpu(2), gpu(3), 2U, &status), NVML_SUCCESS);
  EXPECT_EQ(status, 0U);
  ASSERT_EQ(call("nvmlDeviceGetP2PStatus", gpu(1), gpu(2), 2U, &status), NVML_SUCCESS);
  EXPECT_EQ(status, 5U);
}

}  // namespace
}  // namespace gpusight::sim
