#include "store/chunk_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gpusight::store {
namespace {

constexpr const char* kInfoColumns = "id, group_id, tier, level, first_ms, last_ms";

ChunkInfo info_of(const Stmt& row) {
  const int64_t tier = row.number(2);
  return {.id = row.number(0),
          .group = row.number(1),
          .tier = tier >= 0 && tier < int64_t{kTierCount} ? static_cast<Tier>(tier) : Tier::kRaw,
          .level = row.number(3),
          .first_ms = row.number(4),
          .last_ms = row.number(5)};
}

// Keeps the rows of the chunk that the loader is at which lie before from_ms.
Status cut_chunk(Db& db, ChunkLoader& loader, ChunkEncoder& encoder, const ChunkInfo& chunk,
                 int64_t from_ms) {
  std::vector<int64_t> times_ms;
  TRY(loader.load(chunk.id));
  TRY(loader.times(times_ms));
  const size_t all = times_ms.size();
  times_ms.erase(std::ranges::lower_bound(times_ms, from_ms), times_ms.end());
  if (times_ms.empty()) return erase_chunk(db, chunk.id);
  std::vector<ChunkColumn> columns(loader.columns().size());
  std::vector<ColumnToPack> to_pack;
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint32_t id = loader.columns()[i].id;
    TRY(loader.column(id, all, columns[i]));
    columns[i].numbers.resize(times_ms.size());
    if (!columns[i].states.empty()) columns[i].states.resize(times_ms.size());
    to_pack.push_back({.id = id, .column = &columns[i]});
  }
  loader.close();
  PackedChunk packed;
  encoder.pack(times_ms, to_pack, packed);
  ChunkBytes bytes;
  write_chunk(packed, bytes);
  TRY(erase_chunk(db, chunk.id));
  ChunkInfo cut = chunk;
  cut.first_ms = times_ms.front();
  cut.last_ms = times_ms.back();
  return insert_chunk(db, cut, bytes);
}

}  // namespace

ChunkLoader::ChunkLoader(Db& db, Stmt find, Stmt load)
    : find_(std::move(find)),
      load_(std::move(load)),
      body_(std::make_unique<BlobReader>(db, "chunk", "body")),
      decoder_(std::make_unique<ChunkDecoder>()) {}

Result<ChunkLoader> ChunkLoader::create(Db& db) {
  const std::string select = std::string("SELECT ") + kInfoColumns + " FROM chunk WHERE ";
  Stmt find = TRY(db.prepare(select + "group_id=?1 AND tier=?2 AND last_ms>?3 AND first_ms<=?4"
                                      " ORDER BY last_ms"));
  Stmt load = TRY(db.prepare("SELECT head FROM chunk WHERE id=?1"));
  return ChunkLoader(db, std::move(find), std::move(load));
}

Result<std::vector<ChunkInfo>> ChunkLoader::find(int64_t group, Tier tier, int64_t start_ms,
                                                 int64_t end_ms) {
  find_.bind(1, group).bind(2, static_cast<int64_t>(tier)).bind(3, start_ms).bind(4, end_ms);
  std::vector<ChunkInfo> found;
  while (TRY(find_.step())) found.push_back(info_of(find_));
  return found;
}

Status ChunkLoader::load(int64_t id) {
  load_.bind(1, id);
  if (!TRY(load_.step())) {
    return {Code::kCorrupt, "a chunk of history that should be there is not"};
  }
  const auto head = load_.bytes(0);
  head_bytes_.assign(head.begin(), head.end());
  load_.reset();
  id_ = id;
  head_ = TRY(ChunkHead::parse(head_bytes_, std::move(head_)));
  return {};
}

Status ChunkLoader::times(std::vector<int64_t>& times_ms) {
  return decoder_->unpack_times(head_.times(), times_ms);
}

Result<std::span<const uint8_t>> ChunkLoader::bytes_of(const ChunkHead::Column& column,
                                                       Bytes& scratch) {
  if (!column.in_body) return head_.small(column);
  TRY(body_->read(id_, column.offset, column.size, scratch));
  return std::span<const uint8_t>(scratch);
}

Status ChunkLoader::column(uint32_t id, size_t rows, ChunkColumn& out) {
  const ChunkHead::Column* column = head_.find(id);
  if (column == nullptr) {
    out.form = ChunkColumn::Form::kQuanta;
    out.numbers.assign(rows, 0);
    out.states.assign(rows, kStateGap);
    return {};
  }
  const auto fetch = [this](uint32_t other_id) -> Result<std::span<const uint8_t>> {
    const ChunkHead::Column* other = head_.find(other_id);
    if (other == nullptr) {
      return Status(Code::kCorrupt, "a chunk of history is damaged: a column leans on none");
    }
    return bytes_of(*other, other_bytes_);
  };
  return decoder_->unpack_column(TRY(bytes_of(*column, bytes_)), rows, fetch, out);
}

Status insert_chunk(Db& db, const ChunkInfo& info, const ChunkBytes& bytes) {
  Stmt insert =
      TRY(db.prepare("INSERT INTO chunk(group_id, tier, level, first_ms, last_ms, head, body)"
                     " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  return insert.bind(1, info.group)
      .bind(2, static_cast<int64_t>(info.tier))
      .bind(3, info.level)
      .bind(4, info.first_ms)
      .bind(5, info.last_ms)
      .bind(6, std::span<const uint8_t>(bytes.head))
      .bind(7, std::span<const uint8_t>(bytes.body))
      .run();
}

Status erase_chunk(Db& db, int64_t id) {
  return TRY(db.prepare("DELETE FROM chunk WHERE id=?1")).bind(1, id).run();
}

Status set_chunk_level(Db& db, int64_t id, int64_t level) {
  return TRY(db.prepare("UPDATE chunk SET level=?2 WHERE id=?1")).bind(1, id).bind(2, level).run();
}

Result<int64_t> rolled_until(Db& db, int64_t group, Tier tier) {
  Stmt select = TRY(db.prepare("SELECT until_ms FROM rolled WHERE group_id=?1 AND tier=?2"));
  const bool there = TRY(select.bind(1, group).bind(2, static_cast<int64_t>(tier)).step());
  return there ? select.number(0) : std::numeric_limits<int64_t>::min();
}

Status set_rolled_until(Db& db, int64_t group, Tier tier, int64_t until_ms) {
  return TRY(db.prepare("INSERT OR REPLACE INTO rolled(group_id, tier, until_ms)"
                        " VALUES(?1, ?2, ?3)"))
      .bind(1, group)
      .bind(2, static_cast<int64_t>(tier))
      .bind(3, until_ms)
      .run();
}

Status cut_chunks(Db& db, ChunkLoader& loader, ChunkEncoder& encoder, int64_t from_ms) {
  Stmt find = TRY(db.prepare(std::string("SELECT ") + kInfoColumns +
                             " FROM chunk WHERE tier=?1 AND last_ms>=?2"));
  for (const TierRow& tier : kTiers) {
    std::vector<ChunkInfo> reaching;
    find.bind(1, static_cast<int64_t>(tier.tier)).bind(2, from_ms);
    while (TRY(find.step())) reaching.push_back(info_of(find));
    for (const ChunkInfo& chunk : reaching) {
      const Status cut = chunk.first_ms >= from_ms ? erase_chunk(db, chunk.id)
                                                   : cut_chunk(db, loader, encoder, chunk, from_ms);
      loader.close();
      if (cut.code() == Code::kCorrupt) {
        TRY(erase_chunk(db, chunk.id));
      } else {
        TRY(cut);
      }
    }
    if (tier.resolution_ms == 0) continue;
    TRY(TRY(db.prepare("UPDATE rolled SET until_ms=MIN(until_ms, ?2) WHERE tier=?1"))
            .bind(1, static_cast<int64_t>(tier.tier))
            .bind(2, window_end(from_ms, tier.resolution_ms) - tier.resolution_ms)
            .run());
  }
  return {};
}

}  // namespace gpusight::store
