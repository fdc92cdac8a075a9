// Sizes as facts state them: every call writes so many bytes and not one more.
#include <functional>

#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

constexpr unsigned char kCanary = 0xA5;
constexpr std::size_t kTail = 64;

// A buffer of canaries; how far into it a call has written.
class Canary {
 public:
  explicit Canary(std::size_t size) : bytes_(size + kTail, kCanary) {}

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes_.data());
  }
  void set_word(std::size_t offset, unsigned value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  unsigned word(std::size_t offset) const {
    unsigned value = 0;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  bool untouched_from(std::size_t offset) const {
    for (std::size_t i = offset; i < bytes_.size(); ++i) {
      if (bytes_[i] != kCanary) return false;
    }
    return true;
  }

 private:
  std::vector<unsigned char> bytes_;
};

struct Written {
  const char* function;
  std::size_t size;
  unsigned version;  // 0 = the structure has none
};

class AbiTest : public SimTest {};

TEST_F(AbiTest, EachStructureCallWritesItsSizeAndNoMore) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  const Written all[] = {{"nvmlDeviceGetMemoryInfo", 24, 0},
                         {"nvmlDeviceGetMemoryInfo_v2", 40, 0x02000028},
                         {"nvmlDeviceGetBAR1MemoryInfo", 24, 0},
                         {"nvmlDeviceGetUtilizationRates", 8, 0},
                         {"nvmlDeviceGetPciInfo", 52, 0},
                         {"nvmlDeviceGetPciInfo_v2", 52, 0},
                         {"nvmlDeviceGetPciInfo_v3", 68, 0},
                         {"nvmlDeviceGetPciInfoExt", 64, 0x01000040},
                         {"nvmlDeviceGetTemperatureV", 12, 0x0100000C},
                         {"nvmlDeviceGetMarginTemperature", 8, 0x01000008},
                         {"nvmlDeviceGetDynamicPstatesInfo", 132, 0},
                         {"nvmlDeviceGetRowRemapperHistogram", 20, 0},
                         {"nvmlDeviceGetGpuFabricInfo", 28, 0},
                         {"nvmlDeviceGetGpuFabricInfoV", 36, 0x02000024},
                         {"nvmlDeviceGetGpuFabricInfoV", 40, 0x03000028}};
  for (const Written& one : all) {
    Canary buffer(one.size);
    if (one.version != 0) buffer.set_word(0, one.version);
    if (std::string(one.function) == "nvmlDeviceGetTemperatureV") buffer.set_word(4, 0);
    EXPECT_EQ(call(one.function, gpu(0), buffer.as<void>()), NVML_SUCCESS) << one.function;
    EXPECT_TRUE(buffer.untouched_from(one.size)) << one.function << " " << one.size;
    EXPECT_FALSE(buffer.untouched_from(one.size - 4)) << one.function << " " << one.size;
  }
}

TEST_F(AbiTest, AWrongStructureVersionIsRefused) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  for (const char* function :
       {"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetTemperatureV", "nvmlDeviceGetMarginTemperature",
        "nvmlDeviceGetFanSpeedRPM", "nvmlDeviceGetPciInfoExt", "nvmlDeviceGetGpuFabricInfoV"}) {
    Canary buffer(128);
    EXPECT_EQ(call(function, gpu(0), buffer.as<void>()), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
        << function;
    EXPECT_TRUE(buffer.untouched_from(0)) << function;
  }
}

TEST_F(AbiTest, MissingPointersAndUnknownHandlesAreInvalidArguments) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  unsigned value = 0;
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", gpu(0), static_cast<unsigned*>(nullptr)),
            NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", reinterpret_cast<nvmlDevice_t>(0x1234), &value),
            NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", static_cast<nvmlDevice_t>(nullptr), &value),
            NVML_ERROR_INVALID_ARGUMENT);
}

// The rows of the third call, by driver.
struct Rows {
  const char* driver;
  const char* function;
  std::size_t stride;
};

class ProcessRowTest : public SimTest, public testing::WithParamInterface<Rows> {};

// FAULT-005, FAULT-045
TEST_P(ProcessRowTest, ProcessRowsHaveTheStrideOfTheDriver) {
  std::string scenario = kThreeBoards;
  scenario.replace(scenario.find("580.105.08"), 10, GetParam().driver);
  ASSERT_EQ(init(scenario), NVML_SUCCESS);
  const std::size_t stride = GetParam().stride;
  Canary rows(4 * 32);
  unsigned count = 4;
  ASSERT_EQ(call(GetParam().function, gpu(0), &count, rows.as<void>()), NVML_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(rows.word(0), 2900001U);
  EXPECT_EQ(rows.word(8), 1000U << 20);
  EXPECT_EQ(rows.word(stride), 2900002U);
  EXPECT_EQ(rows.word(stride + 8), 2000U << 20);
  if (stride >= 24) {
    EXPECT_EQ(rows.word(16), 0xFFFFFFFFU);
  }
  EXPECT_TRUE(rows.untouched_from(2 * stride));
}

INSTANTIATE_TEST_SUITE_P(
    Drivers, ProcessRowTest,
    testing::Values(Rows{"580.105.08", "nvmlDeviceGetComputeRunningProcesses", 16},
                    Rows{"580.105.08", "nvmlDeviceGetComputeRunningProcesses_v2", 24},
                    Rows{"580.105.08", "nvmlDeviceGetComputeRunningProcesses_v3", 24},
                    Rows{"535.43.02", "nvmlDeviceGetComputeRunningProcesses_v3", 32},
                    Rows{"535.86.05", "nvmlDeviceGetComputeRunningProcesses_v3", 32},
                    Rows{"535.86.05", "nvmlDeviceGetComputeRunningProcesses_v2", 24},
                    Rows{"535.104.05", "nvmlDeviceGetComputeRunningProcesses_v3", 24},
                    Rows{"530.41.03", "nvmlDeviceGetComputeRunningProcesses_v3", 24}));

TEST_F(AbiTest, AListThatDoesNotFitSaysHowLongItIs) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  Canary rows(24);
  unsigned count = 1;
  EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", gpu(0), &count, rows.as<void>()),
            NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 2U);
  EXPECT_TRUE(rows.untouched_from(0));
}

TEST_F(AbiTest, TextThatDoesNotFitIsRefused) {
  ASSERT_EQ(init(kThreeBoards), NVML_SUCCESS);
  Canary text(96);
  EXPECT_EQ(call("nvmlDeviceGetUUID", gpu(0), text.as<char>(), 8U), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_TRUE(text.untouched_from(0));
  EXPECT_EQ(call("nvmlDeviceGetUUID", gpu(0), text.as<char>(), 96U), NVML_SUCCESS);
  EXPECT_TRUE(text.untouched_from(41));
}

// FAULT-044
TEST_F(AbiTest, TheOldLibraryLacksTheNewNames) {
  void* old = dlopen(GPUSIGHT_SIM_OLD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(old, nullptr) << dlerror();
  EXPECT_EQ(dlsym(old, "nvmlDeviceGetMemoryInfo_v2"), nullptr);
  EXPECT_EQ(dlsym(old, "nvmlDeviceGetComputeRunningProcesses_v3"), nullptr);
  EXPECT_EQ(dlsym(old, "nvmlDeviceGetNumFans"), nullptr);
  EXPECT_NE(dlsym(old, "nvmlDeviceGetComputeRunningProcesses_v2"), nullptr);
  EXPECT_NE(dlsym(old, "nvmlDeviceGetMemoryInfo"), nullptr);
  auto* start = reinterpret_cast<nvmlReturn_t (*)()>(dlsym(old, "nvmlInit_v2"));
  auto* version =
      reinterpret_cast<nvmlReturn_t (*)(char*, unsigned)>(dlsym(old, "nvmlSystemGetDriverVersion"));
  unsetenv("GPUSIGHT_SIM_SCENARIO");
  ASSERT_EQ(start(), NVML_SUCCESS);
  char text[80] = {};
  ASSERT_EQ(version(text, sizeof text), NVML_SUCCESS);
  EXPECT_STREQ(text, "470.256.02");
  reinterpret_cast<nvmlReturn_t (*)()>(dlsym(old, "nvmlShutdown"))();
  dlclose(old);
}

// FAULT-044
TEST_F(AbiTest, AnOlderDriverAnswersFunctionNotFound) {
  std::string scenario = kThreeBoards;
  scenario.replace(scenario.find("580.105.08"), 10, "470.82.01");
  scenario.insert(0, "missing_symbols = [\"nvmlDeviceGetBrand\"]\n");
  ASSERT_EQ(init(scenario), NVML_SUCCESS);
  unsigned value = 0;
  EXPECT_EQ(call("nvmlDeviceGetNumFans", gpu(1), &value), NVML_ERROR_FUNCTION_NOT_FOUND);
  EXPECT_EQ(call("nvmlDeviceGetBrand", gpu(1), &value), NVML_ERROR_FUNCTION_NOT_FOUND);
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", gpu(1), &value), NVML_SUCCESS);
}

TEST_F(AbiTest, NothingButNvmlAndTheSimulationsOwnNamesIsExported) {
  const std::string command = std::string("nm -D --defined-only ") + GPUSIGHT_SIM_LIBRARY;
  FILE* names = popen(command.c_str(), "r");
  ASSERT_NE(names, nullptr);
  char line[512];
  unsigned nvml = 0;
  while (fgets(line, sizeof line, names) != nullptr) {
    const std::string text = line;
    const std::string name = text.substr(text.rfind(' ') + 1);
    if (name.rfind("nvml", 0) == 0) ++nvml;
    EXPECT_TRUE(name.rfind("nvml", 0) == 0 || name.rfind("gpusight_sim_", 0) == 0) << name;
  }
  pclose(names);
  EXPECT_GE(nvml, 400U);
}

}  // namespace
}  // namespace gpusight::sim
