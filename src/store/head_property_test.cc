// The head against a plain model of it: vectors of rows, nothing packed. Random machines, with
// every kind of value, devices that come and go, slow readings and a wall clock that is set.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "store/head_test_util.h"

namespace gpusight::store {
namespace {

using catalog::Cadence;
using catalog::MetricId;
using model::Value;

constexpr MetricId kMetrics[] = {MetricId::kGpuUtilization, MetricId::kGpuMemoryUsed,
                                 MetricId::kGpuPower,       MetricId::kGpuEnergy,
                                 MetricId::kGpuClock,       MetricId::kGpuPowerLimit,
                                 MetricId::kGpuClockLimit,  MetricId::kGpuPcieReplays};

// What the head should say, by labels. It never ages: the test looks at the last minutes only.
class PlainHead {
 public:
  void append(const model::Snapshot& snapshot, int64_t wall_ms) {
    forget_from(wall_ms);
    std::set<std::string> devices;
    for (auto& [key, series] : series_) series.seen = Value::absent(model::Reason::kLost);
    for (const model::DeviceSnapshot& device : snapshot.devices) {
      devices.insert(device.device->uuid);
      for (const model::Sample& sample : device.samples) note(device.device->uuid, sample);
    }
    for (auto& [key, series] : series_) {
      const bool is_there = devices.contains(series.uuid);
      if (series.is_slow) {
        write_slow(series, wall_ms);
      } else if (is_there || series.was_there) {
        write_fast(series, wall_ms);
      }
      series.was_there = is_there;
    }
  }

  Series window(int64_t start_ms, int64_t end_ms) const {
    Series found;
    for (const auto& [key, series] : series_) {
      Points points;
      for (const Point& p : series.points) {
        if (p.time_ms > start_ms && p.time_ms <= end_ms) points.push_back(p);
      }
      if (!points.empty()) found[key] = std::move(points);
    }
    return found;
  }

 private:
  struct PlainSeries {
    std::string uuid;
    bool is_slow = false;
    Points points;
    Value seen;     // this tick's
    Value written;  // what was last said
    bool is_said = false;
    bool was_there = false;
  };

  // Where rows go because the clock was set back, all of their group is news again; where no row is
  // left, its series are gone.
  void forget_from(int64_t wall_ms) {
    std::map<std::pair<std::string, bool>, std::pair<size_t, size_t>> groups;  // gone, left
    for (auto& [key, series] : series_) {
      auto& [gone, left] = groups[{series.uuid, series.is_slow}];
      gone += std::erase_if(series.points, [&](const Point& p) { return p.time_ms >= wall_ms; });
      left += series.points.size();
    }
    for (auto& [key, series] : series_) {
      if (groups[{series.uuid, series.is_slow}].first == 0) continue;
      series.is_said = false;
      series.was_there = true;
    }
    std::erase_if(series_, [&](const auto& entry) {
      return groups[{entry.second.uuid, entry.second.is_slow}].second == 0;
    });
  }

  void note(const std::string& uuid, const model::Sample& sample) {
    const catalog::MetricRow& row = catalog::metric(sample.metric);
    model::Labels labels = {{"__name__", std::string(row.name)}, {"uuid", uuid}};
    if (!sample.label.empty()) labels.emplace_back(row.label, sample.label);
    std::ranges::sort(labels);
    const std::string key = text_of(labels);
    if (!series_.contains(key) && !sample.value.is_fresh()) return;
    PlainSeries& series = series_[key];
    series.uuid = uuid;
    series.is_slow = row.cadence == Cadence::kSlow;
    series.seen = sample.value;
  }

  static void write_fast(PlainSeries& series, int64_t wall_ms) {
    if (series.seen.presence() == model::Presence::kStale) return;
    series.points.push_back({wall_ms, series.seen.fresh_number().value_or(model::stale_marker())});
  }

  static void write_slow(PlainSeries& series, int64_t wall_ms) {
    if (series.seen.presence() == model::Presence::kStale) return;
    const bool is_same =
        series.is_said && series.seen.presence() == series.written.presence() &&
        (series.seen.is_absent() || series.seen.read_at() == series.written.read_at());
    if (is_same) return;
    write_fast(series, wall_ms);
    series.written = series.seen;
    series.is_said = true;
  }

  std::map<std::string, PlainSeries> series_;
};

// What differs, in as few words as it takes.
std::string difference(const Series& found, const Series& expected) {
  for (const auto& [key, points] : expected) {
    if (!found.contains(key)) return "missing: " + key;
    const Points& other = found.at(key);
    const auto [a, b] = std::ranges::mismatch(points, other);
    if (a == points.end() && b == other.end()) continue;
    return key + ": expected " + (a == points.end() ? "the end" : testing::PrintToString(*a)) +
           ", found " + (b == other.end() ? "the end" : testing::PrintToString(*b));
  }
  return found.size() == expected.size() ? "" : "more series than expected";
}

class Machine {
 public:
  explicit Machine(uint64_t seed) : random_(seed) {}

  void tick() {
    const uint64_t jump = random_() % 400;
    if (jump == 0) ticks.set_wall_back(std::chrono::milliseconds(random_() % 20'000));
    if (jump == 1) ticks.set_wall_forward(std::chrono::milliseconds(random_() % 10'000));
    model::Snapshot& snapshot =
        ticks.next(std::chrono::milliseconds(900 + static_cast<int64_t>(random_() % 200)));
    for (int device = 0; device < 2; ++device) {
      if (random_() % 50 == 0) is_there_[device] = !is_there_[device];
      if (is_there_[device]) read_device(device);
    }
    head.append(snapshot);
    plain.append(snapshot, ticks.wall_ms());
  }

  Ticks ticks;
  Head head;
  PlainHead plain;

 private:
  void read_device(int device) {
    model::Samples& samples = ticks.device(device == 0 ? "GPU-a" : "GPU-b");
    for (const MetricId metric : kMetrics) {
      const catalog::MetricRow& row = catalog::metric(metric);
      if (row.label.empty()) {
        add(samples, device, row, "");
      } else {
        add(samples, device, row, "memory");
        add(samples, device, row, "sm");
      }
    }
  }

  void add(model::Samples& samples, int device, const catalog::MetricRow& row,
           const std::string& label) {
    Value& value = values_[{device, row.id, label}];
    const bool is_slow = row.cadence == Cadence::kSlow;
    if (!is_slow || random_() % 8 == 0) {
      const uint64_t what = random_() % 20;
      const uint64_t bits = random_() % 50;
      const auto quantum = static_cast<int64_t>(random_() >> (63 - bits) >> 1);
      const double number = catalog::value_of(row, random_() % 2 == 0 ? quantum : 1000);
      if (what > 3 || value.is_absent()) value = ticks.fresh(number);
      if (what == 0) value = Value::absent(model::Reason::kBusy);
      if (what == 1 && !value.is_absent()) value = value.stale(model::Reason::kStale);
      if (what == 2) return;
    }
    samples.push_back({row.id, label, value});
  }

  std::mt19937_64 random_;
  bool is_there_[2] = {true, true};
  std::map<std::tuple<int, MetricId, std::string>, Value> values_;
};

TEST(HeadProperty, SaysWhatAPlainModelOfItSays) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Machine machine(seed);
    for (int tick = 1; tick <= 1000; ++tick) {
      machine.tick();
      if (tick % 97 != 0) continue;
      const int64_t now = machine.ticks.wall_ms();
      // What nothing can have aged out of yet: eight minutes.
      for (const int64_t start_ms : {now - 480'000, now - 60'500, now - 1}) {
        ASSERT_EQ(difference(read(machine.head, {}, start_ms, now - 3),
                             machine.plain.window(start_ms, now - 3)),
                  "")
            << "seed " << seed << " tick " << tick << " window " << now - start_ms;
      }
      ASSERT_EQ(difference(read(machine.head, {}, now - 30'000, INT64_MAX),
                           machine.plain.window(now - 30'000, INT64_MAX)),
                "");
    }
  }
}

TEST(HeadProperty, ViewsAndQueriesAgree) {
  Machine machine(99);
  for (int tick = 0; tick < 900; ++tick) machine.tick();
  const Series all = read(machine.head);
  size_t compared = 0;
  for (const HeadGroup& group : machine.head.groups()) {
    for (const HeadGroup::Series& series : group.series) {
      const catalog::MetricRow& row = catalog::metric(series.metric);
      if (row.cadence == Cadence::kSlow) continue;  // views repeat what still stands
      model::Labels labels = {{"__name__", std::string(row.name)}, {"uuid", group.subject}};
      if (!series.label.empty()) labels.emplace_back(row.label, series.label);
      std::ranges::sort(labels);
      Points numbers;
      for (size_t i = 0; i < group.times_ms.size(); ++i) {
        if (!std::isnan(series.values[i])) numbers.push_back({group.times_ms[i], series.values[i]});
      }
      Points expected = all.at(text_of(labels));
      std::erase_if(expected, [](const Point& p) { return model::is_stale_marker(p.value); });
      EXPECT_EQ(numbers, expected) << text_of(labels);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2u * 6);
}

}  // namespace
}  // namespace gpusight::store
