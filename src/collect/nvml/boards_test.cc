// The source on every board that the simulated machine has, with every age of the driver: what is
// there is sound, what is not has a reason, and the calls stay within their bounds.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "collect/nvml/fast_lane.h"
#include "collect/nvml/nvml_source.h"
#include "collect/nvml/slow_lane.h"

namespace gpusight::collect {
namespace {

using enum catalog::MetricId;
using catalog::MetricId;
using model::Reason;

#ifdef GPUSIGHT_SIM_LIBRARY
constexpr const char* kLibrary = GPUSIGHT_SIM_LIBRARY;
#else
constexpr const char* kLibrary = "";
#endif

constexpr const char* kBoards[] = {
    "a100-sxm-40gb",  "b200-sxm-180gb", "gb10",     "gtx-1080", "h100-pcie-80gb",   "h100-sxm-80gb",
    "h200-sxm-141gb", "l40s",           "rtx-3090", "rtx-4090", "rtx-a5000-laptop", "t4",
    "v100-sxm2-32gb"};
constexpr const char* kDrivers[] = {"470.256.02", "510.108.03", "535.43.02",  "535.104.12",
                                    "550.163.01", "580.65.06",  "580.105.08", "590.48.01",
                                    "595.80",     "610.57.04"};

// One device of a scenario, polled by hand on the real clock.
class SimulatedBoard {
 public:
  explicit SimulatedBoard(const std::string& scenario) {
    folder_ = testing::TempDir() + "nvml_boards." + std::to_string(::getpid());
    std::filesystem::create_directories(folder_ + "/proc");
    std::ofstream(folder_ + "/proc/meminfo") << "MemTotal:       125829120 kB\n";
    std::ofstream(folder_ + "/machine.toml") << scenario;
    ::setenv("GPUSIGHT_SIM_SCENARIO", (folder_ + "/machine.toml").c_str(), 1);
    void* handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    reinterpret_cast<void (*)()>(::dlsym(handle, "gpusight_sim_restart"))();
    ::dlclose(handle);
    source_ = create_nvml_source(
        {.clock = &clock_, .root = platform::RootFs(folder_), .nvml_path = kLibrary, .number = 1});
    opened_ = source_->open();
  }
  ~SimulatedBoard() {
    opened_.generation.reset();
    std::filesystem::remove_all(folder_);
  }
  SimulatedBoard(const SimulatedBoard&) = delete;
  SimulatedBoard& operator=(const SimulatedBoard&) = delete;

  bool is_open() const { return opened_.generation != nullptr; }
  const model::Device& device() const { return opened_.generation->devices().front(); }

  const Report& poll(std::string_view kind) {
    for (const auto& lane : opened_.generation->lanes()) {
      if (lane->info().name != "nvml/" + device().uuid + "/" + std::string(kind)) continue;
      report_.emplace(clock_, 1);
      verdict_ = lane->poll(*report_);
    }
    for (const auto& subject : report_->subjects()) {
      for (const model::Sample& sample : subject.samples) {
        values_[{subject.uuid, sample.metric, sample.label}] = sample.value;
      }
      if (subject.uuid == device().uuid && subject.processes) processes_ = *subject.processes;
    }
    return *report_;
  }
  Verdict verdict() const { return verdict_; }

  std::optional<double> number(MetricId metric, const std::string& label = {},
                               std::string uuid = {}) const {
    if (uuid.empty()) uuid = device().uuid;
    const auto at = values_.find({uuid, metric, label});
    return at == values_.end() ? std::nullopt : at->second.number();
  }
  std::optional<Reason> reason(MetricId metric) const {
    const auto at = values_.find({device().uuid, metric, ""});
    if (at == values_.end() || !at->second.is_absent()) return std::nullopt;
    return at->second.reason();
  }
  const std::vector<model::Process>& processes() const { return processes_; }

  SystemClock clock_;
  std::string folder_;
  std::unique_ptr<Source> source_;
  Opened opened_;
  std::optional<Report> report_;
  Verdict verdict_ = Verdict::kGood;
  std::map<std::tuple<std::string, MetricId, std::string>, model::Value> values_;
  std::vector<model::Process> processes_;
};

std::string scenario(const std::string& board, const std::string& driver,
                     const std::string& more = {}) {
  return "driver = \"" + driver + "\"\n[workload.w]\nphases = [{seconds = 5, high = 0.8}]\n" +
         "[[gpu]]\nboard = \"" + board + "\"\n" + more +
         "[[process]]\npid = 2900001\nmemory_mib = 1000\nshare = 0.5\n";
}

class WithSimulation : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(kLibrary).empty()) GTEST_SKIP() << "built without the simulated machine";
    ::unsetenv("GPUSIGHT_SIM_CONTROL");
  }
};

class NvmlBoards : public WithSimulation, public testing::WithParamInterface<const char*> {};

// FAULT-097, FAULT-074, FAULT-090
TEST_P(NvmlBoards, AreReadWithDriversOfEveryAgeWithinTheBoundsOfCalls) {
  for (const char* driver : kDrivers) {
    SCOPED_TRACE(driver);
    SimulatedBoard board(scenario(GetParam(), driver));
    ASSERT_TRUE(board.is_open()) << static_cast<int>(board.opened_.status.message);
    board.poll("fast");
    board.poll("slow");
    for (int i = 0; i < 3; ++i) {
      const Report& fast = board.poll("fast");
      EXPECT_EQ(board.verdict(), Verdict::kGood);
      EXPECT_LE(fast.calls(), nvml::FastLane::kMostCalls);
      EXPECT_EQ(fast.implausible(), 0u);
      const Report& slow = board.poll("slow");
      EXPECT_EQ(board.verdict(), Verdict::kGood);
      EXPECT_LE(slow.calls(), nvml::SlowLane::kMostCalls);
      EXPECT_EQ(slow.implausible(), 0u);
    }
    EXPECT_TRUE(board.number(kGpuTemperature));
    EXPECT_TRUE(board.number(kGpuUtilization));
    EXPECT_TRUE(board.number(kGpuMemoryUsed));
    EXPECT_TRUE(board.number(kGpuClock, "sm"));
    EXPECT_TRUE(board.number(kGpuPower));
    EXPECT_TRUE(board.number(kGpuThrottle, "sw_power_cap"));
    EXPECT_TRUE(board.number(kGpuComputeMode));
    const bool has_links = board.number(kGpuNvlinkSpeed, "0").has_value();
    EXPECT_EQ(board.number(kGpuNvlinkState, "0").has_value(), has_links);
    EXPECT_EQ(board.number(kGpuNvlinkVersion, "0").has_value(), has_links);
    ASSERT_EQ(board.processes().size(), 1u);
    EXPECT_EQ(board.processes()[0].pid, 2900001);
    EXPECT_EQ(board.processes()[0].memory_bytes.number(), 1000.0 * 1024 * 1024);
    EXPECT_TRUE(board.processes()[0].utilization_ratio.number());
  }
}

class NvmlBoard : public WithSimulation {};

std::string fact(const SimulatedBoard& board, std::string_view name) {
  const std::string* known = model::find_fact(board.device(), name);
  return known == nullptr ? "-" : *known;
}

TEST_F(NvmlBoard, TellsWhatItIsMadeOf) {
  SimulatedBoard board(scenario("h100-sxm-80gb", "580.105.08"));
  EXPECT_EQ(fact(board, "cuda"), "13.0");
  EXPECT_EQ(fact(board, "nvml"), "13.580.105.08");
  EXPECT_EQ(fact(board, "architecture"), "hopper");
  EXPECT_EQ(fact(board, "brand"), "nvidia");
  EXPECT_EQ(fact(board, "compute_capability"), "9.0");
  EXPECT_EQ(fact(board, "memory_bus_bits"), "5120");
  EXPECT_EQ(fact(board, "inforom_image").substr(0, 5), "G520.");
  EXPECT_EQ(fact(board, "gsp_firmware"), "580.105.08");
  EXPECT_EQ(fact(board, "memory_kind"), "dedicated");
}

// A value of the last time would be stale by now: everything must find room at each poll.
TEST_F(NvmlBoard, WithManyLinksIsReadWholeEachTimeWhateverTheDriver) {
  const std::pair<const char*, const char*> kCases[] = {{"a100-sxm-40gb", "470.256.02"},
                                                        {"h100-sxm-80gb", "535.104.12"},
                                                        {"h100-sxm-80gb", "580.105.08"},
                                                        {"h200-sxm-141gb", "610.57.04"},
                                                        {"b200-sxm-180gb", "595.80"}};
  for (const auto& [name, driver] : kCases) {
    SCOPED_TRACE(std::string(name) + " " + driver);
    SimulatedBoard board(scenario(name, driver));
    board.poll("fast");
    for (int i = 0; i < 4; ++i) board.poll("slow");  // learns what there is
    for (int i = 0; i < 3; ++i) {
      const MonoTime start = board.clock_.mono();
      const Report& slow = board.poll("slow");
      EXPECT_LE(slow.calls(), nvml::SlowLane::kMostCalls);
      for (const model::Sample& sample : slow.subjects().front().samples) {
        if (sample.value.is_absent()) continue;
        EXPECT_GE(sample.value.read_at(), start) << catalog::metric(sample.metric).name;
      }
    }
    EXPECT_EQ(board.number(kGpuNvlinkState, "11"), 1);
    EXPECT_TRUE(board.number(kGpuNvlinkVersion, "11"));
  }
}

// FAULT-008
TEST_F(NvmlBoard, ThatSharesTheHostsMemorySaysSo) {
  SimulatedBoard board(scenario("gb10", "580.105.08"));
  board.poll("fast");
  EXPECT_EQ(fact(board, "memory_kind"), "unified");
  EXPECT_EQ(board.number(kGpuMemoryTotal), 125829120.0 * 1024);
  EXPECT_EQ(board.number(kGpuMemoryUsed), 1000.0 * 1024 * 1024);
  EXPECT_EQ(board.reason(kGpuMemoryReserved), Reason::kNotSupported);
}

TEST_F(NvmlBoard, WithLinksBetweenItsChipsTellsOfEach) {
  SimulatedBoard board(scenario("gb10", "580.105.08"));
  board.poll("slow");
  EXPECT_EQ(fact(board, "c2c"), "on");
  EXPECT_EQ(board.number(kGpuC2cState, "9"), 1);
  EXPECT_EQ(board.number(kGpuC2cSpeed, "0"), 44712e6);
  EXPECT_EQ(board.number(kGpuC2cReplays, "0"), 0);
  EXPECT_EQ(board.number(kGpuC2cState, "10"), std::nullopt);
}

TEST_F(NvmlBoard, OfTheFifthNvlinkTellsOfErrorRatiosAndBlocks) {
  SimulatedBoard board(scenario("b200-sxm-180gb", "580.105.08"));
  board.poll("slow");
  board.poll("slow");
  EXPECT_EQ(board.number(kGpuNvlinkSymbolErrorRatio, "17"), 0);  // none was seen
  EXPECT_TRUE(board.number(kGpuNvlinkFecBlocks, "0"));
  EXPECT_TRUE(board.number(kGpuNvlinkFecBlocks, "15"));
  EXPECT_EQ(board.number(kGpuNvlinkPacketErrors, "malformed"), 0);
  EXPECT_EQ(board.number(kGpuFabricState), 3);
  EXPECT_TRUE(board.number(kGpuFabricClique));
  EXPECT_NE(fact(board, "fabric_cluster"), "-");
  EXPECT_NE(fact(board, "pci_sub_device_id"), "-");
}

TEST_F(NvmlBoard, CountsBytesWithoutActivityCountersAndHasARateAllTheSame) {
  SimulatedBoard board(scenario("l40s", "590.48.01"));
  board.poll("fast");
  board.poll("slow");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  board.poll("fast");
  board.poll("slow");
  EXPECT_EQ(board.number(kGpuPcieTransmitMean), std::nullopt);
  EXPECT_TRUE(board.number(kGpuPcieTransmitRate));
  EXPECT_TRUE(board.number(kGpuPcieReceiveRate));
}

INSTANTIATE_TEST_SUITE_P(Simulation, NvmlBoards, testing::ValuesIn(kBoards), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace gpusight::collect
