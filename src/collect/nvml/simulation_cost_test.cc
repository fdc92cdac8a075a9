// What reading costs in driver calls, counted by the simulated machine's library: every class of
// board with drivers of every age, from the first poll on.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "collect/nvml/fast_lane.h"
#include "collect/nvml/nvml_source.h"
#include "collect/nvml/slow_lane.h"

namespace gpusight::collect::nvml {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

#ifdef GPUSIGHT_SIM_LIBRARY
constexpr const char* kLibrary = GPUSIGHT_SIM_LIBRARY;
#else
constexpr const char* kLibrary = "";
#endif

constexpr std::string_view kBoards[] = {
    "a100-sxm-40gb",  "b200-sxm-180gb", "gb10",     "gtx-1080", "h100-pcie-80gb",   "h100-sxm-80gb",
    "h200-sxm-141gb", "l40s",           "rtx-3090", "rtx-4090", "rtx-a5000-laptop", "t4",
    "v100-sxm2-32gb"};
constexpr std::string_view kAges[] = {"470", "510", "535.43", "535.104", "550",
                                      "580", "590", "595",    "610"};

// Calls that opening may take: of the machine, and of each GPU and each MIG device. It happens once
// in a generation and is nobody's tick.
constexpr uint64_t kOpeningOnce = 12;
constexpr uint64_t kOpeningAGpu = 60;
constexpr uint64_t kOpeningAnInstance = 9;

class NvmlSimulationCost : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(kLibrary).empty()) GTEST_SKIP() << "built without the simulated machine";
    ::unsetenv("GPUSIGHT_SIM_CONTROL");
    library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    folder_ = testing::TempDir() + "nvml_sim_cost." + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    opened_.generation.reset();
    if (library_ == nullptr) return;
    symbol<void()>("gpusight_sim_restart")();
    ::dlclose(library_);
    std::filesystem::remove_all(folder_);
  }
  template <typename Function>
  Function* symbol(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  uint64_t made() { return symbol<unsigned long long()>("gpusight_sim_total_calls")(); }

  // Opens the scenario and checks what that cost.
  void open(const std::string& scenario, Duration interval) {
    opened_.generation.reset();
    ::setenv("GPUSIGHT_SIM_SCENARIO", scenario.c_str(), 1);
    symbol<void()>("gpusight_sim_restart")();
    source_ = create_nvml_source({.clock = &clock_,
                                  .root = platform::RootFs(folder_),
                                  .nvml_path = kLibrary,
                                  .interval = interval,
                                  .disabled = disabled_,
                                  .number = 1});
    opened_ = source_->open();
    ASSERT_NE(opened_.generation, nullptr) << scenario;
    uint64_t allowed = kOpeningOnce;
    for (const model::Device& device : opened_.generation->devices()) {
      const bool is_gpu = device.kind == model::DeviceKind::kGpu;
      allowed += is_gpu ? kOpeningAGpu : kOpeningAnInstance;
    }
    EXPECT_LE(made(), allowed) << scenario;
    is_first_ = true;
  }

  // The calls of one poll, by the library's own count.
  uint64_t poll(Lane& lane) {
    const uint64_t before = made();
    Report report(clock_, 1);
    EXPECT_EQ(lane.poll(report), Verdict::kGood);
    const uint64_t calls = made() - before;
    // The first one reports what opening cost, too.
    EXPECT_EQ(report.calls(), is_first_ ? before + calls : calls);
    is_first_ = false;
    for (const Report::Subject& subject : report.subjects()) {
      for (const model::Sample& sample : subject.samples) {
        const bool waits =
            sample.value.is_absent() && sample.value.reason() == model::Reason::kWarmingUp;
        if (waits) waiting_.insert(std::string(catalog::metric(sample.metric).name));
      }
    }
    return calls;
  }
  std::vector<Lane*> lanes(LaneCadence cadence) {
    std::vector<Lane*> found;
    for (const auto& lane : opened_.generation->lanes()) {
      if (lane->info().cadence == cadence && found.size() < most_lanes_)
        found.push_back(lane.get());
    }
    return found;
  }
  // So many ticks; `most` are the calls that a lane may make in each.
  void tick(int ticks, Duration interval, uint64_t most, const std::string& what) {
    for (int i = 0; i < ticks; ++i) {
      waiting_.clear();
      for (Lane* lane : lanes(LaneCadence::kFast)) EXPECT_LE(poll(*lane), most) << what << " " << i;
      clock_.advance(interval);
    }
  }

  uint64_t made_of(const char* function) {
    return static_cast<uint64_t>(symbol<int(const char*)>("gpusight_sim_call_count")(function));
  }
  // Reads the scenario for half a minute with these switched off.
  void read_without(const std::string& scenario, std::initializer_list<const char*> words) {
    disabled_ = {};
    for (const char* word : words) disabled_.add(*catalog::named_metrics(word));
    open(scenario, seconds(1));
    if (opened_.generation == nullptr) return;
    for (int i = 0; i < 30; ++i) {
      for (Lane* lane : lanes(LaneCadence::kFast)) poll(*lane);
      for (Lane* lane : lanes(LaneCadence::kSlow)) {
        if (i % 10 == 0) poll(*lane);
      }
      clock_.advance(seconds(1));
    }
  }

  catalog::MetricSet disabled_;
  void* library_ = nullptr;
  std::string folder_;
  FakeClock clock_;
  std::unique_ptr<Source> source_;
  Opened opened_;
  bool is_first_ = true;
  size_t most_lanes_ = 64;         // of a kind
  std::set<std::string> waiting_;  // metrics that had not had their turn in the last tick
};

// FAULT-083
TEST_F(NvmlSimulationCost, EveryBoardWithEveryDriverStaysWithinTheBoundsFromTheFirstPoll) {
  most_lanes_ = 2;  // all GPUs of these machines are alike
  for (const std::string_view board : kBoards) {
    for (const std::string_view age : kAges) {
      const std::string scenario = std::string(board) + "+training@" + std::string(age);
      open(scenario, seconds(1));
      tick(10, seconds(1), FastLane::kMostCalls, scenario);
      EXPECT_TRUE(waiting_.empty()) << scenario << ": " << *waiting_.begin();
      for (int i = 0; i < 4; ++i) {
        waiting_.clear();
        for (Lane* lane : lanes(LaneCadence::kSlow)) {
          EXPECT_LE(poll(*lane), SlowLane::kMostCalls) << scenario << " " << i;
        }
        clock_.advance(seconds(10));
      }
      EXPECT_TRUE(waiting_.empty()) << scenario << ": " << *waiting_.begin();
    }
  }
}

// FAULT-083
TEST_F(NvmlSimulationCost, ShortTicksOfSixteenGpusCostEightCallsEach) {
  for (const std::string_view age : kAges) {
    const std::string scenario = "sixteen-gpus@" + std::string(age);
    open(scenario, milliseconds(100));
    tick(30, milliseconds(100), FastLane::kMostCallsShort, scenario);
    EXPECT_TRUE(waiting_.empty()) << scenario << ": " << *waiting_.begin();
  }
}

// FAULT-083
TEST_F(NvmlSimulationCost, SixtyFourInstancesStayWithinTheBoundsOfTheirGpus) {
  for (const Duration interval : {Duration(seconds(1)), Duration(milliseconds(100))}) {
    open("many-mig", interval);
    ASSERT_EQ(opened_.generation->devices().size(), 16u + 64u);
    tick(30, interval, FastLane::most_calls(interval), "many-mig");
    EXPECT_TRUE(waiting_.empty()) << *waiting_.begin();
    for (int i = 0; i < 4; ++i) {
      for (Lane* lane : lanes(LaneCadence::kSlow)) EXPECT_LE(poll(*lane), SlowLane::kMostCalls);
      clock_.advance(seconds(10));
    }
  }
}

// FAULT-088
TEST_F(NvmlSimulationCost, WhatIsSwitchedOffCostsNoCall) {
  struct Case {
    std::string scenario;
    std::initializer_list<const char*> off;
    std::initializer_list<const char*> functions;
  };
  const Case cases[] = {
      {"h100-training",
       {"activity", "gpu_nvlink_*", "gpu_pcie_*_mean_*"},
       {"nvmlGpmSampleGet", "nvmlGpmMetricsGet", "nvmlGpmQueryDeviceSupport"}},
      {"v100-sxm2-32gb+training@470",
       {"gpu_nvlink_*"},
       {"nvmlDeviceGetNvLinkErrorCounter", "nvmlDeviceGetNvLinkState",
        "nvmlDeviceGetNvLinkVersion"}},
      {"h100-training",
       {"gpu_processes"},
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3",
        "nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetProcessesUtilizationInfo"}},
      {"a100-mig",
       {"gpu_processes"},
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}},
      {"l40s-inference",
       {"gpu_encoder_sessions", "gpu_encoder_frame_rate_*", "gpu_encoder_latency_*", "gpu_fbc_*"},
       {"nvmlDeviceGetEncoderStats", "nvmlDeviceGetFBCStats", "nvmlDeviceGetEncoderSessions"}},
      {"v100-sxm2-32gb+training@470",
       {"gpu_pcie_*_bytes_per_second"},
       {"nvmlDeviceGetPcieThroughput"}},
      {"a100-sxm-40gb+training@550",
       {"memory_errors"},
       {"nvmlDeviceGetMemoryErrorCounter", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetEccMode",
        "nvmlDeviceGetSramEccErrorStatus", "nvmlDeviceGetRowRemapperHistogram"}},
      {"h100-training", {"clocks"}, {"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo"}},
      {"h100-training", {"gpu_temperature_celsius"}, {"nvmlDeviceGetTemperatureV"}},
      {"h100-training",
       {"utilization", "gpu_memory_*", "power", "clocks"},
       {"nvmlDeviceGetSamples", "nvmlDeviceGetUtilizationRates"}},
  };
  for (const Case& one : cases) {
    read_without(one.scenario, {});
    uint64_t with = 0;
    for (const char* function : one.functions) with += made_of(function);
    EXPECT_GT(with, 0u) << one.scenario << " never calls " << *one.functions.begin();
    const uint64_t all = made();
    read_without(one.scenario, one.off);
    for (const char* function : one.functions) EXPECT_EQ(made_of(function), 0u) << function;
    EXPECT_LT(made(), all) << *one.off.begin();
  }
}

// FAULT-088
TEST_F(NvmlSimulationCost, WithEverythingSwitchedOffItIsAskedOnlyWhetherTheDeviceAnswers) {
  read_without("h100-training", {"*"});
  const uint64_t before = made();
  tick(5, seconds(1), 1, "nothing is wanted");
  EXPECT_EQ(made(), before + 5UL * 8);
  EXPECT_EQ(opened_.generation->devices().size(), 8u);
}

// FAULT-088
TEST_F(NvmlSimulationCost, WhatAnotherReadingIsMadeOfIsStillAskedFor) {
  read_without("h100-training",
               {"gpu_energy_joules_total", "gpu_power_average_watts", "gpu_power_instant_watts"});
  Report report(clock_, 1);
  lanes(LaneCadence::kFast)[0]->poll(report);
  const auto power = std::ranges::find_if(report.subjects()[0].samples, [](const auto& sample) {
    return sample.metric == catalog::MetricId::kGpuPower && !sample.value.is_absent();
  });
  EXPECT_NE(power, report.subjects()[0].samples.end());
}

// A time in which everything that was refused is asked again.
TEST_F(NvmlSimulationCost, AskingAgainIsSpreadOut) {
  open("rtx-4090+idle@550", seconds(1));
  for (int i = 0; i < 110; ++i) {
    tick(10, seconds(1), FastLane::kMostCalls, "rtx-4090");
    EXPECT_LE(poll(*lanes(LaneCadence::kSlow)[0]), SlowLane::kMostCalls) << i;
  }
}

}  // namespace
}  // namespace gpusight::collect::nvml
