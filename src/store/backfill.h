// Samples from elsewhere, put into a history that no daemon is writing: what an import does.
//
// The rule: of each series, an hour ((k·h, (k+1)·h] since 1970) of which anything is recorded, in
// whatever tier, stays as it is; what is offered for it is left out and counted. So nothing that
// was recorded ever changes, and an import that is begun anew goes on where it was.
//
// Samples are gathered and written in transactions of at most `batch` samples, each with whole
// hours of its series, together with the rolled-up rows of what the daemon has rolled up already;
// the rest is rolled up by the daemon, and retention is its business too.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/metric.h"
#include "store/cell_writer.h"
#include "store/roller.h"
#include "store/series_directory.h"
#include "store/state_lock.h"
#include "store/stored_series.h"

namespace gpusight::store {

class Backfill {
 public:
  struct Options {
    const StateLock* lock = nullptr;  // held for as long as this lives
    std::string file = "history.db";  // made where it is not there
    size_t batch = size_t{1} << 20;   // samples, of 32 bytes each
    size_t max_series = 100'000;
  };
  static Result<std::unique_ptr<Backfill>> open(const Options& options);

  // What follows is of this series. kInvalidArgument when it was begun before: the samples of a
  // series come together. kExhausted: too many series.
  Status begin(const catalog::MetricRow& metric, std::string_view uuid, std::string_view label);
  // Times ascend within a series (kInvalidArgument); a number is what the catalogue can hold of it.
  // nullopt: absent, not known why.
  Status add(int64_t time_ms, std::optional<double> number);
  // Writes what is not written yet.
  Status finish();

  uint64_t written() const { return written_; }  // on disk for good
  uint64_t left_out() const { return left_out_; }

 private:
  struct Series {
    GroupKey group;
    const catalog::MetricRow* metric = nullptr;
    std::string label;
    std::vector<NewCell> cells;  // columns are not numbered yet
  };
  // A recorded row of a rolled-up tier, as far as a counter's increase follows from it.
  struct Standing {
    int64_t time_ms = 0;
    int64_t first = 0;
    int64_t last = 0;
    int64_t increase = 0;
  };

  explicit Backfill(Options options) : options_(std::move(options)) {}

  Status prepare();
  Status note_recorded(const StoredSeries& series);
  Status flush();
  Status write_series(Series& series, std::map<int64_t, std::vector<NewCell>>& raw);
  Status roll(int64_t group, uint32_t id, const Series& series, const TierRow& tier);
  Status link_increases(int64_t group, uint32_t id, Tier tier, std::vector<RolledRow>& rows,
                        std::vector<NewCell>& cells);
  Result<std::vector<Standing>> standing(int64_t group, uint32_t id, Tier tier);
  Compactor compactor() { return {.db = *db_, .loader = *loader_, .encoder = encoder_}; }

  const Options options_;
  std::unique_ptr<Db> db_;
  std::optional<SeriesDirectory> directory_;
  std::optional<ChunkLoader> loader_;
  ChunkEncoder encoder_;

  SeriesByLabels recorded_;        // when it was opened
  std::set<model::Labels> begun_;  // every series so far
  size_t new_series_ = 0;          // of them, those not recorded before
  std::vector<Series> gathered_;   // the last one is being added to
  size_t gathered_samples_ = 0;
  std::set<int64_t> recorded_hours_;  // ends, of the series being added to
  std::optional<int64_t> newest_ms_;  // of the series being added to
  std::optional<int64_t> written_until_ms_;
  uint64_t written_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace gpusight::store
