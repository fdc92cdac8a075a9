// The source as it is, on the simulated machine's library: loaded by the same way as the driver's,
// with declarations that share nothing with this folder's.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "collect/nvml/fast_lane.h"
#include "collect/nvml/nvml_source.h"

namespace gpusight::collect {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using model::Reason;
using std::chrono::milliseconds;

#ifdef GPUSIGHT_SIM_LIBRARY
constexpr const char* kLibrary = GPUSIGHT_SIM_LIBRARY;
#else
constexpr const char* kLibrary = "";
#endif

class NvmlSimulation : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(kLibrary).empty()) GTEST_SKIP() << "built without the simulated machine";
    folder_ = testing::TempDir() + "nvml_sim." + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    ::unsetenv("GPUSIGHT_SIM_CONTROL");
  }
  void TearDown() override {
    opened_.generation.reset();
    if (folder_.empty()) return;
    ::unsetenv("GPUSIGHT_SIM_CONTROL");
    restart(kLibrary);
    std::filesystem::remove_all(folder_);
  }

  static void restart(const std::string& library) {
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << ::dlerror();
    reinterpret_cast<void (*)()>(::dlsym(handle, "gpusight_sim_restart"))();
    ::dlclose(handle);
  }

  static uint64_t total_calls() {
    void* handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    const uint64_t calls =
        reinterpret_cast<unsigned long long (*)()>(::dlsym(handle, "gpusight_sim_total_calls"))();
    ::dlclose(handle);
    return calls;
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ + path).parent_path());
    std::ofstream(folder_ + path) << text;
  }

  void open(const std::string& scenario, const std::string& variant = {}) {
    const std::filesystem::path base = std::filesystem::path(kLibrary).parent_path();
    const std::string library = (base / variant / "libnvidia-ml.so.1").string();
    ::setenv("GPUSIGHT_SIM_SCENARIO", scenario.c_str(), 1);
    restart(library);
    source_ = create_nvml_source({.clock = &clock_,
                                  .root = platform::RootFs(folder_),
                                  .nvml_path = library,
                                  .interval = milliseconds(1000),
                                  .pace = Pace::kAtOnce,
                                  .number = 1});
    reopen();
  }
  void reopen() {
    opened_.generation.reset();
    opened_ = source_->open();
  }
  void control(const std::string& text) {
    const std::string path = folder_ + "/control.toml";
    ::setenv("GPUSIGHT_SIM_CONTROL", path.c_str(), 1);
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
    std::this_thread::sleep_for(milliseconds(40));
  }

  Lane* lane(size_t device, const std::string& kind) {
    const std::string name = "nvml/" + opened_.generation->devices()[device].uuid + "/" + kind;
    for (const auto& each : opened_.generation->lanes()) {
      if (each->info().name == name) return each.get();
    }
    return nullptr;
  }
  Verdict poll(Lane* which) {
    report_.emplace(clock_, 1);
    return which->poll(*report_);
  }
  Verdict fast(size_t device = 0) { return poll(lane(device, "fast")); }

  const Report::Subject* subject(size_t device) const {
    const std::string& uuid = opened_.generation->devices()[device].uuid;
    for (const auto& each : report_->subjects()) {
      if (each.uuid == uuid) return &each;
    }
    return nullptr;
  }
  const model::Value* value(MetricId metric, size_t device = 0,
                            const std::string& label = {}) const {
    const Report::Subject* about = subject(device);
    const model::Value* found = nullptr;
    if (about == nullptr) return nullptr;
    for (const model::Sample& sample : about->samples) {
      if (sample.metric == metric && sample.label == label) found = &sample.value;
    }
    return found;
  }
  double number(MetricId metric, size_t device = 0, const std::string& label = {}) const {
    const model::Value* found = value(metric, device, label);
    return found == nullptr ? -1 : found->number().value_or(-2);
  }
  size_t lost_in_report(size_t device) const {
    return static_cast<size_t>(std::ranges::count_if(subject(device)->samples, [](const auto& s) {
      return s.value.is_absent() && s.value.reason() == Reason::kLost;
    }));
  }

  SystemClock clock_;
  std::string folder_;
  std::unique_ptr<Source> source_;
  Opened opened_;
  std::optional<Report> report_;
};

TEST_F(NvmlSimulation, EightBoardsInTrainingAreReadAndMarkedAsSimulated) {
  open("h100-training");
  ASSERT_NE(opened_.generation, nullptr) << static_cast<int>(opened_.status.message);
  EXPECT_TRUE(opened_.status.simulated);
  EXPECT_EQ(opened_.status.arguments, (std::vector<std::string>{"8", "580.105.08"}));
  ASSERT_EQ(opened_.generation->devices().size(), 8u);
  EXPECT_EQ(opened_.generation->devices()[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(opened_.generation->lanes().size(), 17u);
  fast(3);
  std::this_thread::sleep_for(milliseconds(1100));
  EXPECT_EQ(fast(3), Verdict::kGood);
  EXPECT_GE(number(MetricId::kGpuUtilization, 3), 0);
  EXPECT_LE(number(MetricId::kGpuUtilizationMin, 3), number(MetricId::kGpuUtilization, 3));
  EXPECT_GE(number(MetricId::kGpuUtilizationMax, 3), number(MetricId::kGpuUtilization, 3));
  EXPECT_GT(value(MetricId::kGpuUtilization, 3)->window(), milliseconds(300));
  EXPECT_LE(value(MetricId::kGpuUtilization, 3)->window(), milliseconds(1300));
  EXPECT_GT(number(MetricId::kGpuPower, 3), 50);
  EXPECT_LT(number(MetricId::kGpuPower, 3), 800);
  EXPECT_GT(number(MetricId::kGpuPowerAverage, 3), 50);
  EXPECT_GT(number(MetricId::kGpuPowerInstant, 3), 50);
  EXPECT_GT(number(MetricId::kGpuMemoryTemperature, 3), 20);
  EXPECT_GT(number(MetricId::kGpuEnergy, 3), 1000);
  const double sum = number(MetricId::kGpuMemoryUsed, 3) + number(MetricId::kGpuMemoryFree, 3) +
                     number(MetricId::kGpuMemoryReserved, 3);
  EXPECT_NEAR(sum, number(MetricId::kGpuMemoryTotal, 3), 4 << 20);
  EXPECT_EQ(value(MetricId::kGpuFanSpeed, 3)->reason(), Reason::kNotSupported);
  ASSERT_TRUE(subject(3)->processes.has_value());
  EXPECT_EQ(subject(3)->processes->at(0).pid, 2914204);
  EXPECT_LE(report_->calls(), nvml::FastLane::kMostCalls);
  EXPECT_EQ(report_->implausible(), 0u);
}

TEST_F(NvmlSimulation, NamesOfProcessesThatProcDoesNotShowComeFromTheDriver) {
  open("h100-training");
  fast(1);
  poll(lane(1, "slow"));
  EXPECT_EQ(number(MetricId::kGpuPowerLimit, 1), 700);
  fast(1);
  ASSERT_TRUE(subject(1)->processes.has_value());
  EXPECT_EQ(subject(1)->processes->at(0).driver_name, "/opt/conda/bin/python3");
}

TEST_F(NvmlSimulation, ADesktopBoardHasFansAndMixedProcesses) {
  open("rtx4090-desktop");
  fast();
  EXPECT_GE(number(MetricId::kGpuFanSpeed, 0, "0"), 0);
  EXPECT_EQ(value(MetricId::kGpuMemoryTemperature)->reason(), Reason::kNotSupported);
  const auto& processes = subject(0)->processes;
  ASSERT_TRUE(processes.has_value());
  EXPECT_GE(processes->size(), 3u);
  EXPECT_EQ(processes->at(0).type, model::ProcessType::kGraphics);
}

// FAULT-015
TEST_F(NvmlSimulation, ADividedBoardKeepsPowerAndItsPartsHaveMemory) {
  open("a100-mig");
  ASSERT_EQ(opened_.generation->devices().size(), 5u);
  const model::Device& part = opened_.generation->devices()[1];
  EXPECT_EQ(part.kind, model::DeviceKind::kMig);
  EXPECT_EQ(part.profile, "3g.20gb");
  EXPECT_EQ(part.parent, opened_.generation->devices()[0].uuid);
  EXPECT_EQ(opened_.generation->devices()[3].profile, "1g.5gb");
  EXPECT_EQ(opened_.generation->devices()[4].kind, model::DeviceKind::kGpu);
  fast(0);  // with it, the calls of opening are counted
  fast(0);
  EXPECT_EQ(value(MetricId::kGpuUtilization)->reason(), Reason::kNotSupported);
  EXPECT_GT(number(MetricId::kGpuPower), 20);
  EXPECT_EQ(value(MetricId::kGpuPower, 1), nullptr);
  EXPECT_GE(number(MetricId::kGpuMemoryUsed, 1), 14200.0 * 1024 * 1024);
  EXPECT_LE(report_->calls(), nvml::FastLane::kMostCalls);
  ASSERT_TRUE(subject(1)->processes.has_value());
  ASSERT_EQ(subject(1)->processes->size(), 1u);
  EXPECT_EQ(subject(1)->processes->at(0).pid, 2922010);
  EXPECT_EQ(subject(1)->processes->at(0).gpu_instance, 1u);
  poll(lane(0, "slow"));
  EXPECT_EQ(number(MetricId::kGpuMigMode), 1);
  EXPECT_TRUE(report_->events().empty());
}

// FAULT-038
TEST_F(NvmlSimulation, AGpuThatFallsOffTheBusIsLostAndComesBack) {
  open("h100-training");
  const std::string uuid = opened_.generation->devices()[2].uuid;
  fast(2);
  control("[[fault]]\nkind = \"gpu_lost\"\ngpu = 2\nback = \"at_once\"\n");
  EXPECT_EQ(fast(2), Verdict::kDeviceLost);
  EXPECT_EQ(subject(2)->state, model::DeviceState::kLost);
  EXPECT_GT(lost_in_report(2), 15u);
  EXPECT_EQ(fast(1), Verdict::kGood);
  reopen();
  EXPECT_EQ(opened_.status.phase, model::SourcePhase::kDegraded);
  EXPECT_EQ(opened_.generation->devices().size(), 7u);
  ASSERT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(opened_.untouched[0].first.uuid, uuid);
  control("");
  reopen();
  EXPECT_EQ(opened_.status.phase, model::SourcePhase::kRunning);
  EXPECT_EQ(opened_.generation->devices().size(), 8u);
}

TEST_F(NvmlSimulation, AReloadedDriverEndsTheGenerationAndIsOpenedAgain) {
  open("h100-training");
  EXPECT_EQ(fast(), Verdict::kGood);
  control("[[fault]]\nkind = \"driver_reload\"\ncode = \"UNINITIALIZED\"\n");
  EXPECT_EQ(fast(), Verdict::kGenerationLost);
  reopen();
  EXPECT_EQ(opened_.status.phase, model::SourcePhase::kRunning);
  EXPECT_EQ(fast(), Verdict::kGood);
}

// FAULT-043
TEST_F(NvmlSimulation, AVersionMismatchNamesTheKernelModule) {
  write("/proc/driver/nvidia/version", "NVRM version: Kernel Module  570.86.15  Release Build\n");
  open("h100-training");
  opened_.generation.reset();
  control("[[fault]]\nkind = \"version_mismatch\"\n");
  reopen();
  EXPECT_EQ(opened_.status.message, catalog::MessageId::kNvmlVersionMismatch);
  ASSERT_EQ(opened_.status.arguments.size(), 2u);
  EXPECT_EQ(opened_.status.arguments[0], "570.86.15");
}

// FAULT-079
TEST_F(NvmlSimulation, ASleepingMachineIsNotCalledOnce) {
  const std::string device = "/sys/bus/pci/devices/0000:01:00.0";
  write(device + "/vendor", "0x10de");
  write(device + "/device", "0x2684");
  write(device + "/class", "0x030000");
  write(device + "/power/runtime_status", "suspended");
  open("rtx4090-desktop");
  EXPECT_EQ(opened_.status.phase, model::SourcePhase::kAsleep);
  EXPECT_EQ(source_->watch({}), Wish::kStay);
  EXPECT_EQ(total_calls(), 0u);
  write(device + "/power/runtime_status", "active");
  EXPECT_EQ(source_->watch({}), Wish::kOpen);
  reopen();
  EXPECT_EQ(opened_.status.phase, model::SourcePhase::kRunning);
  EXPECT_GT(total_calls(), 0u);
}

TEST_F(NvmlSimulation, LanesRunAtOnceWithoutSharingMoreThanTheyMay) {
  open("a100-mig");
  std::vector<std::thread> threads;
  std::atomic<int> bad = 0;
  for (const auto& each : opened_.generation->lanes()) {
    threads.emplace_back([this, &bad, lane = each.get()] {
      const MonoTime end = clock_.mono() + milliseconds(600);
      while (clock_.mono() < end) {
        Report report(clock_, 1);
        if (lane->poll(report) != Verdict::kGood) ++bad;
        std::this_thread::sleep_for(milliseconds(20));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad, 0);
}

TEST_F(NvmlSimulation, AnXidArrivesAsAnEvent) {
  open("h100-training");
  Lane* events = opened_.generation->lanes().back().get();
  ASSERT_EQ(events->info().name, "nvml/events");
  EXPECT_EQ(poll(events), Verdict::kGood);
  control("[[fault]]\nkind = \"xid\"\ncode = 48\ngpu = 5\n");
  std::vector<model::Event> xids;  // beside changes of clocks and performance state
  for (int i = 0; i < 4 && xids.empty(); ++i) {
    poll(events);
    std::ranges::copy_if(report_->events(), std::back_inserter(xids),
                         [](const auto& event) { return event.kind == EventKind::kXid; });
  }
  ASSERT_EQ(xids.size(), 1u);
  EXPECT_EQ(xids[0].code, 48);
  EXPECT_EQ(xids[0].uuid, opened_.generation->devices()[5].uuid);
}

// FAULT-010, FAULT-024
TEST_F(NvmlSimulation, GarbageFromTheDriverIsDroppedAndCounted) {
  open("h100-training");
  control(
      "[[fault]]\nkind = \"value\"\nfunction = \"nvmlDeviceGetUtilizationRates\"\n"
      "field = \"gpu\"\nvalue = 808334905\n"
      "[[fault]]\nkind = \"return\"\nfunction = \"nvmlDeviceGetSamples\"\ncode = \"NOT_FOUND\"\n"
      "[[fault]]\nkind = \"value\"\nfunction = \"nvmlDeviceGetFieldValues\"\nfield = \"82\"\n"
      "value = 255\n");
  fast();
  EXPECT_EQ(value(MetricId::kGpuUtilization)->reason(), Reason::kImplausible);
  EXPECT_EQ(value(MetricId::kGpuMemoryTemperature)->reason(), Reason::kImplausible);
  EXPECT_GE(report_->implausible(), 2u);
}

// FAULT-006, FAULT-071
TEST_F(NvmlSimulation, UnknownMemoryAndStrayBytesAreHarmless) {
  open("h100-training");
  control(
      "[[fault]]\nkind = \"process_memory_unavailable\"\n"
      "[[fault]]\nkind = \"name_bytes\"\nbytes = 'NVIDIA \\xff\\xfe\\x1b[31m GeForce'\n");
  reopen();
  EXPECT_EQ(opened_.generation->devices()[0].name, "NVIDIA \uFFFD\uFFFD[31m GeForce");
  fast();
  ASSERT_TRUE(subject(0)->processes.has_value());
  for (const model::Process& process : *subject(0)->processes) {
    EXPECT_EQ(process.memory_bytes.reason(), Reason::kNotSupported);
  }
}

// FAULT-044, FAULT-005
TEST_F(NvmlSimulation, LibrariesOfEveryAgeAreRead) {
  struct Age {
    const char* variant;
    const char* driver;
  };
  for (const Age& age : {Age{"390", "390.157"}, Age{"old", "470.256.02"}, Age{"535", "535.183.01"},
                         Age{"", "535.54.03"}}) {
    SCOPED_TRACE(age.driver);
    const std::string scenario = folder_ + "/one.toml";
    std::ofstream(scenario) << "driver = \"" << age.driver << "\"\n"
                            << "[workload.w]\nphases = [{seconds = 5, high = 0.5}]\n"
                            << "[[gpu]]\nboard = \"rtx-4090\"\n"
                            << "[[process]]\npid = 2900001\nmemory_mib = 100\n"
                            << "[[process]]\npid = 2900002\nmemory_mib = 200\n";
    open(scenario, age.variant);
    ASSERT_NE(opened_.generation, nullptr);
    EXPECT_EQ(fast(), Verdict::kGood);
    EXPECT_EQ(poll(lane(0, "slow")), Verdict::kGood);
    fast();
    EXPECT_GE(number(MetricId::kGpuTemperature), 20);
    EXPECT_GT(number(MetricId::kGpuMemoryTotal), 20e9);
    ASSERT_TRUE(subject(0)->processes.has_value());
    ASSERT_EQ(subject(0)->processes->size(), 2u);
    EXPECT_EQ(subject(0)->processes->at(1).pid, 2900002);
    EXPECT_EQ(subject(0)->processes->at(1).memory_bytes.number(), 200.0 * 1024 * 1024);
  }
}

TEST_F(NvmlSimulation, WithAccountingAProcessHasTheFiguresOfItsWholeLife) {
  open("accounting");
  poll(lane(0, "slow"));  // finds that the mode is on
  fast();                 // wants to know of these
  ASSERT_TRUE(subject(0)->processes.has_value());
  for (const model::Process& process : *subject(0)->processes) {
    EXPECT_FALSE(process.accounting.has_value());
  }
  poll(lane(0, "slow"));
  fast();
  ASSERT_GE(subject(0)->processes->size(), 2u);
  for (const model::Process& process : *subject(0)->processes) {
    ASSERT_TRUE(process.accounting.has_value()) << process.pid;
    EXPECT_LE(*process.accounting->utilization_ratio, 1);
    EXPECT_GE(*process.accounting->most_memory_bytes, *process.memory_bytes.number() * 0.9);
  }
  fast(1);
  for (const model::Process& process : *subject(1)->processes) {
    EXPECT_FALSE(process.accounting.has_value()) << "the mode is off there";
  }
}

TEST_F(NvmlSimulation, OfConfidentialProcessesItIsToldHowMuchIsProtected) {
  open("confidential");
  fast();
  ASSERT_FALSE(subject(0)->processes->empty());
  EXPECT_FALSE(subject(0)->processes->front().protected_memory_bytes.has_value());
  poll(lane(0, "slow"));
  fast();
  for (const model::Process& process : *subject(0)->processes) {
    EXPECT_EQ(process.protected_memory_bytes, process.memory_bytes.number());
  }
  open("h100-training");
  poll(lane(0, "slow"));
  fast();
  EXPECT_FALSE(subject(0)->processes->front().protected_memory_bytes.has_value());
}

TEST_F(NvmlSimulation, EccErrorsOfLinksBeyondTheTwelfthAreAskedForOneByOne) {
  open("h100-training");
  for (int i = 0; i < 3; ++i) {
    poll(lane(0, "slow"));
  }
  for (const char* link : {"0", "11", "12", "17"}) {
    const model::Value* errors = value(MetricId::kGpuNvlinkEccErrors, 0, link);
    ASSERT_NE(errors, nullptr) << link;
    EXPECT_EQ(errors->number(), 0) << link;
  }
}

}  // namespace
}  // namespace gpusight::collect
