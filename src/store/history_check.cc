#include "store/history_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

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

Status check_pages(Db& db, HistoryCheck& check) {
  Stmt pages = TRY(db.prepare("PRAGMA integrity_check(100)"));
  while (TRY(pages.step())) {
    if (pages.text(0) != "ok") note(check, std::string(pages.text(0)));
  }
  return {};
}

}  // namespace

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
  ChunkLoader& chunks = session.chunks();
  std::vector<int64_t> times_ms;
  std::vector<RecordedSample> samples;
  ChunkColumn column;
  for (const auto& [labels, stored] : TRY(find_series(session, matchers))) {
    for (const StoredSeries& series : stored) {
      for (const ChunkInfo& chunk :
           TRY(chunks.find(series.group, Tier::kRaw, window.start_ms, window.end_ms))) {
        TRY(chunks.load(chunk.id));
        if (!chunks.has(series.id)) continue;
        TRY(chunks.times(times_ms));
        TRY(chunks.column(series.id, times_ms.size(), column));
        samples.clear();
        for (size_t row = 0; row < times_ms.size(); ++row) {
          const CellState state = column.states.empty() ? kStateValue : column.states[row];
          const bool wanted = times_ms[row] > window.start_ms && times_ms[row] <= window.end_ms;
          if (!wanted || state == kStateGap || state == kStateHeld) continue;
          RecordedSample sample{.time_ms = times_ms[row]};
          if (state == kStateValue) {
            sample.number = series.value_of(column.numbers[row]);
          } else {
            sample.reason = reason_of(state);
          }
          samples.push_back(sample);
        }
        if (!samples.empty() && !visit(labels, samples)) return {};
      }
    }
  }
  return {};
}

}  // namespace gpusight::store
