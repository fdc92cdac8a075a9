// Any bytes as a packed column of history or as times: they are refused, or what they say comes
// back the same after packing it anew. The first byte says what the rest is; the checksum is put
// right beforehand, so that what lies behind it is reached.
//
//   0 times | 1 a column | 2 a column, and one that it may lean on: size of the first, then both
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "store/chunk_codec.h"
#include "store/column_format.h"

namespace gpusight::store {
namespace {

// A column claims its rows in three bytes; more than these only make inputs slow.
constexpr size_t kRows[] = {1, 2, 3, 4, 5, 16, 60, 100, 1000};

Bytes sealed(std::span<const uint8_t> bytes) {
  Bytes whole(bytes.begin(), bytes.end());
  const uint32_t sum = column_format::checksum(whole);
  for (int k = 0; k < 4; ++k) whole.push_back(static_cast<uint8_t>(sum >> (8 * k)));
  return whole;
}

void try_times(std::span<const uint8_t> data) {
  ChunkDecoder decoder;
  std::vector<int64_t> times_ms;
  if (!decoder.unpack_times(sealed(data), times_ms).ok()) return;
  CHECK(!times_ms.empty() && times_ms.size() <= kMaxChunkRows, "as many times as a chunk may have");
  Bytes again;
  ChunkEncoder().pack_times(times_ms, again);
  std::vector<int64_t> read;
  CHECK(decoder.unpack_times(again, read).ok() && read == times_ms, "times come back");
}

void try_column(std::span<const uint8_t> data, std::span<const uint8_t> other) {
  const Bytes bytes = sealed(data);
  const Bytes other_bytes = sealed(other);
  int fetched = 0;
  const auto fetch = [&](uint32_t) -> Result<std::span<const uint8_t>> {
    ++fetched;
    return std::span<const uint8_t>(other_bytes);
  };
  ChunkDecoder decoder;
  ChunkColumn column;
  for (const size_t rows : kRows) {
    fetched = 0;
    if (!decoder.unpack_column(bytes, rows, fetch, column).ok()) continue;
    const auto leaned = leans_on(bytes);
    CHECK(leaned.ok() && fetched == (leaned->has_value() ? 1 : 0), "fetches what it leans on");
    CHECK(column.rows() == rows, "as many numbers as rows");
    CHECK(column.states.empty() || column.states.size() == rows, "as many states as rows");
    Bytes again;
    ChunkEncoder().pack_column(column, again);
    ChunkColumn read;
    CHECK(decoder.unpack_column(again, rows, fetch, read).ok() && read == column,
          "a column comes back");
  }
}

}  // namespace
}  // namespace gpusight::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpusight::store;
  if (size < 2) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  if (data[0] % 3 == 0) {
    try_times(rest);
  } else if (data[0] % 3 == 1) {
    try_column(rest, {});
  } else {
    const size_t first = std::min<size_t>(rest[0], rest.size() - 1);
    try_column(rest.subspan(1, first), rest.subspan(1 + first));
  }
  return 0;
}
