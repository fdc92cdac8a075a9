// Symbols of unequal weight in as many bits as their rarity is worth: tabled asymmetric numeral
// systems (tANS; J. Duda, "Asymmetric numeral systems", arXiv 1311.2540, with the spread of
// symbols that Y. Collet's Finite State Entropy has). Four states take turns, so that the
// processor works on four symbols at once.
//
//   symbols := state:weight_bits {4}, then for each symbol the bits that lead to its state's next
//
// Plain values; the tables are scratch memory to be reused. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/bins.h"
#include "store/bit_stream.h"

namespace gpusight::store {

inline constexpr int kAnsStates = 4;

class AnsEncoder {
 public:
  void set_up(const Bins& bins);
  // `symbols` are positions in bins.bins.
  void write(std::span<const uint16_t> symbols, Bytes& out);

 private:
  struct Symbol {
    uint32_t bits_offset = 0;
    int32_t state_offset = 0;
  };
  int weight_bits_ = 0;
  std::vector<uint16_t> spread_;
  std::vector<uint16_t> states_;
  std::vector<Symbol> symbols_;
  std::vector<uint32_t> steps_;  // bits << 16 | number, from the last symbol to the first
};

class AnsDecoder {
 public:
  void set_up(const Bins& bins);
  // Reads the states that start `reader`.
  void begin(BitReader& reader);
  // The next symbols; only the last call may ask for a number that four does not divide. At most
  // kMostWeightBits a symbol are read: ask for 2048 at most, then see reader.is_past_end().
  void read(BitReader& reader, std::span<uint16_t> symbols);

 private:
  struct Step {
    uint16_t symbol = 0;
    uint16_t bits = 0;
    uint32_t base = 0;
  };
  int weight_bits_ = 0;
  std::vector<uint16_t> spread_;
  std::vector<uint32_t> next_;
  std::vector<Step> steps_;
  uint32_t state_[kAnsStates] = {};
};

}  // namespace gpusight::store
