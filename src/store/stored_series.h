// The series that a database knows, and which of them a query wants.
//
// Plain values and functions over one connection.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "catalog/metric.h"
#include "model/queryable.h"
#include "store/chunk_codec.h"
#include "store/sqlite_db.h"

namespace gpusight::store {

struct StoredSeries {
  uint32_t id = 0;
  int64_t group = 0;
  const catalog::MetricRow* metric = nullptr;
  catalog::Resolution resolution;  // as written, which may be an older catalogue's

  double value_of(int64_t quantum) const {
    return static_cast<double>(quantum) * static_cast<double>(resolution.numerator) /
           static_cast<double>(resolution.denominator);
  }
  // The columns of a rolled-up chunk.
  uint32_t part(RollupPart part) const { return id * 8 + static_cast<uint32_t>(part); }
};

// What is one series to a reader: mostly one stored series, more where the catalogue changed the
// metric's cadence or resolution.
using SeriesByLabels = std::map<model::Labels, std::vector<StoredSeries>>;

// Metrics that this program does not know (a newer one wrote them) are left out.
Result<SeriesByLabels> find_series(Db& db, std::span<const model::Matcher> matchers);

}  // namespace gpusight::store
