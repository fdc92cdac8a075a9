#include "cli/status_parts.h"

#include <algorithm>

#include "base/display_width.h"
#include "base/text.h"
#include "cli/format.h"
#include "model/user_totals.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using catalog::MetricId;

constexpr size_t kShownOwners = 3;

std::string owner_text(const model::Process& process, OwnerDetail detail, Lang lang) {
  const model::Owner& owner = process.owner;
  const std::string pid = std::to_string(process.pid);
  // A number of another PID namespace: the process of that number here is somebody else.
  if (owner.state == model::OwnerState::kForeign) return say(MessageId::kViewHostPid, lang, pid);
  std::string who = owner.user;
  if (who.empty() && owner.uid) who = std::to_string(*owner.uid);
  const std::string& command = owner.command.empty() ? process.driver_name : owner.command;
  std::string text;
  if (detail <= OwnerDetail::kUser) text = who;
  if (detail <= OwnerDetail::kCommand && !command.empty()) {
    text += (text.empty() ? "" : "/") + fit_width(command, 20);
  }
  text += (text.empty() ? "" : " ") + pid;
  if (detail == OwnerDetail::kMemory) {
    const std::optional<double> memory = process.memory_bytes.number();
    text += " " + (memory ? bytes_text(*memory) : std::string(kAbsentMark));
  }
  return text;
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

std::optional<double> host_number(const model::Snapshot& snapshot, MetricId metric) {
  return reading(snapshot, snapshot.host, metric).number;
}

}  // namespace

Reading reading(const model::Snapshot& snapshot, const model::Samples& samples, MetricId metric,
                std::string_view label) {
  const model::Value* value = model::find_sample(samples, metric, label);
  // A metric that is absent as a whole stands once, without label.
  if (value == nullptr && !label.empty()) value = model::find_sample(samples, metric);
  if (value == nullptr) return {};
  Reading r{.number = value->number(), .reason = value->reason()};
  r.stale = r.number.has_value() && !value->is_fresh();
  if (r.stale) r.age_seconds = std::max(0.0, seconds(snapshot.mono - value->read_at()));
  return r;
}

std::vector<const model::Process*> by_memory(const model::DeviceSnapshot& device) {
  std::vector<const model::Process*> order;
  for (const model::Process& p : device.processes) order.push_back(&p);
  const auto key = [](const model::Process* p) {
    const std::optional<double> memory = p->memory_bytes.number();
    return std::pair(!memory.has_value(), -memory.value_or(0));
  };
  std::ranges::stable_sort(order, {}, key);
  return order;
}

std::string device_label(const model::Snapshot& snapshot, const model::DeviceSnapshot& device) {
  const model::Device& d = *device.device;
  if (d.kind == model::DeviceKind::kMig) {
    for (const model::DeviceSnapshot& other : snapshot.devices) {
      if (other.device->uuid != d.parent || !d.gpu_instance) continue;
      return device_label(snapshot, other) + "/" + std::to_string(*d.gpu_instance);
    }
  }
  if (d.index && d.kind == model::DeviceKind::kGpu) return std::to_string(*d.index);
  if (!d.pci.empty()) return d.pci;
  constexpr size_t kTail = 8;
  return d.uuid.size() > kTail ? "…" + d.uuid.substr(d.uuid.size() - kTail) : d.uuid;
}

void Notes::absent(std::string what, std::string device, model::Reason reason) {
  const std::pair key(std::move(what), reason);
  const auto at = std::ranges::find(absent_, key, &decltype(absent_)::value_type::first);
  std::vector<std::string>& devices =
      at != absent_.end() ? at->second
                          : absent_.emplace_back(key, std::vector<std::string>()).second;
  devices.push_back(std::move(device));
}

void Notes::stale(double age_seconds, model::Reason reason) {
  double& oldest = stale_[reason];
  oldest = std::max(oldest, age_seconds);
}

std::vector<std::string> Notes::lines(Lang lang) const {
  constexpr size_t kMostLines = 4;
  std::vector<std::string> lines;
  for (const auto& [reason, age] : stale_) {
    lines.push_back(say(MessageId::kViewStaleLine, lang, age_text(age),
                        say(model::reason_message(reason), lang)));
  }
  const size_t shown = absent_.size() <= kMostLines ? absent_.size() : kMostLines - 1;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [key, devices] = absent_[i];
    lines.push_back(say(MessageId::kViewAbsentLine, lang, key.first, label_ranges(devices),
                        say(model::reason_message(key.second), lang)));
  }
  if (shown < absent_.size()) {
    lines.push_back(say(MessageId::kViewAbsentMore, lang, std::to_string(absent_.size() - shown)));
  }
  return lines;
}

std::string label_ranges(const std::vector<std::string>& labels) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < labels.size();) {
    const std::optional<int64_t> first = parse_int(labels[i]);
    size_t end = i + 1;
    while (first && end < labels.size() &&
           parse_int(labels[end]) == *first + static_cast<int64_t>(end - i)) {
      ++end;
    }
    if (end - i > 2) {
      parts.push_back(labels[i] + "–" + labels[end - 1]);
      i = end;
    } else {
      parts.push_back(labels[i++]);
    }
  }
  return join(parts, ", ");
}

std::string owners_text(const model::DeviceSnapshot& device, OwnerDetail detail, size_t shown,
                        Lang lang) {
  const std::vector<const model::Process*> order = by_memory(device);
  shown = std::min(order.size(), shown);
  std::vector<std::string> parts;
  for (size_t i = 0; i < shown; ++i) parts.push_back(owner_text(*order[i], detail, lang));
  if (shown < order.size()) {
    std::string more = "+" + std::to_string(order.size() - shown);
    if (parts.empty()) {
      parts.push_back(std::move(more));
    } else {
      parts.back() += " " + more;
    }
  }
  for (const model::UserTotal& total : device.hidden_users) {
    std::string who = total.user.empty() && total.uid ? std::to_string(*total.uid) : total.user;
    if (who.empty()) who = "?";
    parts.push_back(who + " ×" + std::to_string(total.processes));
  }
  return join(parts, ", ");
}

std::string fitted_owners_text(const model::DeviceSnapshot& device, Lang lang, size_t width) {
  const size_t most = std::min(device.processes.size(), kShownOwners);
  // All three with less about each come before fewer with more; a name comes before a third.
  for (const OwnerDetail detail :
       {OwnerDetail::kMemory, OwnerDetail::kCommand, OwnerDetail::kUser}) {
    std::string text = owners_text(device, detail, most, lang);
    if (display_width(text) <= width) return text;
  }
  for (const OwnerDetail detail : {OwnerDetail::kCommand, OwnerDetail::kUser, OwnerDetail::kPid}) {
    for (size_t shown = most; shown > 0; --shown) {
      std::string text = owners_text(device, detail, shown, lang);
      if (display_width(text) <= width) return text;
    }
  }
  return owners_text(device, OwnerDetail::kPid, 0, lang);
}

std::string host_text(const model::Snapshot& snapshot, Lang lang) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& word, const std::string& value) {
    parts.push_back(word + " " + value);
  };
  if (const auto cpu = host_number(snapshot, MetricId::kHostCpuUtilization)) {
    add("CPU", percent_text(*cpu));
  }
  if (const auto load = host_number(snapshot, MetricId::kHostLoad1)) {
    add(say(MessageId::kViewLoad, lang), fixed(*load, *load < 99.95 ? 1 : 0));
  }
  const auto total = host_number(snapshot, MetricId::kHostMemoryTotal);
  const auto used = host_number(snapshot, MetricId::kHostMemoryUsed);
  if (total || used) {
    add(say(MessageId::kViewMemory, lang), memory_text(used, total));
  }
  const auto swap_used = host_number(snapshot, MetricId::kHostSwapUsed);
  if (swap_used && *swap_used > 0) {
    add(say(MessageId::kViewSwap, lang),
        memory_text(swap_used, host_number(snapshot, MetricId::kHostSwapTotal)));
  }
  if (const auto uptime = host_number(snapshot, MetricId::kHostUptime)) {
    add(say(MessageId::kViewUp, lang), uptime_text(*uptime, lang));
  }
  return join(parts, "  ");
}

std::string throttle_text(const model::Samples& samples, Lang lang) {
  // Only these mean that a limit holds the clocks down; idle and chosen clocks do not.
  constexpr std::pair<std::string_view, MessageId> kLimits[] = {
      {"hw_thermal", MessageId::kThrottleHwThermal},
      {"hw_power_brake", MessageId::kThrottlePowerBrake},
      {"hw_slowdown", MessageId::kThrottleHwSlowdown},
      {"sw_thermal", MessageId::kThrottleSwThermal},
      {"sw_power_cap", MessageId::kThrottlePowerCap}};
  std::vector<std::string> words;
  for (const auto& [label, message] : kLimits) {
    const model::Value* value = model::find_sample(samples, MetricId::kGpuThrottle, label);
    if (value != nullptr && value->number() == 1) words.push_back(say(message, lang));
  }
  if (words.empty()) return {};
  return words.front() + (words.size() > 1 ? " +" + std::to_string(words.size() - 1) : "");
}

}  // namespace gpusight::cli
