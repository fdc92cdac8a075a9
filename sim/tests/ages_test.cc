// One machine with the drivers of nine ages: what each has, lacks and numbers differently.
#include "scenario.h"
#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

constexpr unsigned kMissing = NVML_ERROR_FUNCTION_NOT_FOUND;
constexpr unsigned kInvalid = NVML_ERROR_INVALID_ARGUMENT;
constexpr unsigned kNo = NVML_ERROR_NOT_SUPPORTED;

struct AgeFacts {
  const char* age;
  const char* driver;
  unsigned memory_v2;          // code of nvmlDeviceGetMemoryInfo_v2
  unsigned processes_v3;       // of nvmlDeviceGetComputeRunningProcesses_v3
  std::size_t stride;          // of its rows
  unsigned fans;               // of nvmlDeviceGetNumFans on a board without
  unsigned event_reasons;      // of nvmlDeviceGetCurrentClocksEventReasons
  unsigned power_instant;      // of field 186
  unsigned pcie_bytes;         // of field 197
  unsigned thermal_251;        // of field 251: thermal slowdown, or power smoothing for root
  unsigned thermal_269;        // of field 269
  unsigned remapped_v2;        // of nvmlDeviceGetRemappedRows_v2
  unsigned temperature_v;      // of nvmlDeviceGetTemperatureV
  unsigned fabric_v3;          // of the third version of nvmlGpuFabricInfo
  unsigned application_clock;  // of nvmlDeviceGetApplicationsClock
  unsigned gpm;                // of nvmlGpmQueryDeviceSupport
};

const AgeFacts kAges[] = {
    {"470", "470.256.02", kMissing, kMissing, 0, kMissing, kMissing, kInvalid, kInvalid, kInvalid,
     kInvalid, kMissing, kMissing, kMissing, 0, kMissing},
    {"510", "510.108.03", 0, 0, 24, kNo, kMissing, kInvalid, kInvalid, kInvalid, kInvalid, kMissing,
     kMissing, kMissing, 0, kMissing},
    {"535.43", "535.43.02", 0, 0, 32, kNo, 0, 0, kInvalid, kInvalid, kInvalid, kMissing, kMissing,
     kMissing, 0, 0},
    {"535.104", "535.104.12", 0, 0, 24, kNo, 0, 0, kInvalid, kInvalid, kInvalid, kMissing, kMissing,
     kMissing, 0, 0},
    {"550", "550.163.01", 0, 0, 24, kNo, 0, 0, kInvalid, kInvalid, kInvalid, kMissing, kMissing, 25,
     0, 0},
    {"580", "580.105.08", 0, 0, 24, kNo, 0, 0, 0, kNo, 0, kMissing, 0, 0, 0, 0},
    {"590", "590.48.01", 0, 0, 24, kNo, 0, 0, 0, kNo, 0, kMissing, 0, 0, NVML_ERROR_DEPRECATED, 0},
    {"595", "595.80", 0, 0, 24, kNo, 0, 0, 0, kNo, 0, 0, 0, 0, NVML_ERROR_DEPRECATED, 0},
    {"610", "610.57.04", 0, 0, 24, kNo, 0, 0, 0, kNo, 0, 0, 0, 0, NVML_ERROR_DEPRECATED, 0},
};

class AgeTest : public SimTest, public testing::WithParamInterface<AgeFacts> {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    const std::string name = std::string("h100-training@") + GetParam().age;
    setenv("GPUSIGHT_SIM_SCENARIO", name.c_str(), 1);
    ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  }
  unsigned field(unsigned id) const {
    nvmlFieldValue_t value{};
    value.fieldId = id;
    call("nvmlDeviceGetFieldValues", gpu(0), 1, &value);
    return value.nvmlReturn;
  }
};

// FAULT-005, FAULT-044, FAULT-045, FAULT-090
TEST_P(AgeTest, HasLacksAndNumbersAsItsHeadersSay) {
  const AgeFacts& facts = GetParam();
  const nvmlDevice_t device = gpu(0);
  char text[80] = {};
  ASSERT_EQ(call("nvmlSystemGetDriverVersion", text, 80U), NVML_SUCCESS);
  EXPECT_STREQ(text, facts.driver);
  nvmlMemory_v2_t memory{};
  memory.version = 0x02000028;
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo_v2", device, &memory), facts.memory_v2);
  unsigned one = 0;
  EXPECT_EQ(call("nvmlDeviceGetNumFans", device, &one), facts.fans);
  unsigned long long bits = 0;
  EXPECT_EQ(call("nvmlDeviceGetCurrentClocksEventReasons", device, &bits), facts.event_reasons);
  EXPECT_EQ(call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits), 0U);
  EXPECT_EQ(field(186), facts.power_instant);
  EXPECT_EQ(field(197), facts.pcie_bytes);
  EXPECT_EQ(field(251), facts.thermal_251);
  EXPECT_EQ(field(269), facts.thermal_269);
  EXPECT_EQ(field(82), 0U);
  nvmlRemappedRowsInfo_v2_t rows{};
  EXPECT_EQ(call("nvmlDeviceGetRemappedRows_v2", device, &rows), facts.remapped_v2);
  nvmlTemperature_t temperature{};
  temperature.version = 0x0100000C;
  EXPECT_EQ(call("nvmlDeviceGetTemperatureV", device, &temperature), facts.temperature_v);
  nvmlGpuFabricInfo_v3_t fabric{};
  fabric.version = 0x03000028;
  EXPECT_EQ(call("nvmlDeviceGetGpuFabricInfoV", device, &fabric), facts.fabric_v3);
  EXPECT_EQ(call("nvmlDeviceGetApplicationsClock", device, 0U, &one), facts.application_clock);
  nvmlGpmSupport_t gpm{.version = 1, .isSupportedDevice = 0};
  EXPECT_EQ(call("nvmlGpmQueryDeviceSupport", device, &gpm), facts.gpm);
}

TEST_P(AgeTest, WritesProcessRowsOfItsSize) {
  const AgeFacts& facts = GetParam();
  std::vector<unsigned char> bytes(64 * 32, 0xA5);
  unsigned count = 64;
  ASSERT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(1), &count,
                 static_cast<void*>(bytes.data())),
            facts.processes_v3);
  if (facts.stride == 0) return;
  ASSERT_EQ(count, 1U);
  for (std::size_t i = facts.stride; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], 0xA5) << i;
  EXPECT_NE(bytes[facts.stride - 1], 0xA5);
}

INSTANTIATE_TEST_SUITE_P(Drivers, AgeTest, testing::ValuesIn(kAges));

TEST(Age, EveryAgeOfTheDataIsTested) {
  EXPECT_EQ(age_names().size(), std::size(kAges));
  for (const AgeFacts& facts : kAges) {
    const std::optional<Age> age = find_age(facts.age);
    ASSERT_TRUE(age) << facts.age;
    EXPECT_EQ(age->driver, facts.driver);
    EXPECT_GE(age->cuda, 11000);
  }
}

class FieldAgeTest : public SimTest {
 protected:
  nvmlReturn_t field(const std::string& driver, unsigned id) {
    get<void()>("gpusight_sim_restart")();
    EXPECT_EQ(init("driver = \"" + driver + "\"\n[[gpu]]\nboard = \"b200-sxm-180gb\"\n"),
              NVML_SUCCESS);
    nvmlFieldValue_t value{};
    value.fieldId = id;
    call("nvmlDeviceGetFieldValues", gpu(0), 1, &value);
    return value.nvmlReturn;
  }
};

TEST_F(FieldAgeTest, NumbersThatMovedMeanWhatTheirDriverMeant) {
  // Power smoothing is for root on this board, the thermal counters are for all.
  const nvmlReturn_t smoothing = NVML_ERROR_NO_PERMISSION;
  EXPECT_EQ(field("570.148.08", 251), smoothing);
  EXPECT_EQ(field("570.148.08", 269), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(field("575.57.08", 251), NVML_SUCCESS);
  EXPECT_EQ(field("575.57.08", 269), smoothing);
  EXPECT_EQ(field("580.65.06", 252), NVML_SUCCESS);
  EXPECT_EQ(field("580.105.08", 251), smoothing);
  EXPECT_EQ(field("580.105.08", 271), NVML_SUCCESS);
  EXPECT_EQ(field("580.105.08", 301), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(field("580.159.03", 301), NVML_SUCCESS);
  EXPECT_EQ(field("590.44.01", 301), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(field("595.71.05", 301), NVML_SUCCESS);
  EXPECT_EQ(field("525.147.05", 185), NVML_SUCCESS);
  EXPECT_EQ(field("530.41.03", 185), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(field("535.43.02", 185), NVML_SUCCESS);
}

}  // namespace
}  // namespace gpusight::sim
