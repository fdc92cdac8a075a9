// Loads the simulated library as a program would and plays scenarios written in the test.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nvml_abi.h"

namespace gpusight::sim {

// One GPU of each board, in the order H100, RTX 4090, A100 with MIG, at second 100, for ever.
inline constexpr const char* kThreeBoards = R"(
driver = "580.105.08"
seed = 5
[clock]
frozen_at = 100
[workload.steady]
phases = [{seconds = 1, high = 0.5, low = 0.1, pulse_hz = 5, duty = 0.5, memory = 0.5}]
[[gpu]]
board = "h100-sxm-80gb"
[[gpu]]
board = "rtx-4090"
[[gpu]]
board = "a100-sxm-40gb"
mig = true
[[gpu.instance]]
profile = "3g.20gb"
slot = 0
gi = 1
[[gpu.instance]]
profile = "1g.5gb"
slot = 2
gi = 9
[[process]]
pid = 2900001
gpu = 0
name = "/usr/bin/train"
memory_mib = 1000
share = 0.5
[[process]]
pid = 2900002
gpu = 0
memory_mib = 2000
share = 0.25
[[process]]
pid = 2900003
gpu = 2
gi = 9
ci = 0
memory_mib = 300
)";

class SimTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/gpusight-sim-XXXXXX";
    folder_ = mkdtemp(pattern);
    unsetenv("GPUSIGHT_SIM_CONTROL");
    unsetenv("GPUSIGHT_SIM_COUNTS");
    library_ = dlopen(GPUSIGHT_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    get<void()>("gpusight_sim_restart")();
  }

  void TearDown() override {
    if (library_ != nullptr) get<void()>("gpusight_sim_restart")();
    std::filesystem::remove_all(folder_);
  }

  template <class Signature>
  Signature* get(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }

  // Any exported function by name.
  template <class... Arguments>
  nvmlReturn_t call(const char* name, Arguments... arguments) const {
    auto* function = get<nvmlReturn_t(Arguments...)>(name);
    EXPECT_NE(function, nullptr) << name;
    return function == nullptr ? NVML_ERROR_UNKNOWN : function(arguments...);
  }

  void write(const std::string& name, const std::string& text) const {
    // Renamed into place: a reader sees the old file or the new one.
    std::ofstream(path(name) + ".new") << text;
    std::filesystem::rename(path(name) + ".new", path(name));
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  nvmlReturn_t init(const std::string& scenario) {
    write("scenario.toml", scenario);
    setenv("GPUSIGHT_SIM_SCENARIO", path("scenario.toml").c_str(), 1);
    return call("nvmlInit_v2");
  }

  // Puts a control file in place and waits until the library has looked.
  void control(const std::string& text) {
    setenv("GPUSIGHT_SIM_CONTROL", path("control.toml").c_str(), 1);
    write("control.toml", text);
    usleep(30000);
  }

  nvmlDevice_t gpu(unsigned index) const {
    nvmlDevice_t device = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", index, &device), NVML_SUCCESS);
    return device;
  }

  template <class T>
  T number(const char* name, nvmlDevice_t device) const {
    T value = 0;
    EXPECT_EQ(call(name, device, &value), NVML_SUCCESS) << name;
    return value;
  }

  std::string name_of(nvmlDevice_t device) const {
    char name[96] = {};
    EXPECT_EQ(call("nvmlDeviceGetName", device, name, 96U), NVML_SUCCESS);
    return name;
  }

 private:
  void* library_ = nullptr;
  std::string folder_;
};

}  // namespace gpusight::sim
