// Any bytes as a packed block of the head: they are refused, or what they say comes back the same
// after packing it anew.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "store/head_codec.h"

namespace gpusight::store {
namespace {

struct Unpacked {
  std::vector<int64_t> times_ms;
  std::vector<uint32_t> ids;
  std::vector<std::vector<Cell>> columns;

  bool operator==(const Unpacked&) const = default;
};

// Columns beyond these only repeat what they do and make inputs slow.
constexpr size_t kMostColumns = 64;

Result<Unpacked> unpack(std::span<const uint8_t> bytes) {
  const BlockView view = TRY(BlockView::open(bytes));
  Unpacked all;
  TRY(view.read_times(all.times_ms));
  CHECK(all.times_ms.size() == view.rows(), "as many times as rows");
  for (const BlockView::Column& column : view.columns()) {
    CHECK(view.find(column.id) == &column, "a column is found by its id");
    if (all.ids.size() == kMostColumns) break;
    all.ids.push_back(column.id);
    TRY(view.read_cells(column, all.columns.emplace_back()));
    CHECK(all.columns.back().size() == view.rows(), "as many cells as rows");
  }
  return all;
}

Bytes pack(const Unpacked& all) {
  TimeColumn times;
  for (const int64_t time_ms : all.times_ms) times.append(time_ms);
  std::vector<CellColumn> columns(all.columns.size());
  std::vector<PackedColumn> packed;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const Cell& cell : all.columns[i]) columns[i].append(cell);
    packed.push_back({.id = all.ids[i], .cells = &columns[i]});
  }
  return pack_block(times, packed);
}

}  // namespace
}  // namespace gpusight::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpusight::store;
  const auto first = unpack(std::span(data, size));
  if (!first.ok()) return 0;
  const auto again = unpack(pack(*first));
  CHECK(again.ok() && *again == *first, "what was read packs and reads again as the same");
  return 0;
}
