// One series of recorded history, from its chunks and the head, as a cursor.
//
// Internal to the reader; belongs to the query's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "model/queryable.h"
#include "store/head_read.h"
#include "store/read_session.h"
#include "store/roller.h"
#include "store/stored_series.h"
#include "store/tier_choice.h"
#include "store/tiers.h"

namespace gpusight::store {

// What a cursor unpacks into. The next series goes on with the memory of the one before.
struct CursorScratch {
  std::vector<int64_t> chunk_times_ms;
  ChunkColumn column;
  std::vector<CellState> states;  // of the first part wanted
  std::vector<int64_t> times_ms;
  std::vector<double> values;
  std::vector<model::Rollup> rollups;
};

// What all series of one answer share. It lives as long as the last of them.
class Reading {
 public:
  Reading(ReadPool::Lease session, Window window, TierChoice choice, std::stop_token stop,
          std::shared_ptr<std::atomic<uint64_t>> damaged)
      : session_(std::move(session)),
        window_(window),
        choice_(choice),
        stop_(std::move(stop)),
        damaged_(std::move(damaged)) {}

  const Window& window() const { return window_; }
  const TierRow& tier() const { return tier_row(choice_.tier); }
  // The parts of a rolled-up row that are wanted; the first says which rows there are.
  std::span<const RollupPart> parts() const { return choice_.parts; }
  ChunkLoader& chunks() { return session_->chunks(); }
  Status check_stop();
  // What a group's chunks are read for: `tier`, and inside of the window maybe a coarser one.
  struct Span {
    Tier tier = Tier::kRaw;
    Window window;
  };
  Result<std::vector<Span>> spans(int64_t group);
  // Chunks of a group in the span, found once for all series of the group.
  Result<std::span<const ChunkInfo>> find(int64_t group, const Span& span);
  // As store::rolled_until(), asked once.
  Result<int64_t> rolled_until(int64_t group, Tier tier);
  std::unique_ptr<CursorScratch> take_scratch();
  void give_back(std::unique_ptr<CursorScratch> scratch) { scratch_ = std::move(scratch); }
  // Ok when the failure is only that a chunk is damaged; it is counted.
  Status excuse(const Status& failed);

 private:
  ReadPool::Lease session_;
  Window window_;
  TierChoice choice_;
  std::stop_token stop_;
  std::shared_ptr<std::atomic<uint64_t>> damaged_;
  std::map<std::tuple<int64_t, Tier, int64_t>, std::vector<ChunkInfo>> found_;  // by start, too
  std::map<std::pair<int64_t, Tier>, int64_t> rolled_until_;
  std::unique_ptr<CursorScratch> scratch_;  // of the last cursor that is done
};

class HistoryCursor final : public model::SeriesCursor {
 public:
  // `head` may be nullptr: what of the series is not on disk yet.
  static Result<std::unique_ptr<HistoryCursor>> open(std::shared_ptr<Reading> reading,
                                                     model::Labels labels,
                                                     std::vector<StoredSeries> stored,
                                                     std::unique_ptr<model::SeriesCursor> head);
  ~HistoryCursor() override { reading_->give_back(std::move(scratch_)); }

  const model::Labels& labels() const override { return labels_; }
  Result<model::Stretch> next() override;
  // Whether there is anything to read; what it had to read for that is what next() gives first.
  Result<bool> has_samples();

 private:
  struct Piece {
    ChunkInfo chunk;
    const StoredSeries* series = nullptr;
    Window window;  // rows outside are not wanted
  };

  HistoryCursor(std::shared_ptr<Reading> reading, model::Labels labels,
                std::vector<StoredSeries> stored, std::unique_ptr<model::SeriesCursor> head)
      : reading_(std::move(reading)),
        labels_(std::move(labels)),
        stored_(std::move(stored)),
        head_(std::move(head)),
        scratch_(reading_->take_scratch()) {}

  Status add_pieces(const StoredSeries& series, const Reading::Span& span,
                    std::vector<Piece>& pieces) const;
  void sort(std::vector<Piece>& pieces) const;
  Status advance();
  Status read_raw(const Piece& piece);
  Status read_rolled(const Piece& piece);
  // That scratch_->column, of `last`, ends with; what is rolled up on reading goes on from there.
  void remember_last(const StoredSeries& series, size_t first, size_t end);
  // What scratch_->column has of a part, into the rows that are there.
  void fill_part(const StoredSeries& series, RollupPart part, size_t first, size_t end);
  // Which rows of the chunk that times_ms_ has are wanted and not before what was given.
  std::pair<size_t, size_t> wanted_rows(const Window& window) const;
  Status roll_tail();
  Status roll_chunk(const Piece& piece, int64_t start_ms, Roller& roller, int64_t& newest_ms);
  Status roll_head(Roller& roller, int64_t& newest_ms);
  void add_rolled(const RolledRow& row, int64_t time_ms);
  bool is_rolled() const { return reading_->tier().resolution_ms != 0; }

  std::shared_ptr<Reading> reading_;
  model::Labels labels_;
  std::vector<StoredSeries> stored_;
  std::unique_ptr<model::SeriesCursor> head_;

  std::vector<Piece> pieces_;
  size_t next_piece_ = 0;
  bool tail_done_ = false;
  bool is_ahead_ = false;  // stretch_ was read and not given yet
  model::Stretch stretch_;
  std::optional<int64_t> given_ms_;     // the newest time given
  std::optional<int64_t> last_number_;  // of the last rolled-up row, in today's quanta

  std::unique_ptr<CursorScratch> scratch_;  // what stretch_ looks into, among others
};

}  // namespace gpusight::store
