// Which group and which series has which number in the database: the writer's copy of the tables
// `series_group` and `series`, kept for as long as its connection.
//
// Not thread-safe. New numbers are given inside the writer's transaction; where that is rolled back
// the directory has to be thrown away with the connection.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"
#include "catalog/metric.h"
#include "store/head_group.h"
#include "store/sqlite_db.h"

namespace gpusight::store {

class SeriesDirectory {
 public:
  static Result<SeriesDirectory> load(Db& db);

  // Gives the number that is there, else writes a row with the next one.
  Result<int64_t> group(const GroupKey& key);
  Result<uint32_t> series(int64_t group, const catalog::MetricRow& metric, std::string_view label);

  size_t series_count() const { return series_.size(); }

 private:
  explicit SeriesDirectory(Db& db) : db_(&db) {}

  // A series whose resolution the catalogue changes goes on under a new number.
  struct SeriesKey {
    int64_t group = 0;
    int64_t metric = 0;  // wire
    std::string label;
    int64_t numerator = 0;
    int64_t denominator = 0;
    // clang-tidy 14 takes the comparison with 0 inside for a null pointer.
    auto operator<=>(const SeriesKey&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  Db* db_;
  std::map<GroupKey, int64_t> groups_;
  std::map<SeriesKey, uint32_t> series_;
  int64_t next_group_ = 1;
  uint32_t next_series_ = 1;
};

// What the file calls a scope and a cadence, and back; nullopt for a name that a newer program
// wrote.
std::optional<GroupKey> group_key_of(std::string_view scope, std::string_view uuid,
                                     std::string_view cadence);

}  // namespace gpusight::store
