// Numbers below 2^64 parted into bins: stretches of a power of two in which they are about equally
// likely. A number is then the bin it lies in, at the price of the bin's rarity (store/ans.h), and
// its distance from the bin's low end, in as many bits as the bin is wide.
//
// Bins are the leaves of a tree: the root holds all numbers below 2^bits, and a node is a leaf or
// halves. Of all such trees choose_bins() takes the one that makes the numbers and the tree itself
// shortest.
//
//   bins := bits:7 weight_bits:4 node
//   node := 1 node node              lower half, upper half
//         | 0 length:4 weight:length-1    a leaf: a number of `length` bits, its highest 1 left
//         out;
//                                    length 0 is 0: no numbers lie there. Weights add up to
//                                    2^weight_bits.
//
// Plain functions and values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/bit_stream.h"

namespace gpusight::store {

inline constexpr int kMostWeightBits = 12;

struct Bin {
  uint64_t low = 0;
  int bits = 0;         // it holds low … low + 2^bits - 1
  uint32_t weight = 0;  // its share in 2^weight_bits, at least 1
};

struct Bins {
  int bits = 0;
  int weight_bits = 0;
  std::vector<Bin> bins;  // ascending
};

// Scratch memory of choose_bins(); reuse it. `nodes` is the tree in the order of write_bins().
struct BinChooser {
  struct Node {
    uint64_t low = 0;
    int bits = 0;
    uint32_t count = 0;
    bool is_leaf = true;
    uint32_t weight = 0;
  };
  std::vector<uint64_t> sorted;
  std::vector<uint64_t> swap;
  std::vector<Node> nodes;
};

// Bits that `numbers` would take, with the bins' own bits counted at `share` of them: 1 for the
// whole truth, less where `numbers` are only a sample. Leaves the tree in `chooser`.
double choose_tree(std::span<const uint64_t> numbers, double share, BinChooser& chooser);
// `numbers` is not empty. The tree stays in `chooser` for write_bins().
void choose_bins(std::span<const uint64_t> numbers, BinChooser& chooser, Bins& out);
void write_bins(const Bins& bins, const BinChooser& chooser, Bytes& out);
// Reads on from `reader`; its padding is as BitReader wants it.
Status read_bins(BitReader& reader, Bins& out);

}  // namespace gpusight::store
