#include "store/bins.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gpusight::store {
namespace {

constexpr int kLengthBits = 4;
constexpr double kEmptyBits = 1 + kLengthBits;
constexpr double kLeafBits = 1 + kLengthBits + 6;  // a weight has about seven bits
constexpr double kSplitBits = 1;
constexpr uint32_t kMostBins = 1024;
static_assert(kMostWeightBits + 1 < 1 << kLengthBits, "a weight's length fits");

// Within 0.0002; costs are compared, so that is enough.
double log2_of(uint32_t number) {
  static constexpr auto kTable = [] {  // log2(1 + i / 64), by squaring
    std::array<double, 65> table{};
    for (int i = 0; i <= 64; ++i) {
      double x = 1 + i / 64.0;
      double result = 0;
      double bit = 1;
      for (int k = 0; k < 30; ++k) {
        x *= x;
        bit /= 2;
        if (x >= 2) {
          x /= 2;
          result += bit;
        }
      }
      table[i] = result;
    }
    table[64] = 1;
    return table;
  }();
  const int whole = std::bit_width(number) - 1;
  const double rest = (static_cast<double>(number) / static_cast<double>(1u << whole) - 1) * 64;
  const int slot = static_cast<int>(rest);
  const double between = rest - slot;
  return whole + kTable[slot] + (slot < 64 ? between * (kTable[slot + 1] - kTable[slot]) : 0);
}

void sort_by_digits(std::vector<uint64_t>& numbers, std::vector<uint64_t>& swap, int bits) {
  constexpr int kDigitBits = 11;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  swap.resize(numbers.size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    std::array<uint32_t, kDigits> starts{};
    for (const uint64_t number : numbers) ++starts[number >> shift & (kDigits - 1)];
    uint32_t sum = 0;
    for (uint32_t& start : starts) sum += std::exchange(start, sum);
    for (const uint64_t number : numbers) {
      swap[starts[number >> shift & (kDigits - 1)]++] = number;
    }
    numbers.swap(swap);
  }
}

// The best tree over the sorted numbers, node by node.
class TreeBuilder {
 public:
  TreeBuilder(BinChooser& chooser, double share)
      : numbers_(chooser.sorted),
        nodes_(chooser.nodes),
        share_(share),
        log2_all_(log2_of(static_cast<uint32_t>(numbers_.size()))),
        least_(static_cast<uint32_t>(numbers_.size() / kMostBins)) {
    nodes_.clear();
  }

  double build(int bits) { return build(0, static_cast<uint32_t>(numbers_.size()), 0, bits); }

 private:
  double build(uint32_t begin, uint32_t end, uint64_t low, int bits) {
    const uint32_t count = end - begin;
    const size_t index = nodes_.size();
    nodes_.push_back({.low = low, .bits = bits, .count = count});
    if (count == 0) return kEmptyBits * share_;
    const double as_leaf = count * (bits + log2_all_ - log2_of(count)) + kLeafBits * share_;
    if (bits == 0 || count <= least_ || count == 1 || count * bits <= 2 * kLeafBits * share_) {
      return as_leaf;
    }
    const uint64_t middle = low + (uint64_t{1} << (bits - 1));
    const auto at = std::lower_bound(numbers_.begin() + begin, numbers_.begin() + end, middle);
    const auto part = static_cast<uint32_t>(at - numbers_.begin());
    nodes_[index].is_leaf = false;
    const double as_halves = kSplitBits * share_ + build(begin, part, low, bits - 1) +
                             build(part, end, middle, bits - 1);
    if (as_halves < as_leaf) return as_halves;
    nodes_.resize(index + 1);
    nodes_[index].is_leaf = true;
    return as_leaf;
  }

  const std::vector<uint64_t>& numbers_;
  std::vector<BinChooser::Node>& nodes_;
  const double share_;
  const double log2_all_;
  const uint32_t least_;
};

// Weights near the counts that add up to exactly 2^weight_bits, each at least 1.
void set_weights(Bins& out, std::span<const uint32_t> counts, uint64_t all) {
  const uint64_t total = uint64_t{1} << out.weight_bits;
  int64_t missing = static_cast<int64_t>(total);
  for (size_t i = 0; i < counts.size(); ++i) {
    out.bins[i].weight =
        static_cast<uint32_t>(std::max<uint64_t>(1, (counts[i] * total + all / 2) / all));
    missing -= out.bins[i].weight;
  }
  // What rounding left goes to, or comes from, the heaviest: there it hurts least.
  while (missing != 0) {
    const auto heaviest = std::ranges::max_element(out.bins, {}, &Bin::weight);
    const int64_t change =
        missing > 0 ? missing
                    : std::max<int64_t>(missing, -int64_t{std::max(1u, heaviest->weight / 8)});
    heaviest->weight = static_cast<uint32_t>(heaviest->weight + change);
    missing -= change;
  }
}

Status corrupt(const char* what) { return {Code::kCorrupt, std::string("packed bins: ") + what}; }

Status read_node(BitReader& reader, uint64_t low, int bits, uint64_t& total, Bins& out) {
  if (reader.is_past_end()) return corrupt("end early");
  if (reader.take_short(1) == 1) {
    if (bits == 0) return corrupt("a single number in halves");
    TRY(read_node(reader, low, bits - 1, total, out));
    return read_node(reader, low + (uint64_t{1} << (bits - 1)), bits - 1, total, out);
  }
  const auto length = static_cast<int>(reader.take_short(kLengthBits));
  if (length == 0) return {};
  const uint64_t weight = uint64_t{1} << (length - 1) | reader.take_short(length - 1);
  total += weight;
  if (total > uint64_t{1} << out.weight_bits) return corrupt("weights beyond their sum");
  out.bins.push_back({.low = low, .bits = bits, .weight = static_cast<uint32_t>(weight)});
  return {};
}

}  // namespace

double choose_tree(std::span<const uint64_t> numbers, double share, BinChooser& chooser) {
  chooser.sorted.assign(numbers.begin(), numbers.end());
  uint64_t any = 0;
  for (const uint64_t number : numbers) any |= number;
  const int bits = std::bit_width(any);
  constexpr size_t kFew = 128;
  if (numbers.size() < kFew) {
    std::ranges::sort(chooser.sorted);
  } else {
    sort_by_digits(chooser.sorted, chooser.swap, bits);
  }
  return TreeBuilder(chooser, share).build(bits);
}

void choose_bins(std::span<const uint64_t> numbers, BinChooser& chooser, Bins& out) {
  choose_tree(numbers, 1, chooser);
  out.bins.clear();
  out.bits = chooser.nodes.front().bits;
  std::vector<uint32_t> counts;
  for (const auto& node : chooser.nodes) {
    if (!node.is_leaf || node.count == 0) continue;
    out.bins.push_back({.low = node.low, .bits = node.bits});
    counts.push_back(node.count);
  }
  // Eight times as fine as there are bins, and not finer than the numbers are many: a reader sets
  // up as many states.
  const int wanted = std::bit_width(out.bins.size()) + 3;
  const int useful = std::bit_width(numbers.size()) - 1;
  const int least = std::bit_width(out.bins.size());
  out.weight_bits =
      out.bins.size() == 1
          ? 0
          : std::clamp(std::max(std::min(std::max(wanted, 10), useful), least), 1, kMostWeightBits);
  set_weights(out, counts, numbers.size());
  size_t next = 0;
  for (auto& node : chooser.nodes) {
    if (node.is_leaf && node.count > 0) node.weight = out.bins[next++].weight;
  }
}

void write_bins(const Bins& bins, const BinChooser& chooser, Bytes& out) {
  BitWriter writer(out, 11 + chooser.nodes.size() * (1 + kLengthBits + kMostWeightBits));
  writer.put_short(static_cast<uint64_t>(bins.bits), 7);
  writer.put_short(static_cast<uint64_t>(bins.weight_bits), kLengthBits);
  for (const auto& node : chooser.nodes) {
    writer.put_short(node.is_leaf ? 0 : 1, 1);
    if (!node.is_leaf) continue;
    const int length = std::bit_width(node.weight);
    writer.put_short(static_cast<uint64_t>(length), kLengthBits);
    if (length > 1) writer.put_short(low_bits(node.weight, length - 1), length - 1);
  }
  writer.finish();
}

Status read_bins(BitReader& reader, Bins& out) {
  out.bins.clear();
  out.bits = static_cast<int>(reader.take_short(7));
  out.weight_bits = static_cast<int>(reader.take_short(kLengthBits));
  if (out.bits > 64 || out.weight_bits > kMostWeightBits) return corrupt("their size");
  uint64_t total = 0;
  TRY(read_node(reader, 0, out.bits, total, out));
  if (reader.is_past_end()) return corrupt("end early");
  if (total != uint64_t{1} << out.weight_bits) return corrupt("weights that do not add up");
  return {};
}

}  // namespace gpusight::store
