#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "store/number_codec.h"
#include "store/number_format.h"

namespace gpusight::store {
namespace {

using number_format::given;
using number_format::Kind;
using number_format::tag;

// Beyond it zstd gains little on columns like ours and takes twice the time.
constexpr int kZstdLevel = 6;
// Guesses are judged by a few stretches that are a sixteenth of the column, within these bounds.
constexpr size_t kStretches = 4;
constexpr size_t kShortestStretch = 64;
constexpr size_t kLongestStretch = 128;
// Where at most so many of a hundred numbers differ from the one before, runs are tried, or taken.
constexpr size_t kRunsTried = 75;
constexpr size_t kRunsTaken = 6;

uint64_t bits_of(int64_t number) { return static_cast<uint64_t>(number); }
int64_t minus(int64_t a, int64_t b) { return static_cast<int64_t>(bits_of(a) - bits_of(b)); }

// To the nearest: a slope that is one too flat costs more than the noise around it.
int64_t slope_of(std::span<const int64_t> numbers) {
  if (numbers.size() < 2) return 0;
  const auto steps = static_cast<int64_t>(numbers.size() - 1);
  const int64_t climb = minus(numbers.back(), numbers.front());
  const int64_t rest = climb % steps;
  return climb / steps + (2 * rest >= steps ? 1 : 2 * rest <= -steps ? -1 : 0);
}

size_t count_runs(std::span<const int64_t> numbers) {
  size_t runs = numbers.empty() ? 0 : 1;
  for (size_t i = 1; i < numbers.size(); ++i) runs += numbers[i] != numbers[i - 1];
  return runs;
}

// Calls `each` with the first and last + 1 position of the stretches that speak for a column.
template <typename Each>
void for_each_stretch(size_t count, const Each& each) {
  const size_t length = std::clamp(count / 16 / kStretches, kShortestStretch, kLongestStretch);
  if (count <= kStretches * length) return each(size_t{0}, count);
  for (size_t k = 0; k < kStretches; ++k) {
    const size_t begin = k * (count - length) / (kStretches - 1);
    each(begin, begin + length);
  }
}

// The swing that leaves least of the numbers, by least squares over the stretches; none where it
// does not leave clearly less than the number itself and its step.
std::optional<Swing> swing_of(std::span<const int64_t> numbers) {
  constexpr double kClearly = 0.9;
  constexpr double kLargest = 8;  // no factor of something that stays within bounds is beyond it
  double n = 0, sums[3] = {}, products[3][3] = {}, steps = 0, steps_squared = 0;
  for_each_stretch(numbers.size(), [&](size_t begin, size_t end) {
    for (size_t i = std::max<size_t>(begin, 2); i < end; ++i) {
      double x[3];
      for (size_t k = 0; k < 3; ++k) {
        x[k] = static_cast<double>(minus(numbers[i - k], numbers.front()));
      }
      n += 1;
      steps += x[0] - x[1];
      steps_squared += (x[0] - x[1]) * (x[0] - x[1]);
      for (size_t k = 0; k < 3; ++k) {
        sums[k] += x[k];
        for (size_t m = k; m < 3; ++m) products[k][m] += x[k] * x[m];
      }
    }
  });
  if (n < 16) return std::nullopt;
  const auto covariance = [&](size_t k, size_t m) {
    return products[k][m] - sums[k] * sums[m] / n;
  };
  const double yy = covariance(0, 0), y1 = covariance(0, 1), y2 = covariance(0, 2);
  const double x11 = covariance(1, 1), x12 = covariance(1, 2), x22 = covariance(2, 2);
  const double determinant = x11 * x22 - x12 * x12;
  if (!(determinant > 1e-9 * x11 * x22)) return std::nullopt;
  const double one = (y1 * x22 - y2 * x12) / determinant;
  const double two = (y2 * x11 - y1 * x12) / determinant;
  const double left = yy - one * y1 - two * y2;
  const double left_of_step = steps_squared - steps * steps / n;
  if (!(left < kClearly * std::min(yy, left_of_step))) return std::nullopt;
  if (!(std::fabs(one) < kLargest && std::fabs(two) < kLargest)) return std::nullopt;
  return Swing{.one = std::llround(one * 256), .two = std::llround(two * 256)};
}

}  // namespace

NumberEncoder::Line NumberEncoder::line_of(std::span<const int64_t> numbers) {
  return {.slope = slope_of(numbers), .swing = swing_of(numbers)};
}

// What the guess leaves of number i, which is one that it covers.
int64_t NumberEncoder::left_at(std::span<const int64_t> numbers, size_t i, Guess guess,
                               const Line& line) {
  switch (guess) {
    case Guess::kNone: return numbers[i];
    case Guess::kStep: return minus(numbers[i], numbers[i - 1]);
    case Guess::kTrend:
      return minus(minus(numbers[i], numbers[i - 1]), minus(numbers[i - 1], numbers[i - 2]));
    case Guess::kRamp:
      return static_cast<int64_t>(bits_of(numbers[i]) - bits_of(line.slope) * uint64_t{i});
    case Guess::kSwing: return minus(numbers[i], line.swing->guess(numbers[i - 1], numbers[i - 2]));
  }
  return 0;
}

void NumberEncoder::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

NumberEncoder::NumberEncoder() : zstd_(ZSTD_createCCtx()) {
  CHECK(zstd_ != nullptr, "memory for zstd");
  ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, kZstdLevel);
  // Sizes and sums are ours.
  ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_checksumFlag, 0);
}

void NumberEncoder::write(std::span<const int64_t> numbers, Bytes& out) {
  const size_t runs = count_runs(numbers);
  if (runs <= 1) {
    out.push_back(tag(Kind::kConstant, Guess::kNone));
    write_varint(out, zigzag(numbers.empty() ? 0 : numbers.front()));
    return;
  }
  if (runs * 100 > numbers.size() * kRunsTried) return write_stream(numbers, out);
  const size_t begin = out.size();
  write_runs(numbers, runs, out);
  if (runs * 100 <= numbers.size() * kRunsTaken) return;
  Bytes as_stream;
  write_stream(numbers, as_stream);
  if (as_stream.size() >= out.size() - begin) return;
  out.resize(begin);
  out.insert(out.end(), as_stream.begin(), as_stream.end());
}

double NumberEncoder::estimate_bits(std::span<const int64_t> numbers) {
  double bits = 0;
  choose_guess(numbers, line_of(numbers), bits);
  return bits;
}

void NumberEncoder::write_runs(std::span<const int64_t> numbers, size_t runs, Bytes& out) {
  run_numbers_.clear();
  run_lengths_.clear();
  size_t begin = 0;
  for (size_t i = 1; i <= numbers.size(); ++i) {
    if (i < numbers.size() && numbers[i] == numbers[begin]) continue;
    run_numbers_.push_back(numbers[begin]);
    run_lengths_.push_back(static_cast<int64_t>(i - begin - 1));
    begin = i;
  }
  out.push_back(tag(Kind::kRuns, Guess::kNone));
  write_varint(out, runs);
  for (const auto* part : {&run_numbers_, &run_lengths_}) {
    if (count_runs(*part) == 1) {
      out.push_back(tag(Kind::kConstant, Guess::kNone));
      write_varint(out, zigzag(part->front()));
    } else {
      write_stream(*part, out);
    }
  }
}

Guess NumberEncoder::choose_guess(std::span<const int64_t> numbers, const Line& line,
                                  double& bits) {
  Guess best = Guess::kNone;
  bits = 0;
  for (const Guess guess :
       {Guess::kNone, Guess::kStep, Guess::kSwing, Guess::kTrend, Guess::kRamp}) {
    if (numbers.size() < 4 && guess != Guess::kNone) continue;
    if (guess == Guess::kSwing && !line.swing) continue;
    // What does not go on from number to number has no trend either.
    if (guess == Guess::kTrend && best == Guess::kNone) break;
    sample_.clear();
    for_each_stretch(numbers.size(), [&](size_t begin, size_t end) {
      for (size_t i = std::max(begin, given(guess)); i < end; ++i) {
        sample_.push_back(left_at(numbers, i, guess, line));
      }
    });
    const int64_t least = *std::ranges::min_element(sample_);
    shifted_.numbers.clear();
    for (const int64_t number : sample_) shifted_.numbers.push_back(bits_of(minus(number, least)));
    const double share = static_cast<double>(sample_.size()) / static_cast<double>(numbers.size());
    const double guessed = choose_tree(shifted_.numbers, share, chooser_) / share;
    // The plain number is what repeats best, so it wins when others gain next to nothing.
    if (guess == Guess::kNone || guessed < bits * 0.99) {
      best = guess;
      bits = guessed;
    }
  }
  return best;
}

void NumberEncoder::apply(const Line& line, Guess guess, std::span<const int64_t> numbers,
                          Left& left) {
  left.guess = guess;
  left.first = guess == Guess::kRamp ? line.slope : numbers[0];
  left.second = given(guess) == 2 ? minus(numbers[1], numbers[0]) : 0;
  left.swing = line.swing.value_or(Swing{});
  left.numbers.resize(numbers.size() - given(guess));
  for (size_t i = 0; i < left.numbers.size(); ++i) {
    left.numbers[i] = left_at(numbers, i + given(guess), guess, line);
  }
}

void NumberEncoder::shift(const Left& left, Shifted& out) {
  const auto [least, most] = std::ranges::minmax_element(left.numbers);
  out.least = *least;
  const uint64_t largest = bits_of(minus(*most, *least));
  out.numbers.resize(left.numbers.size());
  uint64_t divisor = largest;
  for (size_t i = 0; i < left.numbers.size(); ++i) {
    const uint64_t number = bits_of(minus(left.numbers[i], out.least));
    out.numbers[i] = number;
    if (divisor > 1 && number % divisor != 0) divisor = std::gcd(divisor, number);
  }
  out.divisor = std::max<uint64_t>(divisor, 1);
  out.largest = largest / out.divisor;
  if (out.divisor == 1) return;
  for (uint64_t& number : out.numbers) number /= out.divisor;
}

void NumberEncoder::write_stream(std::span<const int64_t> numbers, Bytes& out) {
  double bits = 0;
  const Line line = line_of(numbers);
  apply(line, choose_guess(numbers, line, bits), numbers, left_);
  shift(left_, shifted_);
  const size_t begin = out.size();
  write_binned(left_, shifted_, out);
  const auto take_if_shorter = [&] {
    if (candidate_.size() >= out.size() - begin) return;
    out.resize(begin);
    out.insert(out.end(), candidate_.begin(), candidate_.end());
  };
  if (repeats(shifted_.numbers) && write_repeating(left_, shifted_, candidate_)) take_if_shorter();
  if (left_.guess == Guess::kNone) return;
  apply(line, Guess::kNone, numbers, other_left_);
  if (!repeats(std::span(reinterpret_cast<const uint64_t*>(numbers.data()), numbers.size())))
    return;
  shift(other_left_, other_shifted_);
  if (write_repeating(other_left_, other_shifted_, candidate_)) take_if_shorter();
}

void NumberEncoder::write_head(uint8_t tag, const Left& left, const Shifted& shifted, Bytes& out) {
  out.push_back(tag);
  if (left.guess != Guess::kNone) write_varint(out, zigzag(left.first));
  if (given(left.guess) == 2) write_varint(out, zigzag(left.second));
  if (left.guess == Guess::kSwing) {
    write_varint(out, zigzag(left.swing.one));
    write_varint(out, zigzag(left.swing.two));
  }
  write_varint(out, zigzag(shifted.least));
  write_varint(out, shifted.divisor);
}

void NumberEncoder::write_binned(const Left& left, const Shifted& shifted, Bytes& out) {
  write_head(tag(Kind::kBinned, left.guess), left, shifted, out);
  choose_bins(shifted.numbers, chooser_, bins_);
  write_bins(bins_, chooser_, out);
  const std::vector<Bin>& bins = bins_.bins;

  // Where the search for a number's bin begins, by the number's highest bits.
  constexpr int kIndexBits = 11;
  const int dropped = std::max(0, bins_.bits - kIndexBits);
  std::array<uint16_t, (size_t{1} << kIndexBits) + 1> first{};
  uint16_t bin = 0;
  for (size_t slot = 0; slot <= (shifted.largest >> dropped); ++slot) {
    while (bin + 1u < bins.size() && bins[bin + 1].low <= uint64_t{slot} << dropped) ++bin;
    first[slot] = bin;
  }
  symbols_.resize(shifted.numbers.size());
  uint64_t distance_bits = 0;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const uint64_t number = shifted.numbers[i];
    uint16_t at = first[number >> dropped];
    while (at + 1u < bins.size() && bins[at + 1].low <= number) ++at;
    symbols_[i] = at;
    distance_bits += static_cast<uint64_t>(bins[at].bits);
  }
  if (bins.size() > 1) {
    ans_.set_up(bins_);
    ans_.write(symbols_, out);
  }
  BitWriter writer(out, distance_bits);
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const Bin& in = bins[symbols_[i]];
    writer.put(shifted.numbers[i] - in.low, in.bits);
  }
  writer.finish();
}

// Whether many stretches of a few numbers have been there before.
bool NumberEncoder::repeats(std::span<const uint64_t> numbers) {
  constexpr size_t kLooked = 4096;
  constexpr size_t kTogether = 4;
  constexpr int kSlotBits = 12;
  if (numbers.size() < 64) return false;
  const size_t count = std::min(numbers.size(), kLooked) - kTogether;
  seen_.assign(size_t{1} << kSlotBits, 0);
  size_t hits = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t hash = 0;
    for (size_t k = 0; k < kTogether; ++k) {
      hash = (hash ^ numbers[i + k]) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29;
    }
    uint32_t& seen = seen_[hash >> (64 - kSlotBits)];
    if (seen > 0 && std::equal(&numbers[i], &numbers[i] + kTogether, &numbers[seen - 1])) ++hits;
    seen = static_cast<uint32_t>(i + 1);
  }
  return hits * 4 > count;
}

bool NumberEncoder::write_repeating(const Left& left, const Shifted& shifted, Bytes& out) {
  const size_t width = number_format::width_of(shifted.largest);
  narrow_.resize(shifted.numbers.size() * width + 8);
  for (size_t i = 0; i < shifted.numbers.size(); ++i) {
    store_le64(&narrow_[i * width], shifted.numbers[i]);
  }
  narrow_.resize(shifted.numbers.size() * width);
  out.clear();
  write_head(tag(Kind::kRepeating, left.guess), left, shifted, out);
  out.push_back(static_cast<uint8_t>(width));
  const size_t head = out.size();
  out.resize(head + 4 + ZSTD_compressBound(narrow_.size()));
  const size_t size = ZSTD_compress2(zstd_.get(), &out[head + 4], out.size() - head - 4,
                                     narrow_.data(), narrow_.size());
  if (ZSTD_isError(size) != 0) return false;
  for (int k = 0; k < 4; ++k) out[head + k] = static_cast<uint8_t>(size >> (8 * k));
  out.resize(head + 4 + size);
  return true;
}

}  // namespace gpusight::store
