#include "store/chunk_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "model/queryable.h"
#include "store/column_format.h"

namespace gpusight::store {
namespace {

using model::Reason;
using Numbers = std::vector<int64_t>;

std::vector<int64_t> seconds(size_t rows) {
  std::vector<int64_t> times_ms(rows);
  for (size_t i = 0; i < rows; ++i) times_ms[i] = 1'735'000'000'417 + int64_t(i) * 1000;
  return times_ms;
}

ChunkColumn of_doubles(const std::vector<double>& numbers) {
  ChunkColumn column{.form = ChunkColumn::Form::kDoubles};
  for (const double number : numbers) column.numbers.push_back(std::bit_cast<int64_t>(number));
  return column;
}

ChunkColumn watts(size_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  ChunkColumn column;
  for (size_t i = 0; i < rows; ++i) column.numbers.push_back(550'000 + int64_t(random() % 65536));
  return column;
}

Bytes pack(const ChunkColumn& column) {
  Bytes bytes;
  ChunkEncoder().pack_column(column, bytes);
  return bytes;
}

Result<std::span<const uint8_t>> fetch_nothing(uint32_t) {
  ADD_FAILURE() << "nothing is leaned on";
  return Status(Code::kNotFound, "no such column");
}

Status unpack(std::span<const uint8_t> bytes, size_t rows, ChunkColumn& out) {
  return ChunkDecoder().unpack_column(bytes, rows, fetch_nothing, out);
}

void expect_round_trip(const ChunkColumn& column) {
  ChunkColumn read;
  const Status status = unpack(pack(column), column.rows(), read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read, column);
}

// The bytes of a chunk's columns, for columns that lean on one another.
ChunkDecoder::Fetch fetch_from(const PackedChunk& chunk) {
  return [&](uint32_t id) -> Result<std::span<const uint8_t>> {
    for (const auto& column : chunk.columns) {
      if (column.id == id) return std::span<const uint8_t>(column.bytes);
    }
    return Status(Code::kNotFound, "no such column");
  };
}

// Bytes with a sound checksum, so that what lies below it is looked at.
Bytes sealed(Bytes bytes) {
  const uint32_t sum = column_format::checksum(bytes);
  for (int k = 0; k < 4; ++k) bytes.push_back(static_cast<uint8_t>(sum >> (8 * k)));
  return bytes;
}

// FORMAT.md shows these bytes and says what each is.
TEST(ChunkCodec, TheExampleOfTheFormatIsWhatIsWritten) {
  Bytes bytes;
  ChunkEncoder encoder;
  const int64_t times_ms[] = {1'735'000'000'417, 1'735'000'001'417, 1'735'000'002'418,
                              1'735'000'003'417};
  encoder.pack_times(times_ms, bytes);
  const Bytes kTimes = {0x01, 0x00, 0x04, 0x0e, 0xd0, 0x0f, 0xc2, 0x9e, 0xf8, 0xe0,
                        0xfe, 0x64, 0x01, 0x01, 0x10, 0x04, 0x63, 0x04, 0x15, 0x88};
  EXPECT_EQ(bytes, kTimes);
  ChunkColumn column{.numbers = {61, 61, 61, 61},
                     .states = {kStateValue, kStateValue, absent_state(Reason::kLost),
                                absent_state(Reason::kLost)}};
  encoder.pack_column(column, bytes);
  const Bytes kTemperature = {0x01, 0x04, 0x04, 0x02, 0x00, 0x14, 0x01, 0x10,
                              0x0c, 0x00, 0x7a, 0xc3, 0xc7, 0xdf, 0xf0};
  EXPECT_EQ(bytes, kTemperature);
}

TEST(ChunkCodec, NumbersOfTheWholeRangeComeBack) {
  expect_round_trip({.numbers = {std::numeric_limits<int64_t>::min(), 0, -1,
                                 std::numeric_limits<int64_t>::max()}});
}

TEST(ChunkCodec, EveryStateAndReasonComesBackInItsRow) {
  ChunkColumn column;
  for (size_t i = 0; i < 200; ++i) {
    column.numbers.push_back(1000 + int64_t(i) * 7);
    column.states.push_back(kStateValue);
  }
  for (size_t i = 0; i < model::kReasonCount; ++i) {
    column.states[3 + 7 * i] = absent_state(static_cast<Reason>(i));
    EXPECT_EQ(reason_of(absent_state(static_cast<Reason>(i))), static_cast<Reason>(i));
  }
  column.states[100] = column.states[101] = kStateGap;
  column.states[102] = kStateHeld;
  column.states[0] = kStateHeld;
  for (size_t i = 0; i < 200; ++i) {
    if (column.states[i] != kStateValue) {
      column.numbers[i] = i == 0 ? column.numbers[1] : column.numbers[i - 1];
    }
  }
  expect_round_trip(column);
}

TEST(ChunkCodec, NumbersThatDoNotCountAreTheLastOnesBefore) {
  const ChunkColumn column{
      .numbers = {9, 5, 9, 9, 8, 9},
      .states = {kStateGap, kStateValue, kStateHeld, kStateAbsent, kStateValue, kStateGap}};
  ChunkColumn read;
  ASSERT_TRUE(unpack(pack(column), 6, read).ok());
  EXPECT_EQ(read.numbers, (Numbers{5, 5, 5, 5, 8, 8}));
  EXPECT_EQ(read.states, column.states);
}

TEST(ChunkCodec, AColumnWithoutAnyNumberComesBack) {
  expect_round_trip({.numbers = Numbers(50, 0),
                     .states = std::vector<CellState>(50, absent_state(Reason::kNotSupported))});
}

TEST(ChunkCodec, AReasonOfANewerProgramIsKeptAndReadsAsUnknown) {
  const CellState newer = kStateAbsent + 100;
  expect_round_trip({.numbers = {7, 7}, .states = {kStateValue, newer}});
  EXPECT_EQ(reason_of(newer), Reason::kUnknown);
}

// The numbers of reasons are in files: a new reason goes to the end.
TEST(ChunkCodec, ReasonsHaveTheNumbersThatFilesHold) {
  const Reason reasons[] = {Reason::kNotSupported, Reason::kNoPermission, Reason::kAsleep,
                            Reason::kBusy,         Reason::kLost,         Reason::kStale,
                            Reason::kDriverError,  Reason::kImplausible,  Reason::kWarmingUp,
                            Reason::kDisabled,     Reason::kHidden,       Reason::kUnknown};
  ASSERT_EQ(std::size(reasons), model::kReasonCount);
  for (size_t i = 0; i < std::size(reasons); ++i) {
    EXPECT_EQ(absent_state(reasons[i]), kStateAbsent + i);
  }
}

TEST(ChunkCodec, DoublesComeBackBitByBit) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_round_trip(
      of_doubles({0.0, -0.0, 1.5, -1.5, infinity, -infinity, std::nan("1"), model::stale_marker(),
                  std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}));
  std::mt19937_64 random(1);
  ChunkColumn any{.form = ChunkColumn::Form::kDoubles};
  for (int i = 0; i < 1000; ++i) any.numbers.push_back(int64_t(random()));
  expect_round_trip(any);
}

TEST(ChunkCodec, DoublesThatArePlainDecimalsAreAsSmallAsWholeNumbers) {
  std::mt19937_64 random(1);
  std::vector<double> numbers;
  for (int i = 0; i < 7200; ++i) numbers.push_back(double(random() % 1000) / 100);
  expect_round_trip(of_doubles(numbers));
  EXPECT_LT(pack(of_doubles(numbers)).size(), 7200u * 10 / 8 + 100);
  numbers[500] = 1.0 / 3;
  expect_round_trip(of_doubles(numbers));
  numbers[500] = 1e300;
  expect_round_trip(of_doubles(numbers));
}

TEST(ChunkCodec, TimesComeBackWhateverTheirSteps) {
  ChunkEncoder encoder;
  ChunkDecoder decoder;
  Bytes bytes;
  std::vector<int64_t> read;
  std::mt19937_64 random(1);
  std::vector<int64_t> jittered = seconds(7200);
  for (int64_t& time_ms : jittered) time_ms += int64_t(random() % 3);
  std::vector<int64_t> with_gap = seconds(3000);
  for (size_t i = 1500; i < with_gap.size(); ++i) with_gap[i] += 86'400'000;
  for (const auto& times_ms : {seconds(1), seconds(2), seconds(kMaxChunkRows), jittered, with_gap,
                               std::vector<int64_t>{std::numeric_limits<int64_t>::min(), -5, 0, 1,
                                                    std::numeric_limits<int64_t>::max()}}) {
    encoder.pack_times(times_ms, bytes);
    const Status status = decoder.unpack_times(bytes, read);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(read, times_ms);
  }
  encoder.pack_times(jittered, bytes);
  EXPECT_LT(bytes.size(), 7200u * 2 / 8) << "jitter is not paid twice";
}

TEST(ChunkCodec, AColumnThatFollowsFromAnotherTakesNextToNothing) {
  const size_t rows = 7200;
  const ChunkColumn power = watts(rows, 1);
  ChunkColumn energy, free, other = watts(rows, 2);
  int64_t sum = 163'000'000'000;
  for (const int64_t milliwatts : power.numbers) {
    energy.numbers.push_back(sum += milliwatts);
    free.numbers.push_back(85'520'809'984 - milliwatts);
  }
  const ColumnToPack columns[] = {{1, &power}, {4, &energy}, {9, &free}, {UINT32_MAX, &other}};
  PackedChunk chunk;
  ChunkEncoder encoder;
  encoder.pack(seconds(rows), columns, chunk);
  ASSERT_EQ(chunk.columns.size(), 4u);
  EXPECT_LT(chunk.columns[1].bytes.size(), 40u);
  EXPECT_LT(chunk.columns[2].bytes.size(), 40u);
  EXPECT_EQ(*leans_on(chunk.columns[1].bytes), 1u);
  EXPECT_EQ(*leans_on(chunk.columns[2].bytes), 1u);
  EXPECT_EQ(*leans_on(chunk.columns[0].bytes), std::nullopt);
  EXPECT_EQ(*leans_on(chunk.columns[3].bytes), std::nullopt);
  ChunkDecoder decoder;
  ChunkColumn read;
  for (size_t i = 0; i < 4; ++i) {
    const Status status =
        decoder.unpack_column(chunk.columns[i].bytes, rows, fetch_from(chunk), read);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(read, *columns[i].column);
  }
}

TEST(ChunkCodec, AColumnLeansOnlyOnOneThatIsAbsentInTheSameRows) {
  ChunkColumn a = watts(1000, 1);
  ChunkColumn b = a;
  a.states.assign(1000, kStateValue);
  for (size_t i = 300; i < 400; ++i) a.states[i] = absent_state(Reason::kBusy);
  for (size_t i = 300; i < 400; ++i) a.numbers[i] = a.numbers[299];
  const ChunkColumn c = a;
  const ColumnToPack columns[] = {{0, &a}, {1, &b}, {2, &c}};
  PackedChunk chunk;
  ChunkEncoder().pack(seconds(1000), columns, chunk);
  EXPECT_EQ(*leans_on(chunk.columns[1].bytes), std::nullopt);
  EXPECT_EQ(*leans_on(chunk.columns[2].bytes), 0u);
  ChunkDecoder decoder;
  ChunkColumn read;
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(decoder.unpack_column(chunk.columns[i].bytes, 1000, fetch_from(chunk), read).ok());
    EXPECT_EQ(read, *columns[i].column);
  }
}

TEST(ChunkCodec, WhatALeaningColumnNeedsAndDoesNotGetIsSaid) {
  const ChunkColumn a = watts(1000, 1);
  const ChunkColumn b = a;
  const ColumnToPack columns[] = {{0, &a}, {1, &b}};
  PackedChunk chunk;
  ChunkEncoder().pack(seconds(1000), columns, chunk);
  const Bytes& leaning = chunk.columns[1].bytes;
  ChunkDecoder decoder;
  ChunkColumn read;
  const auto answer = [&](std::span<const uint8_t> bytes) {
    return decoder
        .unpack_column(
            leaning, 1000, [&](uint32_t) -> Result<std::span<const uint8_t>> { return bytes; },
            read)
        .code();
  };
  EXPECT_EQ(answer(leaning), Code::kCorrupt) << "leans on what leans";
  EXPECT_EQ(answer(pack(watts(999, 1))), Code::kCorrupt) << "of another length";
  EXPECT_EQ(answer(pack(of_doubles(std::vector<double>(1000, 0.5)))), Code::kCorrupt);
  EXPECT_EQ(answer({}), Code::kCorrupt);
  PackedChunk alone{.columns = {chunk.columns[1]}};
  EXPECT_EQ(decoder.unpack_column(leaning, 1000, fetch_from(alone), read).code(), Code::kNotFound);
}

TEST(ChunkCodec, ColumnsOfNothingButGapsAreLeftOut) {
  const ChunkColumn blank{.numbers = {0, 0}, .states = {kStateGap, kStateGap}};
  const ChunkColumn one{.numbers = {1, 2}};
  const ColumnToPack columns[] = {{0, &blank}, {1, &one}, {2, &blank}};
  PackedChunk chunk;
  ChunkEncoder encoder;
  encoder.pack(seconds(2), columns, chunk);
  ASSERT_EQ(chunk.columns.size(), 1u);
  EXPECT_EQ(chunk.columns[0].id, 1u);
  encoder.pack(seconds(2), {}, chunk);
  EXPECT_TRUE(chunk.columns.empty()) << "nothing is left of the chunk before";
}

TEST(ChunkCodec, RolledUpSeriesComeBackExactly) {
  std::mt19937_64 random(1);
  std::vector<ChunkColumn> parts(kRollupParts);
  for (int row = 0; row < 1440; ++row) {
    const int64_t low = 400'000 + int64_t(random() % 1000), high = low + int64_t(random() % 90'000);
    const int64_t numbers[kRollupParts] = {low, high, low * 30 + high * 30, low + 5, high - 5,
                                           60,  high};
    for (size_t i = 0; i < kRollupParts; ++i) parts[i].numbers.push_back(numbers[i]);
  }
  std::vector<ColumnToPack> columns;
  for (uint32_t i = 0; i < kRollupParts; ++i) columns.push_back({i, &parts[i]});
  PackedChunk chunk;
  ChunkEncoder().pack(seconds(1440), columns, chunk);
  ChunkDecoder decoder;
  ChunkColumn read;
  for (size_t i = 0; i < kRollupParts; ++i) {
    ASSERT_TRUE(decoder.unpack_column(chunk.columns[i].bytes, 1440, fetch_from(chunk), read).ok());
    EXPECT_EQ(read, parts[i]);
  }
}

TEST(ChunkCodec, EveryChangedBitIsFound) {
  const Bytes good = pack(watts(300, 1));
  ChunkColumn read;
  for (size_t i = 0; i < good.size() * 8; ++i) {
    Bytes bad = good;
    bad[i / 8] ^= static_cast<uint8_t>(1 << (i % 8));
    EXPECT_EQ(unpack(bad, 300, read).code(), Code::kCorrupt) << "bit " << i;
  }
}

TEST(ChunkCodec, CutOffOrWithMoreBehindItIsCorrupt) {
  Bytes bytes = pack(watts(300, 1));
  ChunkColumn read;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(unpack(std::span(bytes).first(size), 300, read).code(), Code::kCorrupt);
  }
  bytes.erase(bytes.end() - column_format::kChecksumBytes, bytes.end());
  bytes.push_back(0);
  EXPECT_EQ(unpack(sealed(bytes), 300, read).code(), Code::kCorrupt);
  EXPECT_EQ(unpack(pack(watts(300, 1)), 301, read).code(), Code::kCorrupt) << "other rows";
}

TEST(ChunkCodec, AFormatOfTheFutureIsUnsupportedNotCorrupt) {
  ChunkColumn read;
  EXPECT_EQ(unpack(sealed({2, 0, 1, 0, 0}), 1, read).code(), Code::kUnsupported);
  EXPECT_EQ(leans_on(Bytes{2, 0, 1}).status().code(), Code::kUnsupported);
  EXPECT_EQ(unpack(sealed({0, 0, 1, 0, 0}), 1, read).code(), Code::kCorrupt);
}

TEST(ChunkCodec, HeadsThatAreNeverWrittenAreCorrupt) {
  ChunkColumn read;
  ASSERT_TRUE(unpack(sealed({1, 0, 1, 0, 6}), 1, read).ok()) << "the number 3";
  const Bytes bad[] = {{1, 32, 1, 0, 6},                 // a flag that there is not
                       {1, 2, 1, 0, 6},                  // decimals that are no doubles
                       {1, 3, 1, 23, 0, 6},              // too many places
                       {1, 9, 1, 0, 0, 0, 6},            // leaning doubles
                       {1, 0, 0, 0, 6},                  // no rows
                       {1, 0, 0x81, 0x80, 4, 0, 6},      // more rows than any chunk has
                       {1, 4, 1, 0, 6, 0, 6},            // a state that there is not
                       {1, 4, 1, 0, 0, 0, 6},            // states, and all are values
                       {1, 4, 1, 0, 0xff, 0x0f, 0, 6}};  // a negative state
  for (const Bytes& bytes : bad) {
    uint64_t rows = bytes[2];
    if (rows > 1) rows = 65537;
    EXPECT_EQ(unpack(sealed(bytes), rows, read).code(), Code::kCorrupt) << int(bytes[1]);
  }
}

TEST(ChunkCodec, TimesThatDoNotAscendAreCorrupt) {
  ChunkDecoder decoder;
  std::vector<int64_t> times_ms;
  EXPECT_EQ(decoder.unpack_times(pack({.numbers = {5, 5}}), times_ms).code(), Code::kCorrupt);
  EXPECT_EQ(decoder.unpack_times(pack({.numbers = {5, 4}}), times_ms).code(), Code::kCorrupt);
  EXPECT_EQ(
      decoder.unpack_times(pack({.numbers = {1, 2}, .states = {kStateValue, kStateGap}}), times_ms)
          .code(),
      Code::kCorrupt);
  EXPECT_TRUE(decoder.unpack_times(pack({.numbers = {4, 5}}), times_ms).ok());
}

// Whole chunks of columns of all kinds, many of which go together somehow.
TEST(ChunkCodec, ChunksOfAnyColumnsComeBack) {
  ChunkEncoder encoder;  // the same ones throughout: nothing of a chunk before may show
  ChunkDecoder decoder;
  PackedChunk packed;
  ChunkColumn read;
  size_t leaning = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    std::mt19937_64 random(seed);
    const size_t rows = 1 + random() % (seed % 8 == 0 ? 3000 : 200);
    std::vector<ChunkColumn> columns(1 + random() % 12);
    std::vector<ColumnToPack> to_pack;
    for (size_t c = 0; c < columns.size(); ++c) {
      ChunkColumn& column = columns[c];
      const ChunkColumn& like = columns[random() % (c + 1)];
      const int64_t factor = int64_t(random() % 7) - 3;
      const bool is_alike = &like != &column && like.form == ChunkColumn::Form::kQuanta;
      const int bits = int(random() % 40);
      for (size_t i = 0; i < rows; ++i) {
        const int64_t noise = int64_t(random() % (uint64_t{1} << bits));
        column.numbers.push_back(is_alike ? like.numbers[i] * factor + noise : noise);
      }
      if (is_alike) column.states = like.states;
      if (!is_alike && random() % 3 == 0) column.form = ChunkColumn::Form::kDoubles;
      if (!is_alike && random() % 3 == 0 && rows > 1) {
        column.states.assign(rows, kStateValue);
        column.states[random() % rows] = kStateGap;
        for (size_t i = random() % rows; i < rows && random() % 20 != 0; ++i) {
          column.states[i] = absent_state(Reason::kAsleep);
        }
      }
      to_pack.push_back({.id = static_cast<uint32_t>(3 * c), .column = &column});
    }
    encoder.pack(seconds(rows), to_pack, packed);
    for (const auto& [id, bytes] : packed.columns) {
      leaning += leans_on(bytes)->has_value();
      const Status status = decoder.unpack_column(bytes, rows, fetch_from(packed), read);
      ASSERT_TRUE(status.ok()) << seed << ": " << status.message();
      const ChunkColumn& column = columns[id / 3];
      ASSERT_EQ(read.form, column.form) << seed;
      ASSERT_EQ(read.states, column.states) << seed;
      for (size_t i = 0; i < rows; ++i) {
        if (!column.states.empty() && column.states[i] != kStateValue) continue;
        ASSERT_EQ(read.numbers[i], column.numbers[i]) << seed << " column " << id << " row " << i;
      }
    }
  }
  EXPECT_GT(leaning, 20u) << "columns that go together are among them";
}

}  // namespace
}  // namespace gpusight::store
