// Columns of `gpusight status --query` and `--csv`: facts of a device and metrics, by name. Pure;
// any thread. Only fresh numbers are given: a field has no room to say that it is old.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/metric.h"
#include "model/snapshot.h"

namespace gpusight::cli {

// One column: a fact ("uuid"), a metric, or one series of a metric that has a label
// ("gpu_clock_hertz{sm}"). A metric of the host or of gpusight is the same in every row.
struct QueryColumn {
  std::string name;
  size_t fact = 0;  // place in the list of facts; counts when metric is nullptr
  const catalog::MetricRow* metric = nullptr;
  std::string label;
};

// Unknown names are an error for the user, with the nearest name there is.
Result<std::vector<QueryColumn>> parse_columns(std::span<const std::string> names,
                                               catalog::Lang lang);

// What --csv without --query shows: the facts that tell devices apart, then every device metric.
std::vector<QueryColumn> all_columns();

// Metrics with a label that were named without one become a column for each label there is, in
// the order of the labels; those that are absent stay one column.
std::vector<QueryColumn> expand_labels(std::vector<QueryColumn> columns,
                                       const model::Snapshot& snapshot);

// RFC 4180: CRLF, quotes where needed. A text that a spreadsheet would run as a formula gets an
// apostrophe before it.
std::string csv_header(std::span<const QueryColumn> columns);
std::string csv_rows(std::span<const QueryColumn> columns, const model::Snapshot& snapshot);
// A JSON array of one object a device: numbers are numbers, what is absent is null.
std::string query_json(std::span<const QueryColumn> columns, const model::Snapshot& snapshot);

}  // namespace gpusight::cli
