#include "store/series_directory.h"

#include <algorithm>
#include <limits>

#include "store/chunk_codec.h"

namespace gpusight::store {
namespace {

// Numbers of series are multiplied to number the parts of rolled-up ones.
constexpr int64_t kMaxSeriesNumber = std::numeric_limits<uint32_t>::max() / 8 - 1;
static_assert(kRollupParts <= 8);

}  // namespace

std::optional<GroupKey> group_key_of(std::string_view scope, std::string_view uuid,
                                     std::string_view cadence) {
  GroupKey key{.uuid = std::string(uuid)};
  bool known = false;
  for (const auto s : {catalog::Scope::kDevice, catalog::Scope::kHost, catalog::Scope::kSelf}) {
    if (catalog::scope_name(s) != scope) continue;
    key.scope = s;
    known = true;
  }
  if (!known) return std::nullopt;
  for (const auto c : {catalog::Cadence::kFast, catalog::Cadence::kSlow}) {
    if (catalog::cadence_name(c) != cadence) continue;
    key.cadence = c;
    return key;
  }
  return std::nullopt;
}

Result<SeriesDirectory> SeriesDirectory::load(Db& db) {
  SeriesDirectory directory(db);
  Stmt groups = TRY(db.prepare("SELECT id, scope, uuid, cadence FROM series_group"));
  while (TRY(groups.step())) {
    directory.next_group_ = std::max(directory.next_group_, groups.number(0) + 1);
    const auto key = group_key_of(groups.text(1), groups.text(2), groups.text(3));
    if (key) directory.groups_.emplace(*key, groups.number(0));
  }
  Stmt series =
      TRY(db.prepare("SELECT id, group_id, metric, label, numerator, denominator FROM series"));
  while (TRY(series.step())) {
    const int64_t id = series.number(0);
    if (id <= 0 || id >= kMaxSeriesNumber) {
      return Status(Code::kCorrupt, db.path() + ": a series has an impossible number");
    }
    directory.next_series_ = std::max(directory.next_series_, static_cast<uint32_t>(id) + 1);
    directory.series_.emplace(SeriesKey{.group = series.number(1),
                                        .metric = series.number(2),
                                        .label = std::string(series.text(3)),
                                        .numerator = series.number(4),
                                        .denominator = series.number(5)},
                              static_cast<uint32_t>(id));
  }
  return directory;
}

Result<int64_t> SeriesDirectory::group(const GroupKey& key) {
  const auto at = groups_.find(key);
  if (at != groups_.end()) return at->second;
  Stmt insert = TRY(
      db_->prepare("INSERT INTO series_group(id, scope, uuid, cadence) VALUES(?1, ?2, ?3, ?4)"));
  TRY(insert.bind(1, next_group_)
          .bind(2, catalog::scope_name(key.scope))
          .bind(3, std::string_view(key.uuid))
          .bind(4, catalog::cadence_name(key.cadence))
          .run());
  groups_.emplace(key, next_group_);
  return next_group_++;
}

Result<uint32_t> SeriesDirectory::series(int64_t group, const catalog::MetricRow& metric,
                                         std::string_view label) {
  SeriesKey key{.group = group,
                .metric = metric.wire,
                .label = std::string(label),
                .numerator = metric.resolution.numerator,
                .denominator = metric.resolution.denominator};
  const auto at = series_.find(key);
  if (at != series_.end()) return at->second;
  if (next_series_ >= kMaxSeriesNumber) {
    return Status(Code::kExhausted, db_->path() + ": no number is left for a new series");
  }
  Stmt insert =
      TRY(db_->prepare("INSERT INTO series(id, group_id, metric, label, numerator, denominator)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
  TRY(insert.bind(1, int64_t{next_series_})
          .bind(2, group)
          .bind(3, key.metric)
          .bind(4, label)
          .bind(5, key.numerator)
          .bind(6, key.denominator)
          .run());
  series_.emplace(std::move(key), next_series_);
  return next_series_++;
}

}  // namespace gpusight::store
