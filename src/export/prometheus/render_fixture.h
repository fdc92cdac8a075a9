// A machine as large as they come, made in code: for the tests and the measurement of rendering.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "model/snapshot.h"

namespace gpusight::prometheus {

// Every metric of the catalogue fresh for `gpus` devices and a host of `cores` cores.
inline model::Snapshot full_machine(size_t gpus, size_t cores) {
  using namespace model;
  constexpr MonoTime kNow{std::chrono::seconds(5000)};
  const auto add = [kNow](Samples& samples, const catalog::MetricRow& row, double base) {
    size_t labels = row.label.empty() ? 0 : 4;
    if (row.label == "cpu") labels = static_cast<size_t>(base);
    const auto value = [&](size_t i) {
      const double number = row.max > 1 ? 123456.789 + base + static_cast<double>(i) : 0.125;
      return Value::fresh(number, kNow, {}, 1);
    };
    if (labels == 0) samples.push_back({row.id, "", value(0)});
    Samples of_row;
    for (size_t i = 0; i < labels; ++i) of_row.push_back({row.id, std::to_string(i), value(i)});
    std::ranges::sort(of_row, {}, &Sample::label);
    samples.insert(samples.end(), of_row.begin(), of_row.end());
  };
  Snapshot s;
  s.sequence = 1;
  s.wall = WallTime(std::chrono::milliseconds(1767225600123));
  s.mono = kNow;
  s.interval = std::chrono::seconds(1);
  s.host_name = "box";
  for (size_t g = 0; g < gpus; ++g) {
    DeviceSnapshot d;
    const std::string tail = std::to_string(1000 + g);
    d.device =
        std::make_shared<const Device>(Device{.uuid = "GPU-8f6e1d2c-3b4a-5968-7786-95a4b3c2" + tail,
                                              .vendor = "nvidia",
                                              .name = "NVIDIA H100 80GB HBM3",
                                              .driver = "580.105.08",
                                              .pci = "0000:1" + std::to_string(g) + ":00.0",
                                              .index = static_cast<uint32_t>(g)});
    s.devices.push_back(std::move(d));
  }
  for (const catalog::MetricRow& row : catalog::metrics()) {
    if (row.scope == catalog::Scope::kHost) add(s.host, row, static_cast<double>(cores));
    if (row.scope == catalog::Scope::kSelf) add(s.self, row, 4);
    if (row.scope != catalog::Scope::kDevice) continue;
    for (size_t g = 0; g < gpus; ++g) add(s.devices[g].samples, row, static_cast<double>(g));
  }
  return s;
}

}  // namespace gpusight::prometheus
