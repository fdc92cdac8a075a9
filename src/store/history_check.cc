#include "store/history_check.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "store/stored_series.h"

namespace gpusight::store {
namespace {

constexpr size_t kMaxFaults = 100;

void note(HistoryCheck& check, std::string fault) {
  if (check.faults.size() < kMaxFaults) check.faults.push_back(std::move(fault));
}

// Ok when all of the chunk can be read; kCorrupt tells what cannot.
Status check_chunk(ChunkLoader& chunks, const ChunkInfo& chunk, HistoryCheck& check) {
  std::vector<int64_t> times_ms;
  ChunkColumn column;
  TRY(chunks.load(chunk.id));
  TRY(chunks.times(times_ms));
  if (times_ms.empty() || times_ms.front() != chunk.first_ms || times_ms.back() != chunk.last_ms ||
      !std::ranges::is_sorted(times_ms)) {
    return {Code::kCorrupt, "its times are not those of its row"};
  }
  for (const ChunkHead::Column& stored : chunks.columns()) {
    TRY(chunks.column(stored.id, times_ms.size(), column));
    ++check.columns;
    check.samples += column.states.empty()
                         ? column.rows()
                         : static_cast<uint64_t>(std::ranges::count(column.states, kStateValue));
  }
  return {};
}

// A chunk that may have samples of a stored series.
struct Piece {
  ChunkInfo chunk;
  const StoredSeries* series = nullptr;
};

// In time order; where the catalogue changed a series, both of its rows may be in one chunk.
Result<std::vector<Piece>> pieces_of(ChunkLoader& chunks, std::span<const StoredSeries> stored,
                                     Window window) {
  std::vector<Piece> pieces;
  for (const StoredSeries& series : stored) {
    for (const ChunkInfo& chunk :
         TRY(chunks.find(series.group, Tier::kRaw, window.start_ms, window.end_ms))) {
      pieces.push_back({.chunk = chunk, .series = &series});
    }
  }
  std::ranges::sort(pieces, {}, [](const Piece& piece) {
    return std::pair(piece.chunk.last_ms, piece.series->id);
  });
  return pieces;
}

// Reads samples piece by piece, none before what was read already.
class SampleReader {
 public:
  SampleReader(ChunkLoader& chunks, Window window) : chunks_(chunks), window_(window) {
    begin_series();
  }

  void begin_series() { after_ms_ = window_.start_ms; }
  std::span<const RecordedSample> samples() const { return samples_; }

  Status read(const Piece& piece) {
    samples_.clear();
    TRY(chunks_.load(piece.chunk.id));
    if (!chunks_.has(piece.series->id)) return {};
    TRY(chunks_.times(times_ms_));
    TRY(chunks_.column(piece.series->id, times_ms_.size(), column_));
    for (size_t row = 0; row < times_ms_.size(); ++row) {
      const CellState state = column_.states.empty() ? kStateValue : column_.states[row];
      const bool wanted = times_ms_[row] > after_ms_ && times_ms_[row] <= window_.end_ms;
      if (!wanted || state == kStateGap || state == kStateHeld) continue;
      RecordedSample sample{.time_ms = times_ms_[row]};
      if (state == kStateValue) {
        sample.number = piece.series->value_of(column_.numbers[row]);
      } else {
        sample.reason = reason_of(state);
      }
      samples_.push_back(sample);
    }
    if (!samples_.empty()) after_ms_ = samples_.back().time_ms;
    return {};
  }

 private:
  ChunkLoader& chunks_;
  const Window window_;
  int64_t after_ms_ = 0;
  std::vector<int64_t> times_ms_;
  ChunkColumn column_;
  std::vector<RecordedSample> samples_;
};

uint64_t file_bytes(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 ? static_cast<uint64_t>(file.st_size) : 0;
}

Status check_pages(Db& db, HistoryCheck& check) {
  Stmt pages = TRY(db.prepare("PRAGMA integrity_check(100)"));
  while (TRY(pages.step())) {
    if (pages.text(0) != "ok") note(check, std::string(pages.text(0)));
  }
  return {};
}

}  // namespace

HistoryStats stats_of_file(const std::string& path) {
  HistoryStats stats;
  stats.path = path;
  stats.bytes = file_bytes(path) + file_bytes(path + "-wal");
  for (const TierRow& tier : kTiers) {
    auto& of_tier = stats.tiers[static_cast<size_t>(tier.tier)];
    of_tier.name = tier.name;
    of_tier.resolution_ms = tier.resolution_ms;
  }
  return stats;
}

Status count_tables(Db& db, HistoryStats& stats) {
  Stmt tiers = TRY(db.prepare(
      "SELECT tier, COUNT(*), MIN(first_ms), MAX(last_ms), SUM(LENGTH(head) + LENGTH(body))"
      " FROM chunk GROUP BY tier"));
  while (TRY(tiers.step())) {
    const int64_t tier = tiers.number(0);
    if (tier < 0 || tier >= int64_t{kTierCount}) continue;
    auto& of_tier = stats.tiers[static_cast<size_t>(tier)];
    of_tier.chunks = static_cast<uint64_t>(tiers.number(1));
    of_tier.first_ms = tiers.number(2);
    of_tier.last_ms = tiers.number(3);
    of_tier.packed_bytes = static_cast<uint64_t>(tiers.number(4));
  }
  stats.series = static_cast<uint64_t>(TRY(db.number("SELECT COUNT(*) FROM series")).value_or(0));
  stats.events = static_cast<uint64_t>(TRY(db.number("SELECT COUNT(*) FROM event")).value_or(0));
  return {};
}

Result<HistoryCheck> check_history(ReadSession& session) {
  HistoryCheck check;
  if (const Status pages = check_pages(session.db(), check); !pages.ok()) {
    if (pages.code() != Code::kCorrupt) return pages;
    note(check, pages.message());
  }
  std::vector<ChunkInfo> chunks;
  Stmt select =
      TRY(session.db().prepare("SELECT id, tier, first_ms, last_ms FROM chunk ORDER BY id"));
  while (true) {
    const Result<bool> row = select.step();
    if (row.status().code() == Code::kCorrupt) {
      note(check, row.status().message());
      break;
    }
    if (!TRY(row)) break;
    ++check.chunks;
    const ChunkInfo chunk{
        .id = select.number(0), .first_ms = select.number(2), .last_ms = select.number(3)};
    const Status read = check_chunk(session.chunks(), chunk, check);
    if (read.code() == Code::kCorrupt) {
      note(check, fmt::format("chunk {} ({} to {}): {}", chunk.id, chunk.first_ms, chunk.last_ms,
                              read.message()));
      continue;
    }
    TRY(read);
  }
  return check;
}

Status visit_samples(ReadSession& session, std::span<const model::Matcher> matchers, Window window,
                     const History::Visit& visit) {
  SampleReader reader(session.chunks(), window);
  uint64_t damaged = 0;
  Status first_damage;
  for (const auto& [labels, stored] : TRY(find_series(session.db(), matchers))) {
    for (const Piece& piece : TRY(pieces_of(session.chunks(), stored, window))) {
      const Status read = reader.read(piece);
      if (read.code() == Code::kCorrupt) {
        if (damaged++ == 0) first_damage = read;
        continue;
      }
      TRY(read);
      if (!reader.samples().empty() && !visit(labels, reader.samples())) return {};
    }
    reader.begin_series();
  }
  if (damaged == 0) return {};
  return {Code::kCorrupt, fmt::format("{} ({} in all)", first_damage.message(), damaged)};
}

}  // namespace gpusight::store
