// Bytes, and the numbers of any length that packed history is made of.
//
// varint: seven bits a byte, lowest first, the high bit set on all but the last, at most ten bytes.
// zigzag: signed numbers as unsigned ones, small ones first: 0, -1, 1, -2, 2 … as 0, 1, 2, 3, 4 …
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpusight::store {

using Bytes = std::vector<uint8_t>;

inline void write_varint(Bytes& out, uint64_t number) {
  while (number >= 0x80) {
    out.push_back(static_cast<uint8_t>(number | 0x80));
    number >>= 7;
  }
  out.push_back(static_cast<uint8_t>(number));
}

constexpr uint64_t zigzag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
constexpr int64_t unzigzag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

// Reads off the front of bytes, which must outlive it.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }
  std::span<const uint8_t> rest() const { return rest_; }

  // False when there is no varint; the number then means nothing.
  bool read(uint64_t& number) {
    number = 0;
    for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const uint64_t bits = rest_[i] & 0x7f;
      if (i == 9 && bits > 1) return false;
      number |= bits << (7 * i);
      if ((rest_[i] & 0x80) == 0) {
        rest_ = rest_.subspan(i + 1);
        return true;
      }
    }
    return false;
  }

  // At most as many as are left.
  std::span<const uint8_t> take(size_t size) {
    const auto front = rest_.first(size);
    rest_ = rest_.subspan(size);
    return front;
  }

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace gpusight::store
