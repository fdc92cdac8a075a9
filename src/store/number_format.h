// The bytes that packed columns of numbers begin with: shared by number_encoder.cc and
// number_decoder.cc only.
#pragma once

#include <cstdint>

#include "store/number_codec.h"

namespace gpusight::store::number_format {

enum class Kind : uint8_t {
  kConstant,   // one number
  kRuns,       // each number and how often it stands
  kBinned,     // what the guess leaves, in bins
  kRepeating,  // what the guess leaves, in bytes packed by zstd
};

// kind:2 guess:3
constexpr uint8_t tag(Kind kind, Guess guess) {
  return static_cast<uint8_t>(static_cast<uint8_t>(kind) | static_cast<uint8_t>(guess) << 2);
}
constexpr Kind kind_of(uint8_t tag) { return static_cast<Kind>(tag & 3); }
constexpr Guess guess_of(uint8_t tag) { return static_cast<Guess>(tag >> 2); }

// How many numbers of a column the guess does not cover: they are given beforehand.
constexpr size_t given(Guess guess) {
  return guess == Guess::kTrend || guess == Guess::kSwing ? 2 : guess == Guess::kStep ? 1 : 0;
}

// Bytes that a number below `bound` takes in kRepeating: 1, 2, 4 or 8.
constexpr size_t width_of(uint64_t largest) {
  return largest < 0x100 ? 1 : largest < 0x10000 ? 2 : largest < 0x100000000 ? 4 : 8;
}

}  // namespace gpusight::store::number_format
