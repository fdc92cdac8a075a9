#include "cli/status_query.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <variant>

#include "base/json_writer.h"
#include "base/text.h"
#include "catalog/message.h"
#include "cli/csv.h"
#include "cli/format.h"
#include "config/value.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using catalog::MetricRow;
using catalog::Scope;
using model::DeviceSnapshot;
using model::Snapshot;

// A field: nothing, a text, a number.
using Field = std::variant<std::monostate, std::string, double>;

Field text(const std::string& t) { return t.empty() ? Field() : Field(t); }
Field number(const std::optional<uint32_t>& n) {
  return n ? Field(static_cast<double>(*n)) : Field();
}

// To the millisecond, as in the snapshot document.
Field time(WallTime t) {
  if (t == WallTime{}) return {};
  return static_cast<double>(unix_milliseconds(t)) / 1000;
}

struct Fact {
  std::string_view name;
  Field (*get)(const Snapshot&, const DeviceSnapshot&);
};

constexpr Fact kFacts[] = {
    {"time", [](const Snapshot& s, const DeviceSnapshot&) { return time(s.wall); }},
    {"host", [](const Snapshot& s, const DeviceSnapshot&) { return text(s.host_name); }},
    {"index", [](const Snapshot&, const DeviceSnapshot& d) { return number(d.device->index); }},
    {"cuda_index",
     [](const Snapshot&, const DeviceSnapshot& d) { return number(d.device->cuda_index); }},
    {"minor", [](const Snapshot&, const DeviceSnapshot& d) { return number(d.device->minor); }},
    {"uuid", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->uuid); }},
    {"kind",
     [](const Snapshot&, const DeviceSnapshot& d) {
       return Field(std::string(model::device_kind_key(d.device->kind)));
     }},
    {"vendor", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->vendor); }},
    {"name", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->name); }},
    {"driver", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->driver); }},
    {"pci", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->pci); }},
    {"serial", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->serial); }},
    {"vbios", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->vbios); }},
    {"parent", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->parent); }},
    {"gpu_instance",
     [](const Snapshot&, const DeviceSnapshot& d) { return number(d.device->gpu_instance); }},
    {"compute_instance",
     [](const Snapshot&, const DeviceSnapshot& d) { return number(d.device->compute_instance); }},
    {"profile", [](const Snapshot&, const DeviceSnapshot& d) { return text(d.device->profile); }},
    {"state",
     [](const Snapshot&, const DeviceSnapshot& d) {
       return Field(std::string(model::device_state_key(d.state)));
     }},
    {"state_since", [](const Snapshot&, const DeviceSnapshot& d) { return time(d.state_since); }},
    {"simulated",
     [](const Snapshot& s, const DeviceSnapshot&) { return Field(s.simulated ? 1.0 : 0.0); }},
};

const model::Samples& samples_of(Scope scope, const Snapshot& snapshot, const DeviceSnapshot& d) {
  if (scope == Scope::kHost) return snapshot.host;
  return scope == Scope::kSelf ? snapshot.self : d.samples;
}

Field field(const QueryColumn& column, const Snapshot& snapshot, const DeviceSnapshot& d) {
  if (column.metric == nullptr) return kFacts[column.fact].get(snapshot, d);
  const model::Samples& samples = samples_of(column.metric->scope, snapshot, d);
  const model::Value* value = model::find_sample(samples, column.metric->id, column.label);
  const std::optional<double> fresh = value == nullptr ? std::nullopt : value->fresh_number();
  return fresh ? Field(*fresh) : Field();
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const Fact& fact : kFacts) names.push_back(fact.name);
  for (const MetricRow& row : catalog::metrics()) names.push_back(row.name);
  return names;
}

std::optional<QueryColumn> find_column(std::string_view name) {
  QueryColumn column{.name = std::string(name)};
  const auto fact = std::ranges::find(kFacts, name, &Fact::name);
  if (fact != std::end(kFacts)) {
    column.fact = fact - std::begin(kFacts);
    return column;
  }
  const size_t brace = name.find('{');
  column.metric = catalog::find_metric(name.substr(0, brace));
  if (column.metric == nullptr) return std::nullopt;
  if (brace == std::string_view::npos) return column;
  if (!name.ends_with('}') || column.metric->label.empty()) return std::nullopt;
  column.label = name.substr(brace + 1, name.size() - brace - 2);
  if (column.label.empty()) return std::nullopt;
  return column;
}

}  // namespace

Result<std::vector<QueryColumn>> parse_columns(std::span<const std::string> names, Lang lang) {
  std::vector<QueryColumn> columns;
  for (const std::string& name : names) {
    std::optional<QueryColumn> column = find_column(name);
    if (!column) {
      const std::string shown = clean_text(name, 64);
      const std::string word = shown.substr(0, shown.find('{'));
      const bool known = catalog::find_metric(word) != nullptr;
      return Status(Code::kInvalidArgument,
                    say(MessageId::kUsageUnknownMetric, lang, shown) +
                        (known ? "" : config::did_you_mean(word, known_names(), "", lang)));
    }
    columns.push_back(*std::move(column));
  }
  return columns;
}

std::vector<QueryColumn> all_columns() {
  std::vector<QueryColumn> columns;
  for (const char* fact : {"time", "index", "uuid", "kind", "name", "pci", "parent", "gpu_instance",
                           "profile", "state"}) {
    columns.push_back(*find_column(fact));
  }
  for (const MetricRow& row : catalog::metrics()) {
    if (row.scope == Scope::kDevice)
      columns.push_back({.name = std::string(row.name), .metric = &row});
  }
  return columns;
}

std::vector<QueryColumn> expand_labels(std::vector<QueryColumn> columns, const Snapshot& snapshot) {
  std::vector<QueryColumn> expanded;
  const auto add = [&](QueryColumn column) {  // a name that stands twice in an object is no JSON
    if (std::ranges::find(expanded, column.name, &QueryColumn::name) != expanded.end()) return;
    expanded.push_back(std::move(column));
  };
  for (QueryColumn& column : columns) {
    std::set<std::string> labels;
    if (column.metric != nullptr && !column.metric->label.empty() && column.label.empty()) {
      const auto gather = [&](const model::Samples& samples) {
        for (const model::Sample& s : samples) {
          if (s.metric == column.metric->id && !s.label.empty()) labels.insert(s.label);
        }
      };
      if (column.metric->scope == Scope::kHost) gather(snapshot.host);
      if (column.metric->scope == Scope::kSelf) gather(snapshot.self);
      for (const DeviceSnapshot& d : snapshot.devices) gather(d.samples);
    }
    for (const std::string& label : labels) {
      add({.name = column.name + "{" + label + "}", .metric = column.metric, .label = label});
    }
    if (labels.empty()) add(std::move(column));
  }
  return expanded;
}

std::string csv_header(std::span<const QueryColumn> columns) {
  std::string out;
  for (const QueryColumn& column : columns) {
    if (!out.empty()) out += ',';
    out += csv_field(column.name);
  }
  return out + "\r\n";
}

std::string csv_rows(std::span<const QueryColumn> columns, const Snapshot& snapshot) {
  std::string out;
  for (const DeviceSnapshot& d : snapshot.devices) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += ',';
      const Field f = field(columns[i], snapshot, d);
      if (const auto* t = std::get_if<std::string>(&f)) out += csv_field(*t);
      if (const auto* n = std::get_if<double>(&f)) append_number(out, *n);
    }
    out += "\r\n";
  }
  return out;
}

std::string query_json(std::span<const QueryColumn> columns, const Snapshot& snapshot) {
  std::string out;
  JsonWriter w(out);
  w.begin_array();
  for (const DeviceSnapshot& d : snapshot.devices) {
    w.begin_object();
    for (const QueryColumn& column : columns) {
      w.key(column.name);
      const Field f = field(column, snapshot, d);
      if (const auto* t = std::get_if<std::string>(&f)) {
        w.string(*t);
      } else if (const auto* n = std::get_if<double>(&f)) {
        w.number(*n);
      } else {
        w.null();
      }
    }
    w.end_object();
  }
  w.end_array();
  return out;
}

}  // namespace gpusight::cli
