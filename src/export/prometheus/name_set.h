// Under whose names readings are served: gpusight's own, or those that dashboards and rules made
// for another exporter ask for. Plain values, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpusight::prometheus {

enum class NameSet : uint8_t {
  kGpusight,
  kDcgm,       // dcgm-exporter, names before DCGM 4.6
  kDcgm46,     // the same with the names of DCGM 4.6
  kNvidiaSmi,  // nvidia_gpu_exporter
};
inline constexpr size_t kNameSetCount = 4;

std::string_view name_set_key(NameSet set);  // "gpusight", "dcgm", "dcgm46", "nvidia_smi"
std::string name_set_keys();                 // all of them, by commas

// Any of them together; never none.
class NameSets {
 public:
  constexpr NameSets() : NameSets(NameSet::kGpusight) {}
  constexpr NameSets(NameSet set) : bits_(bit(set)) {}  // NOLINT: implicit on purpose

  constexpr bool has(NameSet set) const { return (bits_ & bit(set)) != 0; }
  constexpr NameSets with(NameSet set) const {
    NameSets both = *this;
    both.bits_ |= bit(set);
    return both;
  }
  constexpr bool is_only(NameSet set) const { return bits_ == bit(set); }
  // Below kCombinations, another for every other combination.
  constexpr size_t number() const { return bits_; }
  static constexpr size_t kCombinations = size_t{1} << kNameSetCount;

  constexpr bool operator==(const NameSets&) const = default;

 private:
  static constexpr uint8_t bit(NameSet set) {
    return static_cast<uint8_t>(1U << static_cast<unsigned>(set));
  }
  uint8_t bits_;
};

// Keys, by commas within one text or as several texts, in any order; again is the same as once.
// What is none of them is an error that says which there are.
Result<NameSets> parse_name_sets(std::span<const std::string> texts);

}  // namespace gpusight::prometheus
