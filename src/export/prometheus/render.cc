#include "export/prometheus/render.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/text.h"

namespace gpusight::prometheus {
namespace {

using catalog::Kind;
using catalog::MetricRow;
using catalog::Scope;
using catalog::Unit;

constexpr size_t kBytesPerSample = 110;  // name, uuid, label, number: a little over what is usual
constexpr size_t kBytesPerFamily = 320;  // HELP, TYPE, UNIT

// Label values and OpenMetrics help: backslash, line feed and quote; plain help knows no quote.
void append_escaped(std::string& out, std::string_view text, bool with_quote) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && with_quote)) out += '\\';
    out += c;
  }
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += "=\"";
  if (is_valid_utf8(value)) {
    append_escaped(out, value, true);
  } else {
    append_escaped(out, clean_text(value, value.size() * 3), true);
  }
  out += '"';
}

// One device, or the host, or gpusight: whose samples are walked through in the order of the rows.
struct Subject {
  std::string labels;  // `{uuid="…"` without the closing brace; empty for host and self
  std::span<const model::Sample> samples;
  size_t next = 0;
};

class Renderer {
 public:
  explicit Renderer(Format format) : format_(format) {}

  void reserve(size_t samples) {
    out_.reserve(samples * kBytesPerSample + catalog::kMetricCount * kBytesPerFamily + 1024);
  }

  // Opens a family. `name` is that of its samples.
  void family(std::string_view name, Kind kind, Unit unit, std::string_view help) {
    const bool open_metrics = format_ == Format::kOpenMetrics100;
    std::string_view family = name;
    if (open_metrics && kind == Kind::kCounter) family.remove_suffix(6);  // "_total"
    comment("HELP", family);
    append_escaped(out_, help, open_metrics);
    out_ += '\n';
    comment("TYPE", family);
    out_ += kind == Kind::kCounter ? "counter\n" : "gauge\n";
    // A family that does not end with its unit (…_watts_min) may not name one.
    const std::string_view unit_name = catalog::unit_name(unit);
    if (!open_metrics || unit == Unit::kNone || !family.ends_with(unit_name)) return;
    comment("UNIT", family);
    out_ += unit_name;
    out_ += '\n';
  }

  std::string& begin_sample(std::string_view name) { return out_ += name; }
  void end_sample(double number) {
    out_ += ' ';
    append_number(out_, number);
    out_ += '\n';
  }

  std::string finish() {
    if (format_ == Format::kOpenMetrics100) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  void comment(std::string_view keyword, std::string_view family) {
    out_ += "# ";
    out_ += keyword;
    out_ += ' ';
    out_ += family;
    out_ += ' ';
  }

  const Format format_;
  std::string out_;
};

// The row's fresh samples of all subjects, under one heading.
void append_row(Renderer& renderer, const MetricRow& row, std::span<Subject> subjects) {
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
        renderer.family(row.name, row.kind, row.unit, row.help.en);
      }
      std::string& out = renderer.begin_sample(row.name);
      out += subject.labels;
      if (!row.label.empty()) {
        out += subject.labels.empty() ? '{' : ',';
        append_label(out, row.label, sample.label);
      }
      if (!subject.labels.empty() || !row.label.empty()) out += '}';
      renderer.end_sample(*number);
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

void append_info(Renderer& renderer, const std::vector<const model::DeviceSnapshot*>& devices) {
  if (devices.empty()) return;
  renderer.family("gpu_info", Kind::kState, Unit::kNone,
                  "Facts of a device; always 1. Join by uuid.");
  const auto text = [](const std::optional<uint32_t>& number) {
    return number ? std::to_string(*number) : std::string();
  };
  const auto fact = [](const model::Device& device, std::string_view name) {
    const std::string* known = model::find_fact(device, name);
    return known == nullptr ? std::string() : *known;
  };
  for (const model::DeviceSnapshot* snapshot : devices) {
    const model::Device& d = *snapshot->device;
    std::string& out = renderer.begin_sample("gpu_info{");
    append_label(out, "uuid", d.uuid);
    const std::pair<std::string_view, std::string> facts[] = {
        {"gpu", text(d.index)},
        {"name", d.name},
        {"vendor", d.vendor},
        {"driver", d.driver},
        {"pci", d.pci},
        {"kind", std::string(model::device_kind_key(d.kind))},
        {"cuda", text(d.cuda_index)},
        {"minor", text(d.minor)},
        {"serial", d.serial},
        {"vbios", d.vbios},
        {"parent", d.parent},
        {"profile", d.profile},
        {"memory_kind", fact(d, "memory_kind")},
        {"gpu_instance", text(d.gpu_instance)},
        {"compute_instance", text(d.compute_instance)},
    };
    for (const auto& [name, value] : facts) {
      if (value.empty()) continue;
      out += ',';
      append_label(out, name, value);
    }
    out += '}';
    renderer.end_sample(1);
  }
}

void append_about(Renderer& renderer, const model::Snapshot& snapshot, std::string_view version) {
  renderer.family("gpusight_build_info", Kind::kState, Unit::kNone,
                  "The program that answers; always 1.");
  std::string& out = renderer.begin_sample("gpusight_build_info{");
  append_label(out, "version", version);
  out += '}';
  renderer.end_sample(1);
  if (snapshot.sequence == 0) return;  // nothing was read yet
  renderer.family("gpusight_simulated", Kind::kState, Unit::kNone,
                  snapshot.simulated
                      ? "SIMULATED: devices of this scrape do not exist, their numbers are made up."
                      : "1 when devices of this scrape do not exist; these do.");
  renderer.begin_sample("gpusight_simulated");
  renderer.end_sample(snapshot.simulated ? 1 : 0);
  renderer.family("gpusight_snapshot_timestamp_seconds", Kind::kGauge, Unit::kSeconds,
                  "Unix time at which the values of this scrape were published.");
  renderer.begin_sample("gpusight_snapshot_timestamp_seconds");
  renderer.end_sample(static_cast<double>(unix_milliseconds(snapshot.wall)) / 1000);
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::kOpenMetrics100
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

bool is_outdated(const model::Snapshot& snapshot, MonoTime now) {
  const Duration limit = std::max<Duration>(3 * snapshot.interval, std::chrono::seconds(10));
  return snapshot.sequence > 0 && now - snapshot.mono > limit;
}

std::string render(const model::Snapshot& snapshot, const RenderOptions& options) {
  Renderer renderer(options.format);
  const auto known = distinct_devices(snapshot);
  size_t samples = snapshot.host.size() + snapshot.self.size() + 3 * known.size() + 3;
  std::vector<Subject> devices;
  for (const model::DeviceSnapshot* device : known) {
    std::string labels = "{";
    append_label(labels, "uuid", device->device->uuid);
    devices.push_back({std::move(labels), device->samples});
    samples += device->samples.size();
  }
  renderer.reserve(samples);
  append_about(renderer, snapshot, options.version);
  append_info(renderer, known);
  if (options.outdated) return renderer.finish();

  Subject host[] = {{"", snapshot.host}};
  Subject self[] = {{"", snapshot.self}};
  for (const MetricRow& row : catalog::metrics()) {
    switch (row.scope) {
      case Scope::kDevice: append_row(renderer, row, devices); break;
      case Scope::kHost: append_row(renderer, row, host); break;
      case Scope::kSelf: append_row(renderer, row, self); break;
    }
  }
  return renderer.finish();
}

}  // namespace gpusight::prometheus
