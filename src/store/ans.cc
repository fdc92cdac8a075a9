#include "store/ans.h"

#include <algorithm>
#include <bit>

namespace gpusight::store {
namespace {

// Which symbol each state stands for: every symbol's states lie evenly over the table.
void spread_symbols(const Bins& bins, std::vector<uint16_t>& spread) {
  const size_t size = size_t{1} << bins.weight_bits;
  spread.resize(size);
  // Odd, so that it meets every place; small tables are filled in order.
  const size_t step = size < 16 ? 1 : (size >> 1) + (size >> 3) + 3;
  size_t at = 0;
  for (size_t symbol = 0; symbol < bins.bins.size(); ++symbol) {
    for (uint32_t i = 0; i < bins.bins[symbol].weight; ++i) {
      spread[at] = static_cast<uint16_t>(symbol);
      at = (at + step) & (size - 1);
    }
  }
}

}  // namespace

void AnsEncoder::set_up(const Bins& bins) {
  weight_bits_ = bins.weight_bits;
  const uint32_t size = 1u << weight_bits_;
  spread_symbols(bins, spread_);
  symbols_.resize(bins.bins.size());
  std::vector<uint32_t> next(bins.bins.size());
  uint32_t total = 0;
  for (size_t i = 0; i < bins.bins.size(); ++i) {
    const uint32_t weight = bins.bins[i].weight;
    // States of [weight << most, …) give `most` bits, those below one bit less.
    const auto most =
        static_cast<uint32_t>(weight_bits_ - (weight == 1 ? 0 : std::bit_width(weight - 1) - 1));
    symbols_[i].bits_offset = (most << 16) - (weight << most);
    symbols_[i].state_offset = static_cast<int32_t>(total) - static_cast<int32_t>(weight);
    next[i] = total;
    total += weight;
  }
  states_.resize(size);
  for (uint32_t i = 0; i < size; ++i) {
    states_[next[spread_[i]]++] = static_cast<uint16_t>(size + i);
  }
}

void AnsEncoder::write(std::span<const uint16_t> symbols, Bytes& out) {
  const uint32_t size = 1u << weight_bits_;
  uint32_t state[kAnsStates] = {size, size, size, size};
  steps_.resize(symbols.size());
  for (size_t i = symbols.size(); i-- > 0;) {
    uint32_t& x = state[i % kAnsStates];
    const Symbol& symbol = symbols_[symbols[i]];
    const uint32_t bits = (x + symbol.bits_offset) >> 16;
    steps_[i] = bits << 16 | (x & ((1u << bits) - 1));
    x = states_[static_cast<uint32_t>(static_cast<int32_t>(x >> bits) + symbol.state_offset)];
  }
  BitWriter writer(out, (symbols.size() + kAnsStates) * kMostWeightBits);
  for (const uint32_t x : state) writer.put_short(x - size, weight_bits_);
  for (const uint32_t step : steps_) {
    writer.put_short(step & 0xffff, static_cast<int>(step >> 16));
  }
  writer.finish();
}

void AnsDecoder::set_up(const Bins& bins) {
  weight_bits_ = bins.weight_bits;
  const uint32_t size = 1u << weight_bits_;
  spread_symbols(bins, spread_);
  next_.resize(bins.bins.size());
  for (size_t i = 0; i < next_.size(); ++i) next_[i] = bins.bins[i].weight;
  steps_.resize(size);
  for (uint32_t i = 0; i < size; ++i) {
    const uint16_t symbol = spread_[i];
    const uint32_t x = next_[symbol]++;
    const int bits = weight_bits_ - (std::bit_width(x) - 1);
    steps_[i] = {.symbol = symbol, .bits = static_cast<uint16_t>(bits), .base = (x << bits) - size};
  }
}

void AnsDecoder::begin(BitReader& reader) {
  for (uint32_t& state : state_) state = static_cast<uint32_t>(reader.take_short(weight_bits_));
}

void AnsDecoder::read(BitReader& reader, std::span<uint16_t> symbols) {
  static_assert(kAnsStates == 4 && 4 * kMostWeightBits <= 57, "one look is enough for four");
  const Step* const steps = steps_.data();
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  size_t i = 0;
  for (; i + kAnsStates <= symbols.size(); i += kAnsStates) {
    uint64_t bits = reader.peek();
    const Step step_a = steps[a], step_b = steps[b], step_c = steps[c], step_d = steps[d];
    symbols[i] = step_a.symbol;
    symbols[i + 1] = step_b.symbol;
    symbols[i + 2] = step_c.symbol;
    symbols[i + 3] = step_d.symbol;
    a = step_a.base + static_cast<uint32_t>(low_bits(bits, step_a.bits));
    bits >>= step_a.bits;
    b = step_b.base + static_cast<uint32_t>(low_bits(bits, step_b.bits));
    bits >>= step_b.bits;
    c = step_c.base + static_cast<uint32_t>(low_bits(bits, step_c.bits));
    bits >>= step_c.bits;
    d = step_d.base + static_cast<uint32_t>(low_bits(bits, step_d.bits));
    reader.skip(step_a.bits + step_b.bits + step_c.bits + step_d.bits);
  }
  uint32_t rest[kAnsStates] = {a, b, c, d};
  for (int k = 0; i < symbols.size(); ++i, ++k) {
    const Step step = steps[rest[k]];
    symbols[i] = step.symbol;
    rest[k] = step.base + static_cast<uint32_t>(reader.take_short(step.bits));
  }
  std::ranges::copy(rest, state_);
}

}  // namespace gpusight::store
