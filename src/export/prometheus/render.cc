#include "export/prometheus/render.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "export/prometheus/names.h"

namespace gpusight::prometheus {
namespace {

using catalog::Kind;
using catalog::MetricRow;
using catalog::Scope;
using catalog::Unit;

// One device, or the host, or gpusight: whose samples are walked through in the order of the rows.
struct Subject {
  std::string labels;  // `{uuid="…"` without the closing brace; empty for host and self
  std::span<const model::Sample> samples;
  size_t next = 0;
};

// The row's fresh samples of all subjects, under one heading.
void append_row(Exposition& out, const MetricRow& row, std::span<Subject> subjects) {
  bool has_heading = false;
  for (Subject& subject : subjects) {
    const std::string* previous = nullptr;
    for (size_t& i = subject.next; i < subject.samples.size(); ++i) {
      const model::Sample& sample = subject.samples[i];
      if (sample.metric > row.id) break;
      const auto number = sample.value.fresh_number();
      // A label where there is none, or none where there is one, cannot be told apart from others.
      const bool fits = sample.label.empty() == row.label.empty();
      const bool repeats = previous != nullptr && *previous == sample.label;
      if (sample.metric < row.id || !number || !fits || repeats) continue;
      previous = &sample.label;
      if (!std::exchange(has_heading, true)) {
        out.family(row.name, row.kind, row.unit, row.help.en);
      }
      std::string& text = out.begin_sample(row.name);
      text += subject.labels;
      if (!row.label.empty()) {
        text += subject.labels.empty() ? '{' : ',';
        append_label(text, row.label, sample.label);
      }
      if (!subject.labels.empty() || !row.label.empty()) text += '}';
      out.end_sample(*number);
    }
  }
}

// Devices whose identity is taken already are left out: two equal series spoil a whole scrape.
std::vector<const model::DeviceSnapshot*> distinct_devices(const model::Snapshot& snapshot) {
  std::vector<const model::DeviceSnapshot*> devices;
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    const bool is_known = std::ranges::any_of(devices, [&](const model::DeviceSnapshot* other) {
      return other->device->uuid == device.device->uuid;
    });
    if (!is_known) devices.push_back(&device);
  }
  return devices;
}

void append_info(Exposition& out, const std::vector<const model::DeviceSnapshot*>& devices) {
  if (devices.empty()) return;
  out.family("gpu_info", Kind::kState, Unit::kNone, "Facts of a device; always 1. Join by uuid.");
  for (const model::DeviceSnapshot* snapshot : devices) {
    const model::Device& d = *snapshot->device;
    std::string& text = out.begin_sample("gpu_info{");
    append_label(text, "uuid", d.uuid);
    for (const auto& [name, value] : info_facts(d)) {
      text += ',';
      append_label(text, name, value);
    }
    text += '}';
    out.end_sample(1);
  }
}

void append_simulated(Exposition& out, bool simulated) {
  out.family("gpusight_simulated", Kind::kState, Unit::kNone,
             simulated
                 ? "SIMULATED: devices of this scrape do not exist, their numbers are made up."
                 : "1 when devices of this scrape do not exist; these do.");
  out.begin_sample("gpusight_simulated");
  out.end_sample(simulated ? 1 : 0);
}

void append_about(Exposition& out, const model::Snapshot& snapshot, std::string_view version) {
  out.family("gpusight_build_info", Kind::kState, Unit::kNone,
             "The program that answers; always 1.");
  std::string& text = out.begin_sample("gpusight_build_info{");
  append_label(text, "version", version);
  text += '}';
  out.end_sample(1);
  if (snapshot.sequence == 0) return;  // nothing was read yet
  append_simulated(out, snapshot.simulated);
  out.family("gpusight_snapshot_timestamp_seconds", Kind::kGauge, Unit::kSeconds,
             "Unix time at which the values of this scrape were published.");
  out.begin_sample("gpusight_snapshot_timestamp_seconds");
  out.end_sample(static_cast<double>(unix_milliseconds(snapshot.wall)) / 1000);
}

void append_own(Exposition& out, const model::Snapshot& snapshot, const RenderOptions& options) {
  const auto known = distinct_devices(snapshot);
  append_about(out, snapshot, options.version);
  append_info(out, known);
  if (options.outdated) return;

  std::vector<Subject> devices;
  for (const model::DeviceSnapshot* device : known) {
    std::string labels = "{";
    append_label(labels, "uuid", device->device->uuid);
    devices.push_back({std::move(labels), device->samples});
  }
  Subject host[] = {{"", snapshot.host}};
  Subject self[] = {{"", snapshot.self}};
  for (const MetricRow& row : catalog::metrics()) {
    switch (row.scope) {
      case Scope::kDevice: append_row(out, row, devices); break;
      case Scope::kHost: append_row(out, row, host); break;
      case Scope::kSelf: append_row(out, row, self); break;
    }
  }
}

size_t count_samples(const model::Snapshot& snapshot) {
  size_t samples = snapshot.host.size() + snapshot.self.size();
  for (const model::DeviceSnapshot& device : snapshot.devices) samples += device.samples.size();
  return samples;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> info_facts(const model::Device& d) {
  const auto number = [](const std::optional<uint32_t>& value) {
    return value ? std::to_string(*value) : std::string();
  };
  const std::string* memory_kind = model::find_fact(d, "memory_kind");
  std::vector<std::pair<std::string_view, std::string>> facts = {
      {"gpu", number(d.index)},
      {"name", d.name},
      {"vendor", d.vendor},
      {"driver", d.driver},
      {"pci", d.pci},
      {"kind", std::string(model::device_kind_key(d.kind))},
      {"cuda", number(d.cuda_index)},
      {"minor", number(d.minor)},
      {"serial", d.serial},
      {"vbios", d.vbios},
      {"parent", d.parent},
      {"profile", d.profile},
      {"memory_kind", memory_kind == nullptr ? std::string() : *memory_kind},
      {"gpu_instance", number(d.gpu_instance)},
      {"compute_instance", number(d.compute_instance)},
  };
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

bool is_outdated(const model::Snapshot& snapshot, MonoTime now) {
  const Duration limit = std::max<Duration>(3 * snapshot.interval, std::chrono::seconds(10));
  return snapshot.sequence > 0 && now - snapshot.mono > limit;
}

Format format_of(NameSets names, Format wanted) {
  return names.is_only(NameSet::kGpusight) ? wanted : Format::kText004;
}

bool depends_on_caller(NameSets names) { return names.has(NameSet::kNvidiaSmi); }

std::string render(const model::Snapshot& snapshot, const RenderOptions& options) {
  Exposition out(format_of(options.names, options.format));
  out.reserve(catalog::kMetricCount, count_samples(snapshot));
  if (options.names.has(NameSet::kGpusight)) {
    append_own(out, snapshot, options);
  } else if (snapshot.simulated) {
    append_simulated(out, true);
  }
  append_dcgm(out, snapshot, options.names, options.outdated);
  if (options.names.has(NameSet::kNvidiaSmi)) {
    append_nvidia_smi(out, snapshot, options.caller, options.outdated);
  }
  return out.finish();
}

}  // namespace gpusight::prometheus
