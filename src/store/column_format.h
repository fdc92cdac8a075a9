// The bytes that a packed column begins and ends with: shared by chunk_encoder.cc and
// chunk_decoder.cc only. FORMAT.md, "Columns", describes them.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "store/chunk_codec.h"

namespace gpusight::store::column_format {

inline constexpr uint8_t kVersion = 1;

inline constexpr uint8_t kDoubles = 1;    // numbers are doubles …
inline constexpr uint8_t kDecimals = 2;   // … and were whole after moving the decimal point
inline constexpr uint8_t kHasStates = 4;  // not every row is a value
inline constexpr uint8_t kLeans = 8;      // on another column, whose states it has
inline constexpr uint8_t kLeansOnSum = 16;
inline constexpr uint8_t kKnownFlags = 31;

inline constexpr size_t kChecksumBytes = 4;
uint32_t checksum(std::span<const uint8_t> bytes);  // CRC-32 as in zlib

// What a column leans on and how. A factor counts 65 536ths.
struct Lean {
  uint32_t id = 0;
  int64_t factor = 0;
  bool is_sum = false;
};

// What the other column says of each number of this one; a sum is that of all numbers so far.
class Prediction {
 public:
  explicit Prediction(const Lean& lean) : lean_(lean) {}
  uint64_t next(int64_t other) {
    const uint64_t product = static_cast<uint64_t>(other) * static_cast<uint64_t>(lean_.factor);
    const auto share = static_cast<uint64_t>(static_cast<int64_t>(product) >> 16);
    if (!lean_.is_sum) return share;
    return sum_ += share;
  }

 private:
  const Lean& lean_;
  uint64_t sum_ = 0;
};

// Doubles in the order of their bits as numbers, so that near doubles are near numbers. Its own
// inverse.
constexpr int64_t ordered(int64_t bits) {
  return bits ^ static_cast<int64_t>(static_cast<uint64_t>(bits >> 63) >> 1);
}

// The powers of ten that a double holds exactly.
inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline int64_t from_decimal(int64_t whole, size_t places) {
  return std::bit_cast<int64_t>(static_cast<double>(whole) / kPowersOfTen[places]);
}

}  // namespace gpusight::store::column_format
