// What each class of board supports, as real ones of the class were seen to.
#include "profiles.h"
#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

constexpr unsigned kNo = NVML_ERROR_NOT_SUPPORTED;
constexpr unsigned kGone = NVML_ERROR_DEPRECATED;

// From the table of what real boards report: return codes, and figures in MiB and watts.
struct Seen {
  const char* scenario;
  unsigned serial;
  unsigned fan;
  unsigned mig;
  unsigned ecc;
  unsigned retired;
  unsigned remapped;
  unsigned margin;
  unsigned threshold;  // absolute shutdown temperature
  unsigned memory_celsius;
  unsigned average_power;
  unsigned memory_power;
  unsigned application_clock;
  unsigned fabric;
  unsigned utilisation;
  unsigned total_mib;
  unsigned limit_watts;  // 0 = none
  unsigned bar1_mib;
};

const Seen kSeen[] = {
    {"a100-sxm-40gb+idle@550", 0, kNo, 0, 0, kNo, 0, kNo, 0, 0, kNo, kNo, 0, kNo, 0, 40960, 400,
     65536},
    {"b200-sxm-180gb+idle@580", 0, kNo, 0, 0, kNo, 0, 0, kNo, 0, 0, 0, 0, 0, 0, 183359, 1000,
     262144},
    {"h100-sxm-80gb+idle@580", 0, kNo, 0, 0, kNo, 0, 0, kNo, 0, 0, 0, 0, 0, 0, 81559, 700, 131072},
    {"l40s+idle@595", 0, kNo, kNo, 0, kNo, 0, 0, kNo, kNo, 0, kNo, kGone, kNo, 0, 46068, 350,
     65536},
    {"t4+idle@595", 0, kNo, kNo, 0, 0, kNo, kNo, 0, kNo, kNo, kNo, kGone, kNo, 0, 15360, 70, 256},
    {"rtx-a5000-laptop+idle@580", kNo, kNo, kNo, kNo, kNo, kNo, kNo, 0, kNo, 0, kNo, 0, kNo, 0,
     16384, 90, 16384},
    {"rtx-4090+idle@580", kNo, 0, kNo, 0, kNo, 0, 0, kNo, kNo, 0, kNo, kNo, kNo, 0, 24564, 450,
     32768},
    {"rtx-3090+idle@590", kNo, 0, kNo, kNo, kNo, kNo, kNo, 0, kNo, 0, kNo, kGone, kNo, 0, 24576,
     350, 256},
    {"gb10+idle@580", kNo, kNo, kNo, kNo, kNo, kNo, 0, kNo, kNo, 0, kNo, kNo, kNo, 0, 0, 0, 0},
};

class BoardTest : public SimTest, public testing::WithParamInterface<Seen> {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    setenv("GPUSIGHT_SIM_SCENARIO", GetParam().scenario, 1);
    ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  }
  unsigned field(unsigned id, unsigned scope = 0) const {
    nvmlFieldValue_t value{};
    value.fieldId = id;
    value.scopeId = scope;
    call("nvmlDeviceGetFieldValues", gpu(0), 1, &value);
    return value.nvmlReturn;
  }
};

// FAULT-008, FAULT-023, FAULT-024, FAULT-026, FAULT-074
TEST_P(BoardTest, SupportsWhatRealOnesWereSeenToSupport) {
  const Seen& seen = GetParam();
  const nvmlDevice_t device = gpu(0);
  unsigned one = 0;
  unsigned other = 0;
  unsigned more[2] = {};
  char text[96];
  EXPECT_EQ(call("nvmlDeviceGetSerial", device, text, 96U), seen.serial);
  EXPECT_EQ(call("nvmlDeviceGetFanSpeed", device, &one), seen.fan);
  EXPECT_EQ(call("nvmlDeviceGetMigMode", device, &one, &other), seen.mig);
  EXPECT_EQ(call("nvmlDeviceGetEccMode", device, &one, &other), seen.ecc);
  EXPECT_EQ(call("nvmlDeviceGetRetiredPagesPendingStatus", device, &one), seen.retired);
  EXPECT_EQ(call("nvmlDeviceGetRemappedRows", device, &one, &other, &more[0], &more[1]),
            seen.remapped);
  EXPECT_EQ(field(193), seen.margin);
  EXPECT_EQ(call("nvmlDeviceGetTemperatureThreshold", device, 0U, &one), seen.threshold);
  EXPECT_EQ(field(82), seen.memory_celsius);
  EXPECT_EQ(field(185), seen.average_power);
  EXPECT_EQ(field(185, NVML_POWER_SCOPE_MEMORY), seen.memory_power);
  EXPECT_EQ(field(185, NVML_POWER_SCOPE_MODULE), kNo);
  EXPECT_EQ(call("nvmlDeviceGetApplicationsClock", device, 0U, &one), seen.application_clock);
  nvmlGpuFabricInfo_t fabric{};
  EXPECT_EQ(call("nvmlDeviceGetGpuFabricInfo", device, &fabric), seen.fabric);
  nvmlUtilization_t busy{};
  EXPECT_EQ(call("nvmlDeviceGetUtilizationRates", device, &busy), seen.utilisation);
}

TEST_P(BoardTest, HasTheFiguresOfItsClass) {
  const Seen& seen = GetParam();
  nvmlMemory_t memory{};
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo", gpu(0), &memory), seen.total_mib == 0 ? kNo : 0);
  EXPECT_EQ(memory.total >> 20, seen.total_mib);
  unsigned limit = 0;
  EXPECT_EQ(call("nvmlDeviceGetPowerManagementLimit", gpu(0), &limit),
            seen.limit_watts == 0 ? kNo : 0);
  EXPECT_EQ(limit, seen.limit_watts * 1000);
  nvmlBAR1Memory_t bar1{};
  EXPECT_EQ(call("nvmlDeviceGetBAR1MemoryInfo", gpu(0), &bar1), seen.bar1_mib == 0 ? kNo : 0);
  EXPECT_EQ(bar1.bar1Total >> 20, seen.bar1_mib);
}

INSTANTIATE_TEST_SUITE_P(Classes, BoardTest, testing::ValuesIn(kSeen));

TEST(Board, EachOneCanBeReadAndIsWhole) {
  EXPECT_EQ(boards().size(), 13U);
  for (const BoardPtr& board : boards()) {
    EXPECT_FALSE(board->name.empty()) << board->id;
    EXPECT_GT(board->architecture, 3U) << board->id;
    EXPECT_GT(board->cuda_major, 5) << board->id;
    EXPECT_GT(board->peak_watts, board->idle_watts) << board->id;
    EXPECT_GT(board->peak_celsius, board->idle_celsius) << board->id;
    EXPECT_GE(board->max_graphics_mhz, board->idle_graphics_mhz) << board->id;
    EXPECT_GT(board->pcie_generation, 0U) << board->id;
    EXPECT_EQ(board->pci_device_id & 0xFFFF, 0x10DEU) << board->id;
    EXPECT_LE(board->default_limit_watts, board->max_limit_watts) << board->id;
    EXPECT_FALSE(board->retired_pages && board->row_remapping()) << board->id;
    for (const MigProfile& profile : board->mig_profiles) {
      EXPECT_LE(profile.memory_mib * profile.most, board->memory_mib) << profile.name;
      EXPECT_LE(profile.slices * profile.most, 7U) << profile.name;
    }
  }
}

class OwnBoardTest : public SimTest {};

TEST_F(OwnBoardTest, AScenarioMayBringABoardOfItsOwn) {
  ASSERT_EQ(init(R"(
[boards.odd]
like = "l40s"
name = "Odd Board"
memory_mib = 12345
[[gpu]]
board = "odd"
)"),
            NVML_SUCCESS);
  EXPECT_EQ(name_of(gpu(0)), "Odd Board");
  nvmlMemory_t memory{};
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", gpu(0), &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total >> 20, 12345U);
}

TEST_F(OwnBoardTest, ReadingsStandStill) {
  ASSERT_EQ(init(R"(
[[gpu]]
board = "t4"
[gpu.reading]
celsius = 71
power_watts = 33.51
graphics_mhz = 585
used_mib = 123
busy = 0.42
)"),
            NVML_SUCCESS);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetPowerUsage", gpu(0)), 33510U);
  unsigned celsius = 0;
  ASSERT_EQ(call("nvmlDeviceGetTemperature", gpu(0), 0U, &celsius), NVML_SUCCESS);
  EXPECT_EQ(celsius, 71U);
  nvmlUtilization_t busy{};
  ASSERT_EQ(call("nvmlDeviceGetUtilizationRates", gpu(0), &busy), NVML_SUCCESS);
  EXPECT_EQ(busy.gpu, 42U);
  nvmlMemory_v2_t memory{};
  memory.version = 0x02000028;
  ASSERT_EQ(call("nvmlDeviceGetMemoryInfo_v2", gpu(0), &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.used >> 20, 123U);
}

}  // namespace
}  // namespace gpusight::sim
