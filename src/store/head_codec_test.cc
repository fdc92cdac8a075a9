#include "store/head_codec.h"

#include <gtest/gtest.h>

#include <random>

namespace gpusight::store {
namespace {

constexpr Cell kAbsent{.kind = CellKind::kAbsent};
constexpr Cell kGap{.kind = CellKind::kGap};
constexpr Cell kHeld{.kind = CellKind::kHeld};
Cell value(int64_t quantum) { return {.kind = CellKind::kValue, .quantum = quantum}; }

TimeColumn times_of(const std::vector<int64_t>& times_ms) {
  TimeColumn column;
  for (const int64_t time_ms : times_ms) column.append(time_ms);
  return column;
}

// One series at one row a second.
Bytes pack(const std::vector<Cell>& cells) {
  TimeColumn times;
  CellColumn column;
  for (size_t i = 0; i < cells.size(); ++i) {
    times.append(1'735'000'000'000 + int64_t(i) * 1000);
    column.append(cells[i]);
  }
  const PackedColumn packed{.id = 7, .cells = &column};
  return pack_block(times, std::span(&packed, 1));
}

std::vector<Cell> unpack(const Bytes& bytes) {
  const Result<BlockView> view = BlockView::open(bytes);
  EXPECT_TRUE(view.ok()) << view.status().message();
  std::vector<Cell> cells;
  const Status read = view->read_cells(*view->find(7), cells);
  EXPECT_TRUE(read.ok()) << read.message();
  return cells;
}

void expect_round_trip(const std::vector<Cell>& cells) { EXPECT_EQ(unpack(pack(cells)), cells); }

TEST(HeadCodec, NumbersComeBackToTheEndsOfWhatADoubleHolds) {
  const int64_t ends[] = {0,
                          1,
                          -1,
                          62,
                          63,
                          64,
                          -62,
                          -63,
                          -64,
                          8190,
                          8191,
                          -8191,
                          kLargestQuantum,
                          kLargestQuantum - 1,
                          -kLargestQuantum,
                          1 - kLargestQuantum};
  for (const int64_t first : ends) {
    for (const int64_t second : ends) {
      expect_round_trip({value(first), value(second), value(first), value(first), value(second)});
    }
  }
}

TEST(HeadCodec, RunsAndMarksOfEveryLengthComeBack) {
  for (const size_t length : {1, 2, 3, 31, 32, 33, 129, 4000}) {
    for (const Cell run : {value(0), value(5), kAbsent, kGap, kHeld}) {
      std::vector<Cell> cells(length, run);
      expect_round_trip(cells);
      cells.insert(cells.begin(), value(12));
      cells.push_back(value(11));
      cells.push_back(kAbsent);
      cells.push_back(kHeld);
      cells.push_back(kGap);
      expect_round_trip(cells);
    }
  }
}

TEST(HeadCodec, AbsentBetweenEqualNumbersDoesNotDisturbThem) {
  expect_round_trip({value(9), kAbsent, value(9), value(9), kGap, value(9), kHeld, value(8)});
}

TEST(HeadCodec, TimesComeBackWhateverTheirSteps) {
  const std::vector<int64_t> times_ms = {
      -kLargestTimeMs, -5, 0, 1, 2, 1000, 1'735'000'000'000, kLargestTimeMs - 1, kLargestTimeMs};
  const TimeColumn times = times_of(times_ms);
  const Bytes block = pack_block(times, {});
  const Result<BlockView> view = BlockView::open(block);
  ASSERT_TRUE(view.ok());
  std::vector<int64_t> read;
  ASSERT_TRUE(view->read_times(read).ok());
  EXPECT_EQ(read, times_ms);
  EXPECT_EQ(times.first_ms(), times_ms.front());
  EXPECT_EQ(times.last_ms(), times_ms.back());
}

TEST(HeadCodec, ColumnsAreFoundByIdAndOthersAreNot) {
  TimeColumn times = times_of({1, 2});
  CellColumn a;
  CellColumn b;
  a.append(value(1), 2);
  b.append(value(-1));
  b.append(kAbsent);
  const PackedColumn columns[] = {{.id = 0, .cells = &a}, {.id = UINT32_MAX, .cells = &b}};
  const Bytes block = pack_block(times, columns);
  const Result<BlockView> view = BlockView::open(block);
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_EQ(view->find(1), nullptr);
  std::vector<Cell> cells;
  ASSERT_TRUE(view->read_cells(*view->find(UINT32_MAX), cells).ok());
  EXPECT_EQ(cells, (std::vector<Cell>{value(-1), kAbsent}));
}

TEST(HeadCodec, AConstantSeriesCostsAFewBytesHoweverLong) {
  const std::vector<Cell> cells(4000, value(85'520'809'984));
  EXPECT_LT(pack(cells).size() - pack({value(85'520'809'984)}).size(), 4000 + 16);  // one a time
  CellColumn column;
  column.append(value(85'520'809'984), 4000);
  Bytes bytes;
  column.write_to(bytes);
  EXPECT_LE(bytes.size(), 10u);
}

TEST(HeadCodec, RandomColumnsComeBack) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<Cell> cells(1 + random() % 300);
    int64_t quantum = 0;
    for (Cell& cell : cells) {
      const uint64_t what = random() % 16;
      if (what < 3) {
        cell = Cell{.kind = static_cast<CellKind>(1 + what)};
        continue;
      }
      const uint64_t bits = random() % 54;
      if (what < 12) quantum = static_cast<int64_t>(random() >> (63 - bits) >> 1);
      if (what % 2 == 0) quantum = -quantum;
      cell = value(quantum);
    }
    expect_round_trip(cells);
  }
}

TEST(HeadCodec, EveryTruncationAndEveryFlippedBitGivesAnAnswerNotACrash) {
  const Bytes good = pack({value(1000), value(1001), kAbsent, kAbsent, value(5), value(5), kHeld});
  const auto read_all = [](const Bytes& bytes) {
    const Result<BlockView> view = BlockView::open(bytes);
    if (!view.ok()) return false;
    std::vector<int64_t> times;
    std::vector<Cell> cells;
    bool ok = view->read_times(times).ok();
    for (const BlockView::Column& column : view->columns()) {
      ok = view->read_cells(column, cells).ok() && ok;
    }
    return ok;
  };
  ASSERT_TRUE(read_all(good));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(read_all(Bytes(good.begin(), good.begin() + std::ptrdiff_t(size)))) << size;
  }
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    read_all(bad);
  }
}

TEST(HeadCodec, HostileBlocksAreRefusedByName) {
  const auto fault = [](const Bytes& bytes) {
    const Result<BlockView> view = BlockView::open(bytes);
    if (!view.ok()) return view.status();
    std::vector<int64_t> times;
    const Status status = view->read_times(times);
    if (!status.ok() || view->columns().empty()) return status;
    std::vector<Cell> cells;
    return view->read_cells(view->columns()[0], cells);
  };
  const auto says = [&](const Bytes& bytes, std::string_view text) {
    const Status status = fault(bytes);
    EXPECT_EQ(status.code(), Code::kCorrupt);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  };
  says({0, 0, 1, 0}, "number of rows");
  says({0x81, 0x80, 0x40, 0, 0}, "number of rows");
  says({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}, "number of rows");
  says({1, 100, 1, 0}, "number of columns");
  says({1, 0, 9, 0}, "size of times");
  says({1, 0, 1, 0, 0}, "do not add up");
  says({2, 0, 2, 2, 0}, "do not ascend");
  says({2, 0, 1, 2}, "times end early");
  says({1, 0, 2, 2, 2}, "times go on");
  says({1, 1, 1, 0, 2, 2, 1, 0}, "a run beyond");  // two in a block of one row
  says({1, 1, 1, 0, 2, 2, 2, 3}, "an unknown mark");
  says({1, 1, 1, 0, 1, 2, 1}, "a column ends early");
  says({1, 1, 1, 0, 2, 2, 0, 0}, "a column goes on");
  EXPECT_TRUE(fault({1, 1, 1, 0, 1, 2, 0}).ok());
}

}  // namespace
}  // namespace gpusight::store
