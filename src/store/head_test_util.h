// Making snapshots tick by tick and reading a head back as plain values: for tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/metric.h"
#include "model/queryable.h"
#include "model/snapshot.h"
#include "store/head.h"

namespace gpusight::store {

inline constexpr int64_t kStartMs = 1'735'000'000'000;

// A stale marker equals a stale marker here, unlike in doubles.
struct Point {
  int64_t time_ms = 0;
  double value = 0;

  bool operator==(const Point& other) const {
    return time_ms == other.time_ms &&
           std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(other.value);
  }
};
inline void PrintTo(const Point& point, std::ostream* out) {
  *out << (point.time_ms - kStartMs) << " ms: ";
  if (model::is_stale_marker(point.value)) {
    *out << "stale";
  } else {
    *out << point.value;
  }
}
using Points = std::vector<Point>;
using Series = std::map<std::string, Points>;  // by labels as Prometheus writes them

// Snapshots of a machine whose clocks the test owns.
class Ticks {
 public:
  // The next tick, `by` later on both clocks.
  model::Snapshot& next(Duration by = std::chrono::seconds(1)) {
    mono_ += by;
    wall_ += by;
    snapshot_ = {.sequence = snapshot_.sequence + 1, .wall = wall_, .mono = mono_, .interval = by};
    return snapshot_;
  }
  void set_wall_back(Duration by) { wall_ -= by; }
  void set_wall_forward(Duration by) { wall_ += by; }
  const model::Snapshot& current() const { return snapshot_; }
  MonoTime mono() const { return mono_; }
  int64_t wall_ms() const { return unix_milliseconds(wall_); }

  model::Samples& device(const std::string& uuid) {
    auto device = std::make_shared<model::Device>();
    device->uuid = uuid;
    snapshot_.devices.push_back({.device = std::move(device)});
    return snapshot_.devices.back().samples;
  }
  model::Value fresh(double number) const { return model::Value::fresh(number, mono_, {}, 1); }

 private:
  MonoTime mono_{std::chrono::hours(1)};
  WallTime wall_{std::chrono::milliseconds(kStartMs)};
  model::Snapshot snapshot_;
};

inline std::string text_of(const model::Labels& labels) {
  std::string text = "{";
  for (const auto& [name, value] : labels) {
    text.append(name).append("=\"").append(value).append("\",");
  }
  text.back() = labels.empty() ? '{' : '}';
  return text;
}

// Also checks what every reader may rely on: label order, ascending times, nothing empty.
inline Series read_set(model::SeriesSet& set) {
  Series read;
  model::Labels before;
  while (true) {
    auto cursor = set.next();
    EXPECT_TRUE(cursor.ok()) << cursor.status().message();
    if (!cursor.ok() || *cursor == nullptr) return read;
    const model::Labels& labels = (*cursor)->labels();
    EXPECT_LT(before, labels);
    EXPECT_TRUE(std::ranges::is_sorted(labels));
    before = labels;
    Points& points = read[text_of(labels)];
    while (true) {
      auto stretch = (*cursor)->next();
      EXPECT_TRUE(stretch.ok());
      if (!stretch.ok() || stretch->times_ms.empty()) break;
      EXPECT_EQ(stretch->times_ms.size(), stretch->values.size());
      for (size_t i = 0; i < stretch->times_ms.size(); ++i) {
        points.push_back({stretch->times_ms[i], stretch->values[i]});
      }
    }
    EXPECT_FALSE(points.empty());
    EXPECT_EQ(std::ranges::adjacent_find(points, std::ranges::greater_equal{}, &Point::time_ms),
              points.end());
  }
}

inline Series read(const Head& head, std::vector<model::Matcher> matchers = {},
                   int64_t start_ms = 0, int64_t end_ms = INT64_MAX) {
  auto set = head.select(matchers, {.start_ms = start_ms, .end_ms = end_ms}, {});
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? read_set(**set) : Series{};
}

// The points of one series; the test names it by its labels.
inline Points read_one(const Head& head, std::string_view labels) {
  const Series all = read(head);
  const auto at = all.find(std::string(labels));
  return at == all.end() ? Points{} : at->second;
}

inline constexpr std::string_view kTemperature =
    R"({__name__="gpu_temperature_celsius",uuid="GPU-a"})";

// A head that is told one device's temperature.
class TemperatureHead {
 public:
  // A tick in which GPU-a is read and its temperature is this.
  int64_t tick(std::optional<model::Value> value = {}, Duration by = std::chrono::seconds(1)) {
    model::Snapshot& snapshot = ticks.next(by);
    model::Samples& samples = ticks.device("GPU-a");
    if (value) samples.push_back({catalog::MetricId::kGpuTemperature, "", *value});
    head.append(snapshot);
    return ticks.wall_ms();
  }
  int64_t celsius(double number, Duration by = std::chrono::seconds(1)) {
    model::Snapshot& snapshot = ticks.next(by);
    ticks.device("GPU-a").push_back({catalog::MetricId::kGpuTemperature, "", ticks.fresh(number)});
    head.append(snapshot);
    return ticks.wall_ms();
  }
  int64_t without_device() {
    head.append(ticks.next());
    return ticks.wall_ms();
  }
  Points points() const { return read_one(head, kTemperature); }

  Ticks ticks;
  Head head;
};

}  // namespace gpusight::store
