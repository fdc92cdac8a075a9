// Bits one after another in bytes, the lowest of each byte first. Not thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "store/bytes.h"

namespace gpusight::store {

inline uint64_t load_le64(const uint8_t* at) {
  uint64_t number;
  std::memcpy(&number, at, sizeof number);
  if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap64(number);
  return number;
}
inline void store_le64(uint8_t* at, uint64_t number) {
  if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap64(number);
  std::memcpy(at, &number, sizeof number);
}
constexpr uint64_t low_bits(uint64_t number, int count) {
  return count >= 64 ? number : number & ((uint64_t{1} << count) - 1);
}

// Appends bits to bytes; finish() fills the last byte with zeros.
class BitWriter {
 public:
  // `most_bits` is how many will be written at most.
  BitWriter(Bytes& out, uint64_t most_bits) : out_(out), begin_(out.size()) {
    out_.resize(begin_ + most_bits / 8 + 16);
    at_ = out_.data() + begin_;
  }

  // `number` below 2^count, `count` at most 56.
  void put_short(uint64_t number, int count) {
    pending_ |= number << filled_;
    filled_ += count;
    store_le64(at_, pending_);
    const int whole = filled_ >> 3;
    at_ += whole;
    pending_ >>= whole * 8;
    filled_ &= 7;
  }
  // `count` at most 64.
  void put(uint64_t number, int count) {
    if (count > 56) {
      put_short(low_bits(number, 32), 32);
      number >>= 32;
      count -= 32;
    }
    put_short(number, count);
  }
  // Bytes written, which are then the end of `out`.
  size_t finish() {
    if (filled_ > 0) ++at_;
    const auto end = static_cast<size_t>(at_ - out_.data());
    out_.resize(end);
    return end - begin_;
  }

 private:
  Bytes& out_;
  size_t begin_;
  uint8_t* at_;
  uint64_t pending_ = 0;
  int filled_ = 0;
};

// Reads bits of bytes that have at least kPadding more readable bytes behind them, which lets the
// reader go on for a while past the end: check is_past_end() at least once in kPadding * 8 - 128
// bits.
class BitReader {
 public:
  static constexpr size_t kPadding = 4096;

  BitReader(const uint8_t* data, size_t size) : data_(data), end_(uint64_t{size} * 8) {}

  // At least 57 bits, without going on.
  uint64_t peek() const { return load_le64(data_ + (at_ >> 3)) >> (at_ & 7); }
  void skip(int count) { at_ += static_cast<uint64_t>(count); }
  uint64_t take_short(int count) {  // at most 57
    const uint64_t bits = low_bits(peek(), count);
    skip(count);
    return bits;
  }
  uint64_t take(int count) {  // at most 64
    if (count <= 56) return take_short(count);
    const uint64_t low = take_short(32);
    return low | take_short(count - 32) << 32;
  }
  bool is_past_end() const { return at_ > end_; }
  uint64_t left() const { return is_past_end() ? 0 : end_ - at_; }
  size_t bytes_used() const { return (at_ + 7) / 8; }

 private:
  const uint8_t* data_;
  uint64_t end_;
  uint64_t at_ = 0;
};

}  // namespace gpusight::store
