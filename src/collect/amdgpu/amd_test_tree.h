// For the tests of this folder: a machine with AMD GPUs as a folder of files, and a source that is
// opened and polled on it. Every file that is opened is remembered.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "collect/amdgpu/amdgpu_source.h"

namespace gpusight::collect::amdgpu {

class AmdTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "amd." + std::to_string(::getpid());
    std::filesystem::create_directories(root_);
    fs_ = platform::RootFs(root_);
    fs_.intercept_for_testing([this](std::string_view path) {
      std::lock_guard lock(mutex_);
      opened_files_.emplace_back(path);
      const auto failing = failing_.find(std::string(path));
      return failing == failing_.end() ? std::nullopt
                                       : std::optional<Result<std::string>>(failing->second);
    });
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary) << text;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ + path); }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::filesystem::create_symlink(target, root_ + path);
  }
  void fail(const std::string& path, Code code) {
    std::lock_guard lock(mutex_);
    failing_.insert_or_assign(path,
                              Result<std::string>(Status(code, path + ": as the test wants")));
  }

  static std::string folder(int card) {
    return "/sys/class/drm/card" + std::to_string(card) + "/device";
  }
  static std::string address(int card) { return "0000:0" + std::to_string(card + 3) + ":00.0"; }

  // A board with every file that one can have.
  void add_board(int card = 0) const {
    const std::string d = folder(card);
    write(d + "/uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=" +
                             address(card) + "\n");
    write(d + "/drm/renderD12" + std::to_string(8 + card) + "/dev", "226:128\n");
    write(d + "/unique_id", "00c0ffee0000000" + std::to_string(card) + "\n");
    write(d + "/revision", "0xc8\n");
    write(d + "/power/runtime_status", "active\n");
    write(d + "/power/control", "on\n");
    write(d + "/power/autosuspend_delay_ms", "5000\n");
    write(d + "/power/runtime_active_time", "61000\n");
    write(d + "/power/runtime_suspended_time", "2500\n");
    write(d + "/gpu_busy_percent", "65\n");
    write(d + "/mem_busy_percent", "31\n");
    write(d + "/vcn_busy_percent", "12\n");
    write(d + "/mem_info_vram_used", "4000000000\n");
    write(d + "/mem_info_vram_total", "24000000000\n");
    write(d + "/mem_info_gtt_used", "1000000\n");
    write(d + "/mem_info_gtt_total", "62000000000\n");
    write(d + "/vbios_version", "113-D70401XT\n");
    write(d + "/serial_number", "fedcba\n");
    write(d + "/product_name", "\n");
    write(d + "/current_link_speed", "8.0 GT/s PCIe\n");
    write(d + "/current_link_width", "8\n");
    write(d + "/max_link_speed", "16.0 GT/s PCIe\n");
    write(d + "/max_link_width", "16\n");
    write(d + "/pcie_replay_count", "3\n");
    write(d + "/aer_dev_correctable", "RxErr 4\nBadTLP 0\nBadDLLP 1\nTOTAL_ERR_COR 5\n");
    write(d + "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n");
    write(d + "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n");
    write(d + "/power_dpm_force_performance_level", "auto\n");
    write(d + "/pp_dpm_sclk", "0: 500Mhz\n1: 31Mhz *\n2: 2219Mhz\n");
    write(d + "/pp_dpm_mclk", "0: 96Mhz \n1: 1249Mhz *\n");
    write(d + "/pp_dpm_socclk", "0: 500Mhz \n1: 1500Mhz *\n");
    write(d + "/pp_dpm_fclk", "0: 500Mhz *\n");
    write(d + "/pp_dpm_vclk", "0: 0Mhz *\n");
    write(d + "/pp_dpm_dclk", "0: 0Mhz *\n");
    write(d + "/ras/umc_err_count", "ue: 1\nce: 7\nde: 2\n");
    write(d + "/ras/gfx_err_count", "ue: 0\nce: 1\n");
    write(d + "/ras/gpu_vram_bad_pages", "0x1 : 0x1000 : R\n0x2 : 0x1000 : P\n");
    add_sensors(d + "/hwmon/hwmon7");
  }

  void add_sensors(const std::string& h) const {
    write(h + "/name", "amdgpu\n");
    const auto temperature = [&](int n, const char* label, const char* now) {
      const std::string t = h + "/temp" + std::to_string(n);
      write(t + "_label", std::string(label) + "\n");
      write(t + "_input", std::string(now) + "\n");
      write(t + "_crit", "100000\n");
      write(t + "_crit_hyst", "-273150\n");
      write(t + "_emergency", "105000\n");
    };
    temperature(1, "edge", "53000");
    temperature(2, "junction", "61000");
    temperature(3, "mem", "68000");
    write(h + "/power1_label", "PPT\n");
    write(h + "/power1_average", "68000000\n");
    write(h + "/power1_cap", "290000000\n");
    write(h + "/power1_cap_default", "303000000\n");
    write(h + "/power1_cap_min", "0\n");
    write(h + "/power1_cap_max", "333000000\n");
    write(h + "/in0_label", "vddgfx\n");
    write(h + "/in0_input", "686\n");
    write(h + "/freq1_label", "sclk\n");
    write(h + "/freq1_input", "31000000\n");
    write(h + "/freq2_label", "mclk\n");
    write(h + "/freq2_input", "1249000000\n");
    write(h + "/fan1_input", "1600\n");
    write(h + "/pwm1", "102\n");
    write(h + "/pwm1_max", "255\n");
  }

  // gpu_metrics 1.3, all ones but for what is put.
  static std::string board_table(const std::map<size_t, uint16_t>& fields) {
    std::string bytes(120, '\xff');
    bytes.replace(0, 4, std::string("\x78\x00\x01\x03", 4));
    for (const auto& [offset, number] : fields) {
      bytes[offset] = static_cast<char>(number & 0xff);
      bytes[offset + 1] = static_cast<char>(number >> 8);
    }
    return bytes;
  }

  void open() {
    if (!source_) {
      source_ = create_amdgpu_source({.clock = &clock_, .root = fs_, .number = 2});
    }
    generation_.reset();
    result_ = source_->open();
    generation_ = std::move(result_.generation);
  }
  // Polls the lane of that place: fast and slow of the first GPU, then of the next.
  Verdict poll(size_t lane) {
    report_.emplace(clock_, 2);
    opened_files_.clear();
    return generation_->lanes()[lane]->poll(*report_);
  }

  std::optional<double> number(catalog::MetricId metric, std::string_view label = {}) const {
    const model::Value* value = find(metric, label);
    return value == nullptr ? std::nullopt : value->number();
  }
  std::optional<model::Reason> reason(catalog::MetricId metric, std::string_view label = {}) const {
    const model::Value* value = find(metric, label);
    return value == nullptr || !value->is_absent() ? std::nullopt : std::optional(value->reason());
  }
  const model::Value* find(catalog::MetricId metric, std::string_view label) const {
    const model::Value* found = nullptr;  // the last counts
    for (const auto& subject : report_->subjects()) {
      for (const model::Sample& s : subject.samples) {
        if (s.metric == metric && s.label == label) found = &s.value;
      }
    }
    return found;
  }

  std::string root_;
  platform::RootFs fs_;
  FakeClock clock_;
  std::mutex mutex_;
  std::vector<std::string> opened_files_;
  std::map<std::string, Result<std::string>> failing_;
  std::unique_ptr<Source> source_;
  Opened result_;
  std::unique_ptr<Generation> generation_;
  std::optional<Report> report_;
};

}  // namespace gpusight::collect::amdgpu
