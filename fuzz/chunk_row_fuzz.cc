// Any bytes as the head of a chunk: it is refused, or what it says lies inside of it and comes back
// the same after writing it anew. The checksum is put right beforehand, so that what lies behind it
// is reached.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "store/chunk_row.h"
#include "store/column_format.h"

namespace gpusight::store {
namespace {

// Columns of the body are made up in their size; larger ones only make inputs slow.
constexpr uint64_t kMaxBody = 1 << 16;

Bytes sealed(std::span<const uint8_t> bytes) {
  Bytes whole(bytes.begin(), bytes.end());
  const uint32_t sum = column_format::checksum(whole);
  for (int k = 0; k < 4; ++k) whole.push_back(static_cast<uint8_t>(sum >> (8 * k)));
  return whole;
}

PackedChunk packed_of(const ChunkHead& head) {
  PackedChunk packed;
  packed.times.assign(head.times().begin(), head.times().end());
  for (const ChunkHead::Column& column : head.columns()) {
    PackedChunk::Column& copy = packed.columns.emplace_back();
    copy.id = column.id;
    if (column.in_body) {
      copy.bytes.assign(column.size, 7);
    } else {
      const auto small = head.small(column);
      copy.bytes.assign(small.begin(), small.end());
    }
  }
  return packed;
}

void check_columns(const ChunkHead& head) {
  uint64_t in_body = 0;
  uint64_t next = 0;
  for (const ChunkHead::Column& column : head.columns()) {
    CHECK(column.id >= next, "ids ascend");
    next = uint64_t{column.id} + 1;
    CHECK(head.find(column.id) == &column, "a column is found by its id");
    if (!column.in_body) continue;
    CHECK(column.offset == in_body, "columns of the body lie one after another");
    in_body += column.size;
  }
  CHECK(head.body_size() == in_body, "the body is its columns");
}

void try_head(std::span<const uint8_t> data) {
  const Bytes bytes = sealed(data);
  const auto head = ChunkHead::parse(bytes);
  if (!head.ok()) return;
  check_columns(*head);
  if (head->body_size() > kMaxBody) return;
  const PackedChunk packed = packed_of(*head);
  ChunkBytes again;
  write_chunk(packed, again);
  const auto read = ChunkHead::parse(again.head);
  CHECK(read.ok(), "what is written is read");
  check_columns(*read);
  CHECK(read->columns().size() == packed.columns.size(), "every column comes back");
  for (size_t i = 0; i < packed.columns.size(); ++i) {
    CHECK(read->columns()[i].id == packed.columns[i].id, "under its id");
    CHECK(read->columns()[i].size == packed.columns[i].bytes.size(), "in its size");
  }
}

}  // namespace
}  // namespace gpusight::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpusight::store::try_head({data, size});
  return 0;
}
