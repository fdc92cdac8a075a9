#include "export/prometheus/drop_in.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace gpusight::prometheus {
namespace {

using catalog::MetricId;
using catalog::MetricRow;
using catalog::Resolution;

// Bits of NVML's clocks event reasons (nvml.h, nvmlClocksEventReason*), by the label they have
// here.
struct EventReason {
  std::string_view label;
  uint64_t bit;
};
constexpr EventReason kEventReasons[] = {
    {"idle", 0x1},        {"applications_clocks", 0x2}, {"sw_power_cap", 0x4},
    {"hw_slowdown", 0x8}, {"sync_boost", 0x10},         {"sw_thermal", 0x20},
    {"hw_thermal", 0x40}, {"hw_power_brake", 0x80},     {"display_clock", 0x100},
};

// What a row with a label becomes under one name that knows no label.
constexpr std::string_view kFirstOnly = "fan";
constexpr std::string_view kTotalled = "link";
bool is_mask(const MetricRow& row) { return row.id == MetricId::kGpuThrottle; }

// Number times factor without the noise of binary fractions: both are whole multiples.
double scaled(const MetricRow& row, double number, Resolution factor) {
  const std::optional<int64_t> quantum = catalog::quantize(row, number);
  if (!quantum) return number * factor.as_double();
  int64_t up = row.resolution.numerator * factor.numerator;
  int64_t down = row.resolution.denominator * factor.denominator;
  const int64_t common = std::gcd(up, down);
  up /= common;
  down /= common;
  return static_cast<double>(*quantum) * static_cast<double>(up) / static_cast<double>(down);
}

std::optional<double> mask_of(std::span<const model::Sample> samples) {
  uint64_t mask = 0;
  for (const EventReason& reason : kEventReasons) {
    const auto sample = std::ranges::find(samples, reason.label, &model::Sample::label);
    const auto active = sample == samples.end() ? std::nullopt : sample->value.fresh_number();
    if (!active) return std::nullopt;
    if (*active != 0) mask |= reason.bit;
  }
  return static_cast<double>(mask);
}

// A link that has no such counter adds nothing; one whose counter is not known leaves no total.
std::optional<double> sum_of(std::span<const model::Sample> samples) {
  std::optional<double> sum;
  for (const model::Sample& sample : samples) {
    const model::Value& value = sample.value;
    if (value.is_absent() && value.reason() == model::Reason::kNotSupported) continue;
    if (!value.is_fresh()) return std::nullopt;
    sum = sum.value_or(0) + *value.fresh_number();
  }
  return sum;
}

std::optional<double> first_of(std::span<const model::Sample> samples) {
  return samples.empty() ? std::nullopt : samples.front().value.fresh_number();
}

ForeignFamily family_of(const MetricRow& row, std::string_view name, std::string_view label) {
  return {.name = name, .metric = row.id, .label = label, .kind = row.kind};
}

// Not for the moment only, as when a call fails: what is not read there has no reason at all.
bool never_has(std::span<const model::Sample> samples, MetricId metric) {
  const model::Value* value = model::find_sample(samples, metric);
  return value == nullptr ||
         (value->is_absent() && (value->reason() == model::Reason::kNotSupported ||
                                 value->reason() == model::Reason::kUnknown));
}

void find_in_one(std::span<const model::Sample> samples, const ForeignFamily& family,
                 std::vector<ForeignReading>& readings) {
  const MetricRow& row = catalog::metric(family.metric);
  const auto begin = std::ranges::lower_bound(samples, family.metric, {}, &model::Sample::metric);
  const auto end = std::ranges::upper_bound(samples, family.metric, {}, &model::Sample::metric);
  std::span<const model::Sample> own(begin, end);
  // A metric that is not there at all stands once, without label.
  if (!row.label.empty() && !own.empty() && own.front().label.empty()) own = own.subspan(1);
  const auto put = [&](std::string_view label, std::optional<double> number) {
    if (number) readings.push_back({label, scaled(row, *number, family.factor)});
  };
  if (row.label.empty()) {
    if (!own.empty() && own.front().label.empty()) put({}, first_of(own));
  } else if (!family.label.empty()) {
    const auto sample = std::ranges::find(own, family.label, &model::Sample::label);
    if (sample != own.end()) put({}, sample->value.fresh_number());
  } else if (is_mask(row)) {
    put({}, mask_of(own));
  } else if (row.label == kFirstOnly) {
    put({}, first_of(own));
  } else if (row.label == kTotalled) {
    put({}, sum_of(own));
  } else {
    for (size_t i = 0; i < own.size(); ++i) {
      const bool repeats = i > 0 && own[i].label == own[i - 1].label;
      if (!repeats) put(own[i].label, own[i].value.fresh_number());
    }
  }
}

}  // namespace

std::vector<ForeignFamily> families_named(std::string_view catalog::Elsewhere::*theirs) {
  std::vector<ForeignFamily> families;
  for (const MetricRow& row : catalog::metrics()) {
    if (row.scope != catalog::Scope::kDevice) continue;
    if (const auto name = row.elsewhere.*theirs; !name.empty()) {
      families.push_back(family_of(row, name, {}));
    }
    for (const catalog::LabelNames& series : row.by_label) {
      if (const auto name = series.names.*theirs; !name.empty()) {
        families.push_back(family_of(row, name, series.label));
      }
    }
  }
  return families;
}

void find_readings(const Parts& parts, const ForeignFamily& family,
                   std::vector<ForeignReading>& readings) {
  readings.clear();
  for (const model::DeviceSnapshot* part : parts) {
    find_in_one(part->samples, family, readings);
    if (readings.empty() && family.otherwise && never_has(part->samples, family.metric)) {
      ForeignFamily other = family;
      other.metric = *family.otherwise;
      find_in_one(part->samples, other, readings);
    }
    if (!readings.empty()) return;
  }
}

std::string help_of(const ForeignFamily& family) {
  const MetricRow& row = catalog::metric(family.metric);
  std::string help(row.help.en);
  if (!family.label.empty()) {
    help.append(" Here: ").append(family.label).append(".");
  } else if (is_mask(row)) {
    help += " As NVML's bit mask of all reasons.";
  } else if (row.label == kTotalled) {
    help += " All of them together.";
  } else if (row.label == kFirstOnly) {
    help += " Of the first one.";
  }
  if (!family.in_words.empty()) help.append(" In ").append(family.in_words).append(".");
  return help;
}

std::vector<Board> nvidia_boards(const model::Snapshot& snapshot) {
  std::vector<Board> boards;
  const auto board_of = [&](std::string_view uuid) {
    return std::ranges::find(
        boards, uuid, [](const Board& b) -> std::string_view { return b.gpu->device->uuid; });
  };
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    if (device.device->vendor != "nvidia" || device.device->kind != model::DeviceKind::kGpu)
      continue;
    if (board_of(device.device->uuid) == boards.end()) boards.push_back({.gpu = &device});
  }
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    const model::Device& d = *device.device;
    if (d.kind != model::DeviceKind::kMig) continue;
    const auto board = board_of(d.parent);
    if (board == boards.end()) continue;
    const auto is_known = [&](const model::DeviceSnapshot* m) { return m->device->uuid == d.uuid; };
    if (std::ranges::any_of(board->mig, is_known)) continue;
    board->mig.push_back(&device);
    if (!d.gpu_instance) continue;
    const auto instance = std::ranges::find_if(board->instances, [&](const Parts& parts) {
      return parts.front()->device->gpu_instance == d.gpu_instance;
    });
    if (instance != board->instances.end()) {
      instance->push_back(&device);
    } else {
      board->instances.push_back({&device});
    }
  }
  return boards;
}

std::string_view gpu_instance_profile(std::string_view profile) {
  const size_t dot = profile.find('.');
  const std::string_view part = profile.substr(0, dot);
  const bool is_part = dot != std::string_view::npos && part.size() > 1 && part.back() == 'c' &&
                       parse_uint(part.substr(0, part.size() - 1)).has_value();
  return is_part ? profile.substr(dot + 1) : profile;
}

std::string nvml_bus_id(std::string_view address) {
  constexpr size_t kDomainDigits = 8;
  std::string id;
  const size_t colon = address.find(':');
  if (colon < kDomainDigits) id.assign(kDomainDigits - colon, '0');
  for (const char c : address) id += c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return id;
}

std::string text_of(const std::optional<uint32_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

}  // namespace gpusight::prometheus
