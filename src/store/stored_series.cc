#include "store/stored_series.h"

#include <optional>
#include <string>

#include "store/head_read.h"
#include "store/series_directory.h"

namespace gpusight::store {
namespace {

// What plain equality asks of a label; nullopt when nothing does.
std::optional<std::string_view> wanted(std::span<const model::Matcher> matchers,
                                       std::string_view name) {
  for (const model::Matcher& matcher : matchers) {
    if (matcher.kind == model::Matcher::Kind::kEqual && matcher.name == name) return matcher.value;
  }
  return std::nullopt;
}

}  // namespace

Result<SeriesByLabels> find_series(Db& db, std::span<const model::Matcher> matchers) {
  SeriesByLabels found;
  std::string sql =
      "SELECT s.id, s.group_id, s.metric, s.label, s.numerator, s.denominator,"
      "  g.scope, g.uuid, g.cadence"
      " FROM series s JOIN series_group g ON g.id = s.group_id WHERE 1";
  const auto name = wanted(matchers, "__name__");
  const auto uuid = wanted(matchers, "uuid");
  const catalog::MetricRow* only = name ? catalog::find_metric(*name) : nullptr;
  if (name && only == nullptr) return found;
  if (name) sql += " AND s.metric = ?1";
  if (uuid) sql += " AND g.uuid = ?2";
  Stmt rows = TRY(db.prepare(sql));
  if (name) rows.bind(1, int64_t{only->wire});
  if (uuid) rows.bind(2, *uuid);
  while (TRY(rows.step())) {
    const int64_t wire = rows.number(2);
    const auto key = group_key_of(rows.text(6), rows.text(7), rows.text(8));
    const catalog::MetricRow* metric =
        wire >= 0 && wire <= UINT16_MAX ? catalog::find_metric_by_wire(static_cast<uint16_t>(wire))
                                        : nullptr;
    if (!key || metric == nullptr || rows.number(4) <= 0 || rows.number(5) <= 0) continue;
    const SeriesInfo info{.metric = metric->id, .label = std::string(rows.text(3))};
    if (!series_matches(*key, info, matchers)) continue;
    found[labels_of(*key, info)].push_back(
        {.id = static_cast<uint32_t>(rows.number(0)),
         .group = rows.number(1),
         .metric = metric,
         .resolution = {.numerator = rows.number(4), .denominator = rows.number(5)}});
  }
  return found;
}

}  // namespace gpusight::store
