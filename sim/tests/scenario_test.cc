#include <gtest/gtest.h>

#include <cmath>

#include "machine.h"
#include "scenario.h"
#include "waveform.h"

namespace gpusight::sim {
namespace {

std::string error_of(const std::string& text) { return parse_scenario(text, "lab.toml").error; }

TEST(Scenario, EveryBuiltInOneParses) {
  for (const char* name : {"h100-training", "rtx4090-desktop", "a100-mig"}) {
    const Parsed<Scenario> parsed = load_scenario(name);
    ASSERT_TRUE(parsed.value) << parsed.error;
    EXPECT_FALSE(parsed.value->gpus.empty());
  }
}

TEST(Scenario, MistakesNameFileLineKeyAndASuggestion) {
  EXPECT_EQ(error_of("\n[[gpu]]\nbord = \"rtx-4090\"\n").substr(0, 30),
            "lab.toml:2: gpu[0].board: is m");
  EXPECT_EQ(error_of("[[gpu]]\nboard = \"rtx-4090\"\nworklod = \"a\"\n"),
            "lab.toml:3: gpu[0].worklod: unknown key; did you mean \"workload\"?");
  const std::string no_board = error_of("[[gpu]]\nboard = \"rtx-4091\"\n");
  EXPECT_EQ(no_board.substr(0, 66),
            "lab.toml:2: gpu[0].board: \"rtx-4091\" is none of a100-sxm-40gb, b20");
  EXPECT_TRUE(no_board.ends_with("; did you mean \"rtx-4090\"?")) << no_board;
  EXPECT_EQ(error_of("seed = \"x\"\n"), "lab.toml:1: seed: a whole number is wanted");
  EXPECT_EQ(error_of("[[gpu]]\nboard = \"rtx-4090\"\npower_limit_watts = 5000\n"),
            "lab.toml:3: gpu[0].power_limit_watts: must be from 10 to 600");
  EXPECT_EQ(error_of("[[gpu]]\nboard = \"rtx-4090\"\n[[fault]]\nkind = \"return\"\n"
                     "function = \"nvmlDeviceGetPowerUsge\"\n"),
            "lab.toml:5: fault[0].function: no NVML function is called \"nvmlDeviceGetPowerUsge\"; "
            "did you mean \"nvmlDeviceGetPowerUsage\"?");
  EXPECT_EQ(error_of("[[gpu]]\nboard = \"rtx-4090\"\n[[fault]]\nkind = \"gpu_lost\"\ngpu = 3\n"),
            "lab.toml:5: fault[0].gpu: a GPU from 0 to 0, a list of them or \"all\" is wanted");
  EXPECT_NE(error_of("seed = [\n").find("lab.toml:"), std::string::npos);
  EXPECT_NE(load_scenario("/no/such/file").error.find("a100-mig, h100-training"),
            std::string::npos);
}

TEST(Scenario, AKeyOfAnotherFaultKindIsUnknown) {
  EXPECT_NE(error_of("[[fault]]\nkind = \"gpu_lost\"\nmicroseconds = 4\n").find("unknown key"),
            std::string::npos);
}

TEST(Scenario, IdentitiesDifferBetweenGpusAndStayBetweenReadings) {
  const Scenario one = *load_scenario("h100-training").value;
  const Scenario two = *load_scenario("h100-training").value;
  for (std::size_t i = 0; i < one.gpus.size(); ++i) {
    EXPECT_EQ(one.gpus[i].uuid, two.gpus[i].uuid);
    EXPECT_EQ(one.gpus[i].uuid.size(), 40U) << one.gpus[i].uuid;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(one.gpus[i].uuid, one.gpus[j].uuid);
  }
}

TEST(Signal, TheIntegralIsTheSumOfTheLevels) {
  const Scenario scenario = *load_scenario("h100-training").value;
  const Workload& workload = scenario.workloads.at(0);
  for (const double from : {-250.0, -3.3, 0.0, 27.4, 110.9}) {
    constexpr double kStep = 0.0005;
    double sum = 0;
    for (double t = from; t < from + 7; t += kStep) {
      sum += level(workload, Channel::kActivity, t + kStep / 2) * kStep;
    }
    EXPECT_NEAR(mean(workload, Channel::kActivity, from, from + 7) * 7, sum, 0.02) << from;
  }
}

TEST(Machine, CountersNeverFall) {
  const Scenario scenario = *load_scenario("rtx4090-desktop").value;
  const GpuModel gpu(scenario, 0);
  std::uint64_t last = gpu.energy_mj(-scenario.uptime_seconds);
  for (double t = -100; t < 600; t += 0.37) {
    const std::uint64_t now = gpu.energy_mj(t);
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(Machine, AnIdleDesktopDropsItsClocksAndLink) {
  const Scenario scenario = *load_scenario("rtx4090-desktop").value;
  const GpuModel gpu(scenario, 0);
  EXPECT_EQ(gpu.performance_state(250), 8U);
  EXPECT_EQ(gpu.pcie_generation(250), 1U);
  EXPECT_EQ(gpu.graphics_mhz(250), 210U);
  EXPECT_EQ(gpu.performance_state(80), 2U);
  EXPECT_GT(gpu.temperature(100), gpu.temperature(269) + 8);
}

}  // namespace
}  // namespace gpusight::sim
