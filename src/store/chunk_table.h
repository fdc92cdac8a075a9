// The table of chunks: finding, reading, writing and cutting them.
//
// Not thread-safe; everything belongs to the connection it was made from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/chunk_codec.h"
#include "store/chunk_row.h"
#include "store/sqlite_db.h"
#include "store/tiers.h"

namespace gpusight::store {

struct ChunkInfo {
  int64_t id = 0;
  int64_t group = 0;
  Tier tier = Tier::kRaw;
  int64_t level = 0;
  int64_t first_ms = 0;
  int64_t last_ms = 0;
};

// A chunk of this level is damaged and merged with no other.
inline constexpr int64_t kDamagedLevel = 100;

// Reads chunks, one at a time, and of each what is asked for. Large: it owns a decoder.
class ChunkLoader {
 public:
  static Result<ChunkLoader> create(Db& db);

  // Chunks with rows in (start, end], in time order.
  Result<std::vector<ChunkInfo>> find(int64_t group, Tier tier, int64_t start_ms, int64_t end_ms);

  // Goes to a chunk; what follows is about it.
  Status load(int64_t id);
  std::span<const ChunkHead::Column> columns() const { return head_.columns(); }
  bool has(uint32_t column) const { return head_.find(column) != nullptr; }
  Status times(std::vector<int64_t>& times_ms);
  // A column that the chunk does not have is one of gaps. `rows` as times() has them.
  Status column(uint32_t id, size_t rows, ChunkColumn& out);
  // Has to be called before the connection's transaction ends.
  void close() { body_->close(); }

 private:
  ChunkLoader(Db& db, Stmt find, Stmt load);
  Result<std::span<const uint8_t>> bytes_of(const ChunkHead::Column& column, Bytes& scratch);

  Stmt find_;
  Stmt load_;
  std::unique_ptr<BlobReader> body_;
  std::unique_ptr<ChunkDecoder> decoder_;
  int64_t id_ = 0;
  Bytes head_bytes_;
  ChunkHead head_;
  Bytes bytes_;
  Bytes other_bytes_;
};

// `info.id` is ignored.
Status insert_chunk(Db& db, const ChunkInfo& info, const ChunkBytes& bytes);
Status erase_chunk(Db& db, int64_t id);
Status set_chunk_level(Db& db, int64_t id, int64_t level);

// Up to when a group is rolled up in a tier; the beginning of time where it never was.
Result<int64_t> rolled_until(Db& db, int64_t group, Tier tier);
Status set_rolled_until(Db& db, int64_t group, Tier tier, int64_t until_ms);

// Forgets every row at or after `from_ms`, of all tiers and groups. A chunk that reaches over it is
// packed anew without them; one that cannot be read is forgotten whole. Rolled-up rows whose span
// reaches over it are forgotten too: they are rolled up again.
Status cut_chunks(Db& db, ChunkLoader& loader, ChunkEncoder& encoder, int64_t from_ms);

}  // namespace gpusight::store
