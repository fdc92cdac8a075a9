// For the tests of this folder: a machine as a folder of files, and a lane that is polled on it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "collect/host/host_source.h"

namespace gpusight::collect::host {

class HostTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "host." + std::to_string(::getpid());
    std::filesystem::create_directories(root_);
    open();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path at(const std::string& path) const { return root_ + path; }
  void write(const std::string& path, std::string_view text) {
    std::filesystem::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(at(path)); }
  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories(at(path).parent_path());
    std::filesystem::create_symlink(target, at(path));
  }
  // Reading it fails with EIO, as a broken device's attribute does: page 0 of a process is
  // unmapped.
  void make_broken(const std::string& path) {
    remove(path);
    link(path, "/proc/self/mem");
  }

  // A small machine whose every file is in order.
  void write_machine() {
    write("/proc/stat",
          "cpu  100 0 50 800 40 0 10 0 0 0\ncpu0 60 0 30 380 20 0 10 0 0 0\n"
          "cpu1 40 0 20 420 20 0 0 0 0 0\nintr 1 2 3\nbtime 1700000000\n");
    write("/proc/loadavg", "1.25 0.50 0.10 2/345 6789\n");
    write("/proc/meminfo",
          "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n"
          "Buffers:          20 kB\nCached:          300 kB\nSwapCached:        7 kB\n"
          "SwapTotal:       500 kB\nSwapFree:        450 kB\n");
    write("/proc/uptime", "12345.67 999.00\n");
    for (const char* resource : {"cpu", "memory", "io"}) {
      write(std::string("/proc/pressure/") + resource,
            "some avg10=0.00 avg60=1.50 avg300=0.20 total=1500000\n"
            "full avg10=0.00 avg60=0.00 avg300=0.00 total=250001\n");
    }
    write("/proc/diskstats",
          "   8       0 sda 10 1 2048 20 30 4 4096 50 0 1234 70 0 0 0 0\n"
          "   8       1 sda1 10 1 2048 20 30 4 4096 50 0 1234 70 0 0 0 0\n");
    write("/sys/block/sda/size", "1000\n");
    write("/proc/net/dev",
          "Inter-|   Receive                            |  Transmit\n"
          " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
          "    lo: 111 2 0 0 0 0 0 0 111 2 0 0 0 0 0 0\n"
          "  eth0: 1000 9 0 0 0 0 0 0 2000 8 0 0 0 0 0 0\n");
    write("/sys/class/hwmon/hwmon0/name", "coretemp\n");
    write("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n");
    write("/sys/class/hwmon/hwmon0/temp1_input", "45500\n");
  }

  // A source that has read nothing yet.
  void open() {
    source_ = create_host_source({.clock = &clock_, .root = platform::RootFs(root_), .number = 2});
    generation_ = source_->open().generation;
  }
  void poll(size_t lane) {
    report_.emplace(clock_, 2);
    EXPECT_EQ(generation_->lanes()[lane]->poll(*report_), Verdict::kGood);
    ASSERT_EQ(report_->subjects().size(), 1u);
    EXPECT_EQ(report_->subjects()[0].uuid, kHost);
  }
  void poll_fast() { poll(0); }
  void poll_slow() { poll(1); }
  // The same after a second.
  void poll_again() {
    clock_.advance(std::chrono::seconds(1));
    poll_fast();
  }

  const model::Samples& samples() const { return report_->subjects()[0].samples; }
  const model::Value* find(catalog::MetricId metric, std::string_view label = {}) const {
    const model::Value* found = nullptr;
    for (const model::Sample& sample : samples()) {
      if (sample.metric == metric && sample.label == label) found = &sample.value;
    }
    return found;
  }
  // nullopt when there is no such sample, too: absence is asked for with reason().
  std::optional<double> number(catalog::MetricId metric, std::string_view label = {}) const {
    const model::Value* value = find(metric, label);
    return value == nullptr ? std::nullopt : value->fresh_number();
  }
  std::string_view reason(catalog::MetricId metric, std::string_view label = {}) const {
    const model::Value* value = find(metric, label);
    if (value == nullptr) return "no sample";
    return value->is_absent() ? model::reason_key(value->reason()) : "a number";
  }
  size_t count(catalog::MetricId metric) const {
    size_t found = 0;
    for (const model::Sample& sample : samples()) found += sample.metric == metric ? 1 : 0;
    return found;
  }

  std::string root_;
  FakeClock clock_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Generation> generation_;
  std::optional<Report> report_;
};

}  // namespace gpusight::collect::host
