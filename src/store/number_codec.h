// Columns of whole numbers as bytes, whatever they look like: standing still, stepping, counting,
// repeating, or mere noise. FORMAT.md, "Numbers", has the bytes.
//
// Both classes own scratch memory that grows to what the largest column needed; use one per thread.
// All arithmetic is modulo 2^64, so every column of numbers comes back as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/ans.h"
#include "store/bins.h"
#include "store/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gpusight::store {

// What of a number is packed: what is left of it when a simple guess is taken away.
enum class Guess : uint8_t {
  kNone,   // the number itself
  kStep,   // the number before
  kTrend,  // the number before, going on as it did
  kRamp,   // a straight line through the column
  kSwing,  // the two numbers before, each times a factor: what swings or leans back to a level
};

// Factors of the number before and of the one before that, in 256ths.
struct Swing {
  int64_t one = 0;
  int64_t two = 0;

  int64_t guess(int64_t before, int64_t before_that) const {
    const uint64_t sum = static_cast<uint64_t>(one) * static_cast<uint64_t>(before) +
                         static_cast<uint64_t>(two) * static_cast<uint64_t>(before_that);
    return static_cast<int64_t>(sum) >> 8;
  }
};

class NumberEncoder {
 public:
  NumberEncoder();
  // Appends to `out`. At most kMaxChunkRows numbers.
  void write(std::span<const int64_t> numbers, Bytes& out);
  // Roughly how many bits write() would need, judged by a few stretches. For choosing.
  double estimate_bits(std::span<const int64_t> numbers);

 private:
  struct Left {  // what a guess leaves
    Guess guess = Guess::kNone;
    int64_t first = 0;   // the first number; ramp: the slope
    int64_t second = 0;  // trend and swing: the first step
    Swing swing;
    std::vector<int64_t> numbers;
  };
  struct Line {  // what guesses need to know of a column
    int64_t slope = 0;
    std::optional<Swing> swing;  // where it says more than the number before alone
  };
  struct Shifted {  // what is left, from 0 up
    int64_t least = 0;
    uint64_t divisor = 1;
    uint64_t largest = 0;
    std::vector<uint64_t> numbers;
  };
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  static Line line_of(std::span<const int64_t> numbers);
  static int64_t left_at(std::span<const int64_t> numbers, size_t i, Guess guess, const Line& line);
  void write_stream(std::span<const int64_t> numbers, Bytes& out);
  void write_runs(std::span<const int64_t> numbers, size_t runs, Bytes& out);
  Guess choose_guess(std::span<const int64_t> numbers, const Line& line, double& bits);
  static void apply(const Line& line, Guess guess, std::span<const int64_t> numbers, Left& left);
  static void shift(const Left& left, Shifted& out);
  static void write_head(uint8_t tag, const Left& left, const Shifted& shifted, Bytes& out);
  void write_binned(const Left& left, const Shifted& shifted, Bytes& out);
  bool write_repeating(const Left& left, const Shifted& shifted, Bytes& out);
  bool repeats(std::span<const uint64_t> numbers);

  std::unique_ptr<ZSTD_CCtx_s, FreeContext> zstd_;
  AnsEncoder ans_;
  BinChooser chooser_;
  Bins bins_;
  Left left_;
  Left other_left_;
  Shifted shifted_;
  Shifted other_shifted_;
  std::vector<int64_t> sample_;
  std::vector<int64_t> run_numbers_;
  std::vector<int64_t> run_lengths_;
  std::vector<uint16_t> symbols_;
  std::vector<uint32_t> seen_;
  Bytes narrow_;
  Bytes candidate_;
};

class NumberDecoder {
 public:
  NumberDecoder();
  // Fills `numbers` from the front of `bytes` and takes off what it read. kCorrupt for anything
  // that NumberEncoder does not write.
  Status read(std::span<const uint8_t>& bytes, std::span<int64_t> numbers);

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  struct Range {  // of a bin
    uint64_t low = 0;
    uint64_t mask = 0;
    int bits = 0;
  };

  Status read_stream(ByteReader& reader, std::span<int64_t> numbers);
  Status read_runs(ByteReader& reader, std::span<int64_t> numbers);
  Status read_binned(ByteReader& reader, std::span<int64_t> numbers);
  Status read_repeating(ByteReader& reader, std::span<int64_t> numbers);
  Status read_distances(BitReader& reader, uint64_t least, uint64_t divisor,
                        std::span<int64_t> numbers);

  std::unique_ptr<ZSTD_DCtx_s, FreeContext> zstd_;
  AnsDecoder ans_;
  Bins bins_;
  std::vector<Range> ranges_;
  std::vector<uint16_t> symbols_;
  std::vector<int64_t> run_numbers_;
  std::vector<int64_t> run_lengths_;
  Bytes padded_;
  Bytes narrow_;
};

}  // namespace gpusight::store
