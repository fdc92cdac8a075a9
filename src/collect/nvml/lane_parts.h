// What the lanes of one GPU share, and what they do alike.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "collect/nvml/conversation.h"
#include "collect/nvml/driver_clock.h"
#include "collect/nvml/enumerate.h"
#include "collect/nvml/holder_watch.h"
#include "collect/nvml/nvrm_messages.h"
#include "collect/nvml/process_list.h"
#include "collect/nvml/sample_rings.h"

namespace gpusight::collect::nvml {

// Whether the driver counts bytes over PCIe; told by the fast lane, of use to the slow one.
enum class PcieCounters : uint8_t { kNotYetKnown, kThere, kNone };

// Of one GPU, for all its lanes; lives as long as the generation. Constant but for the members that
// lock themselves.
struct SharedGpu {
  Gpu gpu;
  ProcessNames names;
  ProcessAccounts accounts;
  RingInbox inbox;
  DriverClock driver_clock;
  std::atomic<bool> is_confidential{false};  // told by the slow lane, of use to the fast one
  std::atomic<PcieCounters> pcie_counters{PcieCounters::kNotYetKnown};
  std::optional<model::Reason> no_events;  // why XID errors of this GPU cannot be counted
  KnownDevices* known = nullptr;
};

// Whose the kernel's files below the root are: those of a simulated device are another machine's.
enum class KernelFiles : uint8_t { kOfTheseDevices, kOfOthers };

// What a lane is made from.
struct LaneContext {
  const NvmlApi* api = nullptr;
  const Clock* clock = nullptr;
  platform::RootFs root;
  Duration interval{};
  Pace pace = Pace::kSpread;
  KernelFiles kernel_files = KernelFiles::kOfTheseDevices;
  catalog::MetricSet disabled = {};           // what need not be asked for
  std::shared_ptr<HolderWatch> holders = {};  // made by the generation
  std::shared_ptr<NvrmWatch> nvrm = {};       // nullptr: the log is not that of these devices
};

// Rings are drained by the fast lane up to this tick; beyond, a lane of its own does it.
inline constexpr Duration kLongestDrain = std::chrono::seconds(5);

std::vector<std::string> uuids_of(const Gpu& gpu);

// The poll ended early: whatever was read so far is no longer true. Every metric of the list gets
// the reason instead, and a lost device its state.
void give_up(Report& report, std::string_view uuid, const PollFate& fate,
             std::span<const catalog::MetricId> metrics);

// Of what is switched off, that which nothing else is made from either.
catalog::MetricSet not_needed(const catalog::MetricSet& disabled);

// What the lanes set, mean rows only.
std::span<const catalog::MetricId> fast_metrics();
std::span<const catalog::MetricId> slow_metrics();
std::span<const catalog::MetricId> instance_metrics();

}  // namespace gpusight::collect::nvml
