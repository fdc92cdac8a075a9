#include "store/retention.h"

#include <algorithm>

#include "store/event_table.h"

namespace gpusight::store {
namespace {

// A step stays short: what it deletes goes through the -wal.
constexpr int64_t kChunksAStep = 64;
// Free pages are used again; only many are worth giving back.
constexpr int64_t kManyFreePages = 2048;
constexpr int64_t kPagesAStep = 1024;

int64_t milliseconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Result<bool> erase_old(Db& db, Tier tier, int64_t before_ms) {
  Stmt erase = TRY(
      db.prepare("DELETE FROM chunk WHERE id IN"
                 " (SELECT id FROM chunk WHERE tier=?1 AND last_ms<?2 ORDER BY last_ms LIMIT ?3)"));
  TRY(erase.bind(1, static_cast<int64_t>(tier)).bind(2, before_ms).bind(3, kChunksAStep).run());
  return db.changes() > 0;
}

// What is not merged is not rolled up either, or is so small that it does not matter.
Result<bool> erase_oldest(Db& db) {
  Stmt erase = TRY(
      db.prepare("DELETE FROM chunk WHERE id IN"
                 " (SELECT id FROM chunk WHERE tier=?1 AND level>=2 ORDER BY last_ms LIMIT ?2)"));
  for (const TierRow& tier : kTiers) {
    TRY(erase.bind(1, static_cast<int64_t>(tier.tier)).bind(2, kChunksAStep / 4).run());
    if (db.changes() > 0) return true;
  }
  return false;
}

Result<bool> give_back_pages(Db& db) {
  const int64_t free = TRY(db.number("PRAGMA freelist_count")).value_or(0);
  const int64_t all = TRY(db.number("PRAGMA page_count")).value_or(0);
  if (free < kManyFreePages || free < all / 4) return false;
  TRY(db.run(("PRAGMA incremental_vacuum(" + std::to_string(kPagesAStep) + ")").c_str()));
  return true;
}

}  // namespace

Result<uint64_t> used_bytes(Db& db) {
  const int64_t free = TRY(db.number("PRAGMA freelist_count")).value_or(0);
  const int64_t all = TRY(db.number("PRAGMA page_count")).value_or(0);
  const int64_t size = TRY(db.number("PRAGMA page_size")).value_or(0);
  return static_cast<uint64_t>(std::max<int64_t>(all - free, 0) * size);
}

Result<bool> trim_history(Db& db, const Retention& retention, std::optional<int64_t> now_ms) {
  Transaction transaction = TRY(Transaction::begin(db, Transaction::Kind::kWrite));
  bool any = false;
  Duration keep{};
  for (const TierRow& tier : kTiers) {
    if (!now_ms) break;
    keep = std::max(keep, retention.keep[static_cast<size_t>(tier.tier)]);
    any = TRY(erase_old(db, tier.tier, *now_ms - milliseconds_of(keep))) || any;
  }
  if (!any && TRY(used_bytes(db)) > retention.max_bytes) any = TRY(erase_oldest(db));
  if (!any && now_ms) {
    const auto now = WallTime(std::chrono::milliseconds(*now_ms));
    TRY(trim_events(db, now - retention.keep_events, retention.max_events));
  }
  TRY(transaction.commit());
  // Outside of a transaction each step of it is one.
  if (!any) any = TRY(give_back_pages(db));
  return any;
}

}  // namespace gpusight::store
