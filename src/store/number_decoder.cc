#include <zstd.h>

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "store/number_codec.h"
#include "store/number_format.h"

namespace gpusight::store {
namespace {

using number_format::given;
using number_format::guess_of;
using number_format::Kind;
using number_format::kind_of;

Status corrupt(const char* what) {
  return {Code::kCorrupt, std::string("packed numbers: ") + what};
}

struct Head {
  Guess guess = Guess::kNone;
  uint64_t first = 0;
  uint64_t second = 0;
  Swing swing;
  uint64_t least = 0;
  uint64_t divisor = 0;
};

bool read_signed(ByteReader& reader, uint64_t& number) {
  if (!reader.read(number)) return false;
  number = static_cast<uint64_t>(unzigzag(number));
  return true;
}

Result<Head> read_head(ByteReader& reader, uint8_t tag, size_t numbers) {
  Head head{.guess = guess_of(tag)};
  if (head.guess > Guess::kSwing) return corrupt("an unknown guess");
  if (numbers < given(head.guess)) return corrupt("a guess at too few");
  if (head.guess != Guess::kNone && !read_signed(reader, head.first)) return corrupt("end early");
  if (given(head.guess) == 2 && !read_signed(reader, head.second)) return corrupt("end early");
  if (head.guess == Guess::kSwing) {
    uint64_t one = 0;
    uint64_t two = 0;
    if (!read_signed(reader, one) || !read_signed(reader, two)) return corrupt("end early");
    head.swing = {.one = static_cast<int64_t>(one), .two = static_cast<int64_t>(two)};
  }
  if (!read_signed(reader, head.least) || !reader.read(head.divisor)) return corrupt("end early");
  return head;
}

// Puts back what the guess took away. The numbers after those given hold what was left.
void undo(const Head& head, std::span<int64_t> numbers) {
  uint64_t number = head.first;
  uint64_t step = head.second;
  switch (head.guess) {
    case Guess::kNone: return;
    case Guess::kRamp:
      for (size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<int64_t>(static_cast<uint64_t>(numbers[i]) + head.first * i);
      }
      return;
    case Guess::kStep:
      numbers[0] = static_cast<int64_t>(number);
      for (size_t i = 1; i < numbers.size(); ++i) {
        number += static_cast<uint64_t>(numbers[i]);
        numbers[i] = static_cast<int64_t>(number);
      }
      return;
    case Guess::kTrend:
      numbers[0] = static_cast<int64_t>(number);
      number += step;
      numbers[1] = static_cast<int64_t>(number);
      for (size_t i = 2; i < numbers.size(); ++i) {
        step += static_cast<uint64_t>(numbers[i]);
        number += step;
        numbers[i] = static_cast<int64_t>(number);
      }
      return;
    case Guess::kSwing: {
      int64_t before_that = numbers[0] = static_cast<int64_t>(number);
      int64_t before = numbers[1] = static_cast<int64_t>(number + step);
      for (size_t i = 2; i < numbers.size(); ++i) {
        const int64_t guessed = head.swing.guess(before, before_that);
        before_that = before;
        before = static_cast<int64_t>(static_cast<uint64_t>(numbers[i]) +
                                      static_cast<uint64_t>(guessed));
        numbers[i] = before;
      }
      return;
    }
  }
}

}  // namespace

void NumberDecoder::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

NumberDecoder::NumberDecoder() : zstd_(ZSTD_createDCtx()) {
  CHECK(zstd_ != nullptr, "memory for zstd");
}

Status NumberDecoder::read(std::span<const uint8_t>& bytes, std::span<int64_t> numbers) {
  // Bit by bit reading wants some bytes behind the end. A constant needs none of them.
  if (!bytes.empty() && kind_of(bytes[0]) == Kind::kConstant) {
    ByteReader reader(bytes);
    TRY(read_stream(reader, numbers));
    bytes = reader.rest();
    return {};
  }
  padded_.resize(bytes.size() + BitReader::kPadding);
  std::ranges::copy(bytes, padded_.begin());
  std::fill(padded_.begin() + static_cast<ptrdiff_t>(bytes.size()), padded_.end(), uint8_t{0});
  ByteReader reader(std::span<const uint8_t>(padded_).first(bytes.size()));
  const bool is_runs = !bytes.empty() && kind_of(bytes[0]) == Kind::kRuns;
  TRY(is_runs ? read_runs(reader, numbers) : read_stream(reader, numbers));
  bytes = bytes.last(reader.left());
  return {};
}

Status NumberDecoder::read_stream(ByteReader& reader, std::span<int64_t> numbers) {
  if (reader.at_end()) return corrupt("end early");
  switch (kind_of(reader.rest()[0])) {
    case Kind::kConstant: {
      reader.take(1);
      uint64_t number = 0;
      if (!read_signed(reader, number)) return corrupt("end early");
      std::ranges::fill(numbers, static_cast<int64_t>(number));
      return {};
    }
    case Kind::kRuns: return corrupt("runs of runs");
    case Kind::kBinned: return read_binned(reader, numbers);
    case Kind::kRepeating: return read_repeating(reader, numbers);
  }
  return {};
}

Status NumberDecoder::read_runs(ByteReader& reader, std::span<int64_t> numbers) {
  reader.take(1);
  uint64_t runs = 0;
  if (!reader.read(runs) || runs > numbers.size()) return corrupt("more runs than numbers");
  run_numbers_.resize(runs);
  run_lengths_.resize(runs);
  TRY(read_stream(reader, run_numbers_));
  TRY(read_stream(reader, run_lengths_));
  size_t at = 0;
  for (size_t i = 0; i < runs; ++i) {
    const auto length = static_cast<uint64_t>(run_lengths_[i]);
    if (length >= numbers.size() - at) return corrupt("a run beyond the end");
    std::fill_n(numbers.begin() + static_cast<ptrdiff_t>(at), length + 1, run_numbers_[i]);
    at += length + 1;
  }
  return at == numbers.size() ? Status() : corrupt("runs that end early");
}

Status NumberDecoder::read_binned(ByteReader& reader, std::span<int64_t> numbers) {
  const uint8_t tag = reader.take(1)[0];
  const Head head = TRY(read_head(reader, tag, numbers.size()));
  const auto left = numbers.subspan(given(head.guess));
  BitReader bits(reader.rest().data(), reader.left());
  TRY(read_bins(bits, bins_));
  reader.take(bits.bytes_used());

  symbols_.resize(left.size());
  if (bins_.bins.size() > 1) {
    bits = BitReader(reader.rest().data(), reader.left());
    ans_.set_up(bins_);
    ans_.begin(bits);
    constexpr size_t kTogether = 2048;
    for (size_t i = 0; i < symbols_.size(); i += kTogether) {
      ans_.read(bits, std::span(symbols_).subspan(i, std::min(kTogether, symbols_.size() - i)));
      if (bits.is_past_end()) return corrupt("end early");
    }
    reader.take(bits.bytes_used());
  } else {
    std::ranges::fill(symbols_, uint16_t{0});
  }
  bits = BitReader(reader.rest().data(), reader.left());
  TRY(read_distances(bits, head.least, head.divisor, left));
  reader.take(bits.bytes_used());
  undo(head, numbers);
  return {};
}

Status NumberDecoder::read_distances(BitReader& reader, uint64_t least, uint64_t divisor,
                                     std::span<int64_t> numbers) {
  ranges_.resize(bins_.bins.size());
  int widest = 0;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Bin& bin = bins_.bins[i];
    ranges_[i] = {.low = bin.low, .mask = low_bits(~uint64_t{0}, bin.bits), .bits = bin.bits};
    widest = std::max(widest, bin.bits);
  }
  const Range* const ranges = ranges_.data();
  constexpr size_t kTogether = 256;  // of 64 bits each, half of what the reader allows
  for (size_t i = 0; i < numbers.size();) {
    const size_t end = std::min(i + kTogether, numbers.size());
    if (widest <= 14) {
      // One look is enough for four.
      for (; i + 4 <= end; i += 4) {
        const Range& a = ranges[symbols_[i]];
        const Range& b = ranges[symbols_[i + 1]];
        const Range& c = ranges[symbols_[i + 2]];
        const Range& d = ranges[symbols_[i + 3]];
        uint64_t bits = reader.peek();
        numbers[i] = static_cast<int64_t>(least + (a.low + (bits & a.mask)) * divisor);
        bits >>= a.bits;
        numbers[i + 1] = static_cast<int64_t>(least + (b.low + (bits & b.mask)) * divisor);
        bits >>= b.bits;
        numbers[i + 2] = static_cast<int64_t>(least + (c.low + (bits & c.mask)) * divisor);
        bits >>= c.bits;
        numbers[i + 3] = static_cast<int64_t>(least + (d.low + (bits & d.mask)) * divisor);
        reader.skip(a.bits + b.bits + c.bits + d.bits);
      }
    }
    if (widest <= 57) {
      for (; i < end; ++i) {
        const Range& range = ranges[symbols_[i]];
        const uint64_t number = range.low + (reader.peek() & range.mask);
        reader.skip(range.bits);
        numbers[i] = static_cast<int64_t>(least + number * divisor);
      }
    } else {
      for (; i < end; ++i) {
        const Range& range = ranges[symbols_[i]];
        numbers[i] = static_cast<int64_t>(least + (range.low + reader.take(range.bits)) * divisor);
      }
    }
    if (reader.is_past_end()) return corrupt("end early");
  }
  return {};
}

Status NumberDecoder::read_repeating(ByteReader& reader, std::span<int64_t> numbers) {
  const uint8_t tag = reader.take(1)[0];
  const Head head = TRY(read_head(reader, tag, numbers.size()));
  const auto left = numbers.subspan(given(head.guess));
  if (reader.left() < 5) return corrupt("end early");
  const size_t width = reader.take(1)[0];
  if (width > 8 || !std::has_single_bit(width)) return corrupt("a width");
  size_t size = 0;
  for (int k = 0; k < 4; ++k) size |= size_t{reader.rest()[static_cast<size_t>(k)]} << (8 * k);
  reader.take(4);
  if (size > reader.left()) return corrupt("end early");
  const auto packed = reader.take(size);
  narrow_.resize(left.size() * width + 8);
  const size_t unpacked = ZSTD_decompressDCtx(zstd_.get(), narrow_.data(), left.size() * width,
                                              packed.data(), packed.size());
  if (ZSTD_isError(unpacked) != 0 || unpacked != left.size() * width) return corrupt("zstd");
  for (size_t i = 0; i < left.size(); ++i) {
    const uint64_t number = low_bits(load_le64(&narrow_[i * width]), static_cast<int>(8 * width));
    left[i] = static_cast<int64_t>(head.least + number * head.divisor);
  }
  undo(head, numbers);
  return {};
}

}  // namespace gpusight::store
