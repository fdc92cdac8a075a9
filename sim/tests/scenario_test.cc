#include <gtest/gtest.h>

#include <cmath>

#include "embedded.h"
#include "machine.h"
#include "scenario.h"
#include "waveform.h"

namespace gpusight::sim {
namespace {

std::string error_of(const std::string& text) { return parse_scenario(text, "lab.toml").error; }

TEST(Scenario, EveryBuiltInOneParsesAndSaysWhatItIs) {
  EXPECT_GE(embedded_scenarios().size(), 50U);
  for (const EmbeddedText& one : embedded_scenarios()) {
    const Parsed<Scenario> parsed = load_scenario(std::string(one.name));
    ASSERT_TRUE(parsed.value) << parsed.error;
    EXPECT_FALSE(parsed.value->gpus.empty()) << one.name;
    EXPECT_FALSE(parsed.value->title.empty()) << one.name;
  }
}

TEST(Scenario, EveryNameStandsInTheReadme) {
  const std::optional<std::string> readme = read_whole_file(GPUSIGHT_SIM_README);
  ASSERT_TRUE(readme);
  for (const auto& all : {embedded_scenarios(), embedded_boards(), embedded_shapes()}) {
    for (const EmbeddedText& one : all) {
      EXPECT_NE(readme->find("`" + std::string(one.name) + "`"), std::string::npos) << one.name;
    }
  }
}

TEST(Scenario, EveryBoardPlaysEveryShapeWithEveryDriver) {
  EXPECT_EQ(embedded_shapes().size(), 7U);
  for (const BoardPtr& board : boards()) {
    for (const EmbeddedText& shape : embedded_shapes()) {
      for (const std::string& age : age_names()) {
        std::string name = board->id;
        name.append("+").append(shape.name).append("@").append(age);
        const Parsed<Scenario> parsed = load_scenario(name);
        ASSERT_TRUE(parsed.value) << parsed.error;
        EXPECT_EQ(parsed.value->driver, find_age(age)->driver);
        EXPECT_EQ(parsed.value->gpus.size(), board->machine_gpus);
      }
    }
  }
}

TEST(Scenario, AnAgeGoesWithAnyScenario) {
  EXPECT_EQ(load_scenario("a100-mig@470").value->driver, "470.256.02");
  EXPECT_EQ(load_scenario("a100-mig").value->driver, "570.148.08");
  EXPECT_NE(load_scenario("a100-mig@480").error.find("\"480\" is no driver age (470, 510"),
            std::string::npos);
  EXPECT_NE(load_scenario("l40s+sleeping").error.find("\"sleeping\" is none of"),
            std::string::npos);
}

TEST(Scenario, AShapeUnderAScenarioIsTheGroundThatItBuildsOn) {
  const Parsed<Scenario> parsed = parse_scenario(R"(
board = "rtx-3090"
shape = "leak"
title = "mine"
[[gpu]]
count = 1
name = "Other"
[[process]]
pid = 2950000
)",
                                                 "lab.toml");
  ASSERT_TRUE(parsed.value) << parsed.error;
  EXPECT_EQ(parsed.value->title, "mine");
  ASSERT_EQ(parsed.value->gpus.size(), 1U);
  EXPECT_EQ(parsed.value->gpus[0].name, "Other");
  EXPECT_EQ(parsed.value->processes.size(), 2U);
  EXPECT_EQ(error_of("shape = \"leak\"\n"),
            "lab.toml:1: board: is missing: a shape needs a board or GPUs to play on");
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
  EXPECT_NE(load_scenario("/no/such/file").error.find("a100-mig, accounting, "), std::string::npos);
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
