// A chunk as a row of the database: its head, which is read whole, and its body, of which a query
// reads the parts it needs. FORMAT.md gives the bytes.
//
// The head holds the times, a directory of columns, and the columns that are small; large columns
// lie in the body one after another. A CRC-32 covers the head; columns bring checksums of their
// own.
//
// Plain functions and values; nothing keeps a reference to the caller's memory but ChunkHead, which
// looks into the bytes it was parsed from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/bytes.h"
#include "store/chunk_codec.h"

namespace gpusight::store {

struct ChunkBytes {
  Bytes head;
  Bytes body;
};
void write_chunk(const PackedChunk& packed, ChunkBytes& out);

class ChunkHead {
 public:
  struct Column {
    uint32_t id = 0;
    bool in_body = false;
    uint32_t size = 0;
    uint64_t offset = 0;  // in the body, or in the head
  };

  // `bytes` must outlive what is made of it. kCorrupt when they are not what was written. The
  // memory of an earlier one goes on in this one.
  static Result<ChunkHead> parse(std::span<const uint8_t> bytes, ChunkHead earlier);
  static Result<ChunkHead> parse(std::span<const uint8_t> bytes) { return parse(bytes, {}); }

  std::span<const uint8_t> times() const { return times_; }
  std::span<const Column> columns() const { return columns_; }  // ids ascend
  const Column* find(uint32_t id) const;                        // nullptr if there is none
  // Of a column that is not in the body.
  std::span<const uint8_t> small(const Column& column) const {
    return bytes_.subspan(column.offset, column.size);
  }
  uint64_t body_size() const { return body_size_; }

 private:
  std::span<const uint8_t> bytes_;
  std::span<const uint8_t> times_;
  std::vector<Column> columns_;
  uint64_t body_size_ = 0;
};

}  // namespace gpusight::store
