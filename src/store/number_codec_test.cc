#include "store/number_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "store/chunk_codec.h"

namespace gpusight::store {
namespace {

using Numbers = std::vector<int64_t>;

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

// Packs, unpacks, compares; the bytes it took.
size_t round_trip(const Numbers& numbers) {
  NumberEncoder encoder;
  NumberDecoder decoder;
  Bytes bytes = {0xEE};  // whatever stood there before stays
  encoder.write(numbers, bytes);
  EXPECT_EQ(bytes[0], 0xEE);
  const size_t size = bytes.size() - 1;
  bytes.push_back(0xDD);
  Numbers read(numbers.size(), -1);
  std::span<const uint8_t> rest = std::span<const uint8_t>(bytes).subspan(1);
  const Status status = decoder.read(rest, read);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read, numbers);
  EXPECT_EQ(rest.size(), 1u) << "takes off what it read and no more";
  return size;
}

Numbers made(size_t count, const std::function<int64_t(size_t)>& at) {
  Numbers numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = at(i);
  return numbers;
}

TEST(NumberCodec, FewNumbersComeBackToTheEndsOfTheirRange) {
  const int64_t ends[] = {0, 1, -1, 127, -128, kHighest, kHighest - 1, kLowest, kLowest + 1};
  for (const int64_t a : ends) {
    round_trip({a});
    for (const int64_t b : ends) {
      round_trip({a, b});
      for (const int64_t c : ends) {
        round_trip({a, b, c});
        round_trip({a, a, b, c, b, a, c});
      }
    }
  }
  round_trip({});
}

TEST(NumberCodec, AConstantTakesItsNumberAndAByte) {
  EXPECT_LE(round_trip(made(kMaxChunkRows, [](size_t) { return 5; })), 2u);
  EXPECT_LE(round_trip(made(14400, [](size_t) { return 85'520'809'984; })), 8u);
}

TEST(NumberCodec, ASteadyCounterTakesNextToNothing) {
  EXPECT_LE(round_trip(made(14400, [](size_t i) { return int64_t(1e12) + 17 * int64_t(i); })), 24u);
}

TEST(NumberCodec, LongRunsTakeAboutAByteOrTwoEach) {
  std::mt19937_64 random(1);
  int64_t celsius = 60;
  const Numbers numbers = made(14400, [&](size_t) {
    if (random() % 100 == 0) celsius += random() % 2 == 0 ? 1 : -1;
    return celsius;
  });
  EXPECT_LE(round_trip(numbers), 14400u / 100 * 2);
}

TEST(NumberCodec, UniformNoiseTakesItsBitsAndFewMore) {
  std::mt19937_64 random(1);
  for (const int bits : {1, 3, 8, 13, 20, 33, 57, 58, 63}) {
    const Numbers numbers = made(7200, [&](size_t) { return int64_t(random() >> (64 - bits)); });
    EXPECT_LE(double(round_trip(numbers)), 7200.0 * bits / 8 * 1.01 + 64) << bits << " bits";
  }
  round_trip(made(7200, [&](size_t) { return int64_t(random()); }));
}

TEST(NumberCodec, GaussianNoiseComesWithinAHundredthOfItsEntropy) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> watts(600'000, 5'000);
  const Numbers numbers = made(14400, [&](size_t) { return std::llround(watts(random)); });
  const double entropy = std::log2(5'000 * std::sqrt(2 * M_PI * M_E));  // of a Gauss, in bits
  EXPECT_LE(double(round_trip(numbers)), 14400 * entropy / 8 * 1.01);
}

TEST(NumberCodec, WhatSwingsIsPaidByWhatIsNewInIt) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> news(0, 1'000);
  double before = 0;
  double before_that = 0;
  const Numbers numbers = made(14400, [&](size_t) {
    const double now = 1.2 * before - 0.9 * before_that + news(random);
    before_that = before;
    before = now;
    return std::llround(600'000 + now);
  });
  const double entropy = std::log2(1'000 * std::sqrt(2 * M_PI * M_E));
  EXPECT_LE(double(round_trip(numbers)), 14400 * entropy / 8 * 1.02);
}

TEST(NumberCodec, AFewLevelsThatOftenStandArePaidAsRuns) {
  std::mt19937_64 random(1);
  int64_t level = 0;
  const Numbers numbers = made(14400, [&](size_t) {
    if (random() % 10 < 4) level = int64_t(random() % 8) * 15;
    return level;
  });
  const double stands = 0.6 + 0.4 / 8;  // chances, from which the entropy
  const double bits = -stands * std::log2(stands) - (1 - stands) * std::log2((1 - stands) / 7);
  EXPECT_LE(double(round_trip(numbers)), 14400 * bits / 8 * 1.07);
}

TEST(NumberCodec, LevelsFarApartEachWithNoiseDoNotPayForTheWayBetween) {
  std::mt19937_64 random(1);
  const Numbers numbers = made(14400, [&](size_t) {
    return int64_t(random() % 3) * 1'000'000'000 + int64_t(random() % 64);
  });
  EXPECT_LE(double(round_trip(numbers)), 14400 * (std::log2(3) + 6) / 8 * 1.01 + 64);
}

TEST(NumberCodec, MultiplesOfSomethingAreCountedInIt) {
  std::mt19937_64 random(1);
  const Numbers numbers = made(7200, [&](size_t) { return int64_t(random() % 256) * 2'097'152; });
  EXPECT_LE(double(round_trip(numbers)), 7200 * 1.02 + 64);
}

TEST(NumberCodec, WhatRepeatsIsPaidOnce) {
  std::mt19937_64 random(1);
  const Numbers period = made(120, [&](size_t) { return int64_t(random() % 1000); });
  const Numbers numbers = made(14400, [&](size_t i) { return period[i % period.size()]; });
  EXPECT_LE(round_trip(numbers), 500u);
  // The same as steps of a counter.
  int64_t sum = 0;
  EXPECT_LE(round_trip(made(14400, [&](size_t i) { return sum += period[i % period.size()]; })),
            700u);
}

TEST(NumberCodec, ColumnsOfManyShapesComeBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const size_t count = 1 + random() % (seed % 10 == 0 ? 5000 : 300);
    const int bits = 1 + int(random() % 64);
    const uint64_t stay = random() % 20;
    const bool is_walk = random() % 2 == 0;
    const uint64_t unit = random() % 3 == 0 ? 1 + random() % 1000 : 1;
    uint64_t number = random();
    const Numbers numbers = made(count, [&](size_t) {
      if (random() % 20 >= stay) {
        const uint64_t change = (random() >> (64 - bits)) * unit;
        number = is_walk ? number + change - (uint64_t{unit} << (bits - 1)) : change;
      }
      return int64_t(number);
    });
    SCOPED_TRACE(seed);
    round_trip(numbers);
  }
}

TEST(NumberCodec, CutOffAnywhereItIsCorrupt) {
  std::mt19937_64 random(3);
  NumberEncoder encoder;
  NumberDecoder decoder;
  const Numbers shapes[] = {
      made(100, [](size_t) { return 300; }), made(500, [](size_t i) { return int64_t(i / 50); }),
      made(300, [&](size_t) { return int64_t(random() % 5000); }),
      made(600, [](size_t i) { return int64_t(i % 30 * (i % 30) * 100'003); })};
  for (const Numbers& numbers : shapes) {
    Bytes bytes;
    encoder.write(numbers, bytes);
    Numbers read(numbers.size());
    for (size_t size = 0; size < bytes.size(); ++size) {
      std::span<const uint8_t> rest = std::span<const uint8_t>(bytes).first(size);
      const Status status = decoder.read(rest, read);
      // Bits that are missing may have been zeros: then nothing is lost.
      if (status.ok()) {
        EXPECT_EQ(read, numbers) << size;
      } else {
        EXPECT_EQ(status.code(), Code::kCorrupt);
      }
    }
  }
}

TEST(NumberCodec, GuessesThatThereAreNotAreRefused) {
  NumberDecoder decoder;
  Numbers read(4);
  for (int guess = 5; guess < 64; ++guess) {
    const Bytes bytes = {uint8_t(guess << 2 | 2), 0, 0, 0, 0, 0, 1, 1, 0x10, 0, 0, 0, 0, 0};
    std::span<const uint8_t> rest(bytes);
    EXPECT_EQ(decoder.read(rest, read).code(), Code::kCorrupt) << guess;
  }
}

TEST(NumberCodec, RunsOfRunsAreRefused) {
  // Two runs whose numbers are runs again.
  const Bytes bytes = {1, 2, 1, 1, 0, 0, 0, 0};
  NumberDecoder decoder;
  Numbers read(4);
  std::span<const uint8_t> rest(bytes);
  EXPECT_EQ(decoder.read(rest, read).code(), Code::kCorrupt);
}

}  // namespace
}  // namespace gpusight::store
