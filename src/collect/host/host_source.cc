#include "collect/host/host_source.h"

#include <array>
#include <utility>

#include "base/log.h"
#include "collect/host/cpu_reader.h"
#include "collect/host/disk_reader.h"
#include "collect/host/hwmon_reader.h"
#include "collect/host/network_reader.h"
#include "collect/host/system_readers.h"

namespace gpusight::collect {
namespace {

using catalog::MetricId;
using platform::RootFs;

constexpr MetricId kDeclared[] = {
    MetricId::kHostCpuUtilization,  MetricId::kHostCpuCoreUtilization,
    MetricId::kHostCpuSeconds,      MetricId::kHostLoad1,
    MetricId::kHostLoad5,           MetricId::kHostLoad15,
    MetricId::kHostMemoryTotal,     MetricId::kHostMemoryAvailable,
    MetricId::kHostMemoryUsed,      MetricId::kHostSwapTotal,
    MetricId::kHostSwapUsed,        MetricId::kHostPressureWaiting,
    MetricId::kHostPressureStalled, MetricId::kHostDiskRead,
    MetricId::kHostDiskWritten,     MetricId::kHostDiskBusy,
    MetricId::kHostNetworkReceive,  MetricId::kHostNetworkTransmit,
    MetricId::kHostTemperature,     MetricId::kHostUptime,
};

class FastLane final : public Lane {
 public:
  explicit FastLane(const RootFs& root)
      : cpu_(root, faults_),
        load_(root, faults_),
        memory_(root, faults_),
        pressure_(root, faults_),
        disks_(root, faults_),
        network_(root, faults_),
        uptime_(root, faults_) {}

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override {
    report.about(kHost);
    cpu_.poll(report);
    load_.poll(report);
    memory_.poll(report);
    pressure_.poll(report);
    disks_.poll(report);
    network_.poll(report);
    uptime_.poll(report);
    return Verdict::kGood;
  }

 private:
  LaneInfo info_{.name = "host/fast", .cadence = LaneCadence::kFast, .uuids = {std::string(kHost)}};
  log::FaultLog faults_;
  host::CpuReader cpu_;
  host::LoadReader load_;
  host::MemoryReader memory_;
  host::PressureReader pressure_;
  host::DiskReader disks_;
  host::NetworkReader network_;
  host::UptimeReader uptime_;
};

class SlowLane final : public Lane {
 public:
  explicit SlowLane(const RootFs& root) : hwmon_(root, faults_) {}

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override {
    report.about(kHost);
    hwmon_.poll(report);
    return Verdict::kGood;
  }

 private:
  LaneInfo info_{.name = "host/slow", .cadence = LaneCadence::kSlow, .uuids = {std::string(kHost)}};
  log::FaultLog faults_;
  host::HwmonReader hwmon_;
};

class HostGeneration final : public Generation {
 public:
  explicit HostGeneration(RootFs root)
      : root_(std::move(root)),
        lanes_{std::make_unique<FastLane>(root_), std::make_unique<SlowLane>(root_)} {}

  std::span<const model::Device> devices() const override { return {}; }
  std::span<const std::unique_ptr<Lane>> lanes() const override { return lanes_; }

 private:
  RootFs root_;  // the lanes refer to it
  std::array<std::unique_ptr<Lane>, 2> lanes_;
};

class HostSource final : public Source {
 public:
  explicit HostSource(RootFs root) : root_(std::move(root)) {}

  std::string_view name() const override { return "host"; }
  std::span<const MetricId> declares() const override { return kDeclared; }

  Opened open() override {
    Opened opened;
    opened.status = {.name = std::string(name()),
                     .phase = model::SourcePhase::kRunning,
                     .message = catalog::MessageId::kSourceKernelFiles};
    opened.generation = std::make_unique<HostGeneration>(root_);
    return opened;
  }

  bool holds_devices() const override { return false; }

  // Nothing here sleeps, and nothing has to be let go of.
  Wish watch(const Activity& activity) override {
    return activity.is_open ? Wish::kStay : Wish::kOpen;
  }

 private:
  RootFs root_;
};

}  // namespace

std::unique_ptr<Source> create_host_source(const SourceOptions& options) {
  return std::make_unique<HostSource>(options.root);
}

}  // namespace gpusight::collect
