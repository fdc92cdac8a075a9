#include "serve/prom_metadata.h"

#include "catalog/metric.h"

namespace gpusight::serve {
namespace {

// As /metrics declares it.
std::string_view type_of(catalog::Kind kind) {
  return kind == catalog::Kind::kCounter ? "counter" : "gauge";
}

}  // namespace

void append_metadata(JsonWriter& json, std::string_view metric, int64_t limit) {
  json.begin_object();
  int64_t count = 0;
  for (const catalog::MetricRow& row : catalog::metrics()) {
    if (!metric.empty() && row.name != metric) continue;
    if (limit >= 0 && count++ >= limit) break;
    json.key(row.name).begin_array().begin_object();
    json.key("type").string(type_of(row.kind)).key("help").string(row.help.en);
    json.key("unit").string(catalog::unit_name(row.unit)).end_object().end_array();
  }
  json.end_object();
}

}  // namespace gpusight::serve
