// Pieces that the snapshot document and the delta are both made of. Private to src/model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "model/caller.h"
#include "model/snapshot.h"

namespace gpusight::model::parts {

// To the millisecond: more digits would be noise.
double document_time(WallTime time);

// Calls visit(row, samples of that row) for every metric of the scope, in the catalogue's order;
// the span is empty where the subject does not have the metric at all.
template <typename Visit>
void for_each_row(std::span<const Sample> samples, catalog::Scope scope, Visit visit) {
  size_t at = 0;
  for (const catalog::MetricRow& row : catalog::metrics()) {
    while (at < samples.size() && samples[at].metric < row.id) ++at;
    const size_t first = at;
    while (at < samples.size() && samples[at].metric == row.id) ++at;
    if (row.scope == scope) visit(row, samples.subspan(first, at - first));
  }
}

// The number of one metric's samples, its numbers by label, or null.
void append_metric(JsonWriter& w, std::span<const Sample> samples);

// Why a value is not fresh, and how old it is if it is stale.
struct Remark {
  std::string key;  // NAME or NAME{label}
  Reason reason = Reason::kUnknown;
  std::optional<double> age_seconds;  // to a tenth

  bool operator==(const Remark&) const = default;
};
std::vector<Remark> remarks(std::span<const Sample> samples, catalog::Scope scope, MonoTime now);

// "users", "processes", "processes_hidden", "processes_reason", "sessions" of the object that is
// open.
void append_processes(JsonWriter& w, const DeviceSnapshot& device, const Caller& caller);
void append_sessions(JsonWriter& w, const DeviceSnapshot& device, const Caller& caller);
void append_text(JsonWriter& w, const catalog::Text& text);
void append_sources(JsonWriter& w, std::span<const SourceStatus> sources);

}  // namespace gpusight::model::parts
