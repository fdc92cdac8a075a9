#include "store/chunk_row.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gpusight::store {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kCrcSize = 4;
// A column of at most so many bytes lies in the head; larger ones are worth a read of their own.
constexpr size_t kSmall = 48;
constexpr uint64_t kMaxId = std::numeric_limits<uint32_t>::max();

uint32_t crc_of(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

void write_u32(Bytes& out, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(number >> shift));
}

uint32_t u32_of(std::span<const uint8_t> four) {
  uint32_t number = 0;
  for (size_t i = 0; i < kCrcSize; ++i) number |= static_cast<uint32_t>(four[i]) << (8 * i);
  return number;
}

void append(Bytes& out, std::span<const uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Status damaged(std::string_view what) {
  return {Code::kCorrupt, "a chunk of history is damaged: " + std::string(what)};
}

}  // namespace

void write_chunk(const PackedChunk& packed, ChunkBytes& out) {
  out.head.assign(1, kVersion);
  out.body.clear();
  write_varint(out.head, packed.times.size());
  append(out.head, packed.times);
  write_varint(out.head, packed.columns.size());
  uint32_t next = 0;
  for (const PackedChunk::Column& column : packed.columns) {
    const bool in_body = column.bytes.size() > kSmall;
    write_varint(out.head, column.id - next);
    write_varint(out.head, column.bytes.size() << 1 | (in_body ? 1 : 0));
    next = column.id + 1;
  }
  for (const PackedChunk::Column& column : packed.columns) {
    append(column.bytes.size() > kSmall ? out.body : out.head, column.bytes);
  }
  write_u32(out.head, crc_of(out.head));
}

Result<ChunkHead> ChunkHead::parse(std::span<const uint8_t> bytes, ChunkHead earlier) {
  if (bytes.size() < 1 + kCrcSize) return damaged("its head is too short");
  const auto covered = bytes.first(bytes.size() - kCrcSize);
  if (crc_of(covered) != u32_of(bytes.last(kCrcSize))) return damaged("its head's checksum");
  if (covered[0] > kVersion) {
    return Status(Code::kUnsupported, "a chunk of history was written by a newer gpusight");
  }
  ByteReader reader(covered.subspan(1));
  ChunkHead head;
  head.bytes_ = covered;
  uint64_t size = 0;
  if (!reader.read(size) || size > reader.left()) return damaged("its times");
  head.times_ = reader.take(size);
  uint64_t count = 0;
  // A column takes two bytes of the directory at least.
  if (!reader.read(count) || count > reader.left() / 2) return damaged("its directory");
  head.columns_ = std::move(earlier.columns_);
  head.columns_.clear();
  head.columns_.reserve(count);
  uint64_t next = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t step = 0;
    if (!reader.read(step) || !reader.read(size)) return damaged("its directory");
    // After the highest id of all, `next` is one more than an id can be.
    if (next > kMaxId || step > kMaxId - next) return damaged("its directory");
    Column column{.id = static_cast<uint32_t>(next + step), .in_body = (size & 1) != 0};
    if (size >> 1 > std::numeric_limits<uint32_t>::max()) return damaged("its directory");
    column.size = static_cast<uint32_t>(size >> 1);
    if (column.in_body) {
      column.offset = head.body_size_;
      head.body_size_ += column.size;
    }
    next = uint64_t{column.id} + 1;
    head.columns_.push_back(column);
  }
  for (Column& column : head.columns_) {
    if (column.in_body) continue;
    if (column.size > reader.left()) return damaged("its small columns");
    column.offset = covered.size() - reader.left();
    reader.take(column.size);
  }
  if (!reader.at_end()) return damaged("bytes that belong to nothing");
  return head;
}

const ChunkHead::Column* ChunkHead::find(uint32_t id) const {
  const auto at = std::ranges::lower_bound(columns_, id, {}, &Column::id);
  return at != columns_.end() && at->id == id ? &*at : nullptr;
}

}  // namespace gpusight::store
