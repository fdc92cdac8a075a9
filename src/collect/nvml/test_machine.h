// For tests: a machine of files and a fake driver's library, opened through the real source.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "collect/nvml/fake_nvml.h"
#include "collect/nvml/source_impl.h"

namespace gpusight::collect::nvml {

class TestMachine : public testing::Test {
 protected:
  TestMachine() : root_(testing::TempDir() + "nvml." + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    fake_.gpus.emplace_back();
  }
  ~TestMachine() override {
    opened_.generation.reset();
    std::filesystem::remove_all(root_);
  }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void add_to_bus(const std::string& address, const std::string& driver = "nvidia",
                  const std::string& status = "active", const std::string& control = "auto") {
    const std::string device = "/sys/bus/pci/devices/" + address;
    write(device + "/vendor", "0x10de\n");
    write(device + "/device", "0x2330\n");
    write(device + "/class", "0x030200\n");
    write(device + "/power/runtime_status", status + "\n");
    write(device + "/power/control", control + "\n");
    write(device + "/power/autosuspend_delay_ms", "10000\n");
    if (driver.empty()) return;
    std::filesystem::create_symlink("../../../bus/pci/drivers/" + driver,
                                    root_ + device + "/driver");
  }
  void set_status(const std::string& address, const std::string& status) {
    write("/sys/bus/pci/devices/" + address + "/power/runtime_status", status + "\n");
  }

  NvmlSource& source() {
    if (source_ == nullptr) {
      environment_.load = [this](const SourceOptions&) { return load_(); };
      SourceOptions options{.clock = &clock_,
                            .root = platform::RootFs(root_),
                            .nvml_path = nvml_path_,
                            .interval = interval_,
                            .disabled = disabled_,
                            .pace = pace_,
                            .number = 1};
      source_ = std::make_unique<NvmlSource>(options, environment_);
    }
    return *source_;
  }
  const Opened& open() {
    opened_.generation.reset();
    opened_ = source().open();
    return opened_;
  }
  const model::SourceStatus& status() const { return opened_.status; }

  Lane* find_lane(const std::string& name) {
    if (opened_.generation == nullptr) return nullptr;
    for (const auto& lane : opened_.generation->lanes()) {
      if (lane->info().name == name) return lane.get();
    }
    return nullptr;
  }
  // Polls a lane and keeps its report.
  Verdict poll(const std::string& name) {
    report_.emplace(clock_, 1);
    Lane* lane = find_lane(name);
    EXPECT_NE(lane, nullptr) << name;
    return lane == nullptr ? Verdict::kGood : lane->poll(*report_);
  }
  Verdict fast(int gpu = 0) { return poll("nvml/" + fake_.gpus[gpu].uuid + "/fast"); }
  Verdict slow(int gpu = 0) { return poll("nvml/" + fake_.gpus[gpu].uuid + "/slow"); }
  Verdict tick(int gpu = 0, Duration interval = std::chrono::seconds(1)) {
    clock_.advance(interval);
    return fast(gpu);
  }

  const Report::Subject* subject(const std::string& uuid) const {
    for (const auto& subject : report_->subjects()) {
      if (subject.uuid == uuid) return &subject;
    }
    return nullptr;
  }
  // The newest value of a series in the last report; nullptr if it was not set.
  const model::Value* value(catalog::MetricId metric, const std::string& label = {},
                            const std::string& uuid = "GPU-0") const {
    const Report::Subject* about = subject(uuid);
    const model::Value* found = nullptr;
    if (about == nullptr) return nullptr;
    for (const model::Sample& sample : about->samples) {
      if (sample.metric == metric && sample.label == label) found = &sample.value;
    }
    return found;
  }
  std::optional<double> number(catalog::MetricId metric, const std::string& label = {},
                               const std::string& uuid = "GPU-0") const {
    const model::Value* found = value(metric, label, uuid);
    return found == nullptr ? std::nullopt : found->number();
  }
  std::optional<model::Reason> reason(catalog::MetricId metric, const std::string& uuid = "GPU-0",
                                      const std::string& label = {}) const {
    const model::Value* found = value(metric, label, uuid);
    if (found == nullptr || !found->is_absent()) return std::nullopt;
    return found->reason();
  }
  uint64_t wall_us() const {
    return static_cast<uint64_t>(clock_.wall().time_since_epoch().count() / 1000);
  }

  std::string root_;
  std::string nvml_path_ = "/opt/named/libnvidia-ml.so.1";
  Duration interval_ = std::chrono::seconds(1);
  catalog::MetricSet disabled_;
  Pace pace_ = Pace::kAtOnce;  // so that one poll shows what there is
  FakeClock clock_;
  FakeNvml fake_;
  std::function<Loaded()> load_ = [this] { return fake_.load(); };
  Environment environment_;
  std::unique_ptr<NvmlSource> source_;
  Opened opened_;
  std::optional<Report> report_;
};

}  // namespace gpusight::collect::nvml
