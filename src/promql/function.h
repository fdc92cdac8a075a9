// The functions of PromQL: one row each, with what they take and give. The parser checks calls
// against it; range_functions.h and instant_functions.h hold what they do.
//
// Source: the functions page of Prometheus 3's query documentation. Stable ones over floats and
// classic histograms are built; the others are known by name, so that a query with one is refused
// with the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpusight::promql {

enum class ValueType : uint8_t { kScalar, kString, kVector, kMatrix };
// As Prometheus writes it: "scalar", "string", "instant vector", "range vector".
std::string_view name_of(ValueType type);

struct Function {
  enum class Standing : uint8_t {
    kBuilt,
    kExperimental,     // Prometheus has it behind a flag
    kNativeHistogram,  // works on native histograms only, which are not stored here
  };
  std::string_view name;
  std::vector<ValueType> args;
  // Arguments beyond the first args.size() - 1 or fewer: 0 none; n > 0: the last n of args may be
  // left out; -1: the last of args is repeated zero or more times.
  int variadic = 0;
  ValueType returns = ValueType::kVector;
  Standing standing = Standing::kBuilt;
};

// Sorted by name.
std::span<const Function> functions();
const Function* find_function(std::string_view name);  // nullptr: no such function

}  // namespace gpusight::promql
