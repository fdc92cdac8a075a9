#include "promql/function.h"

#include <algorithm>
#include <array>

namespace gpusight::promql {
namespace {

constexpr ValueType kScalar = ValueType::kScalar;
constexpr ValueType kString = ValueType::kString;
constexpr ValueType kVector = ValueType::kVector;
constexpr ValueType kMatrix = ValueType::kMatrix;
constexpr Function::Standing kBuilt = Function::Standing::kBuilt;
constexpr Function::Standing kExperimental = Function::Standing::kExperimental;
constexpr Function::Standing kNativeHistogram = Function::Standing::kNativeHistogram;

// name, arguments, how many of them may be left out (-1: the last repeats), result, standing.
// clang-format off
const std::array kFunctions = {
    Function{"abs", {kVector}, 0, kVector, kBuilt},
    Function{"absent", {kVector}, 0, kVector, kBuilt},
    Function{"absent_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"acos", {kVector}, 0, kVector, kBuilt},
    Function{"acosh", {kVector}, 0, kVector, kBuilt},
    Function{"asin", {kVector}, 0, kVector, kBuilt},
    Function{"asinh", {kVector}, 0, kVector, kBuilt},
    Function{"atan", {kVector}, 0, kVector, kBuilt},
    Function{"atanh", {kVector}, 0, kVector, kBuilt},
    Function{"avg_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"ceil", {kVector}, 0, kVector, kBuilt},
    Function{"changes", {kMatrix}, 0, kVector, kBuilt},
    Function{"clamp", {kVector, kScalar, kScalar}, 0, kVector, kBuilt},
    Function{"clamp_max", {kVector, kScalar}, 0, kVector, kBuilt},
    Function{"clamp_min", {kVector, kScalar}, 0, kVector, kBuilt},
    Function{"cos", {kVector}, 0, kVector, kBuilt},
    Function{"cosh", {kVector}, 0, kVector, kBuilt},
    Function{"count_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"day_of_month", {kVector}, 1, kVector, kBuilt},
    Function{"day_of_week", {kVector}, 1, kVector, kBuilt},
    Function{"day_of_year", {kVector}, 1, kVector, kBuilt},
    Function{"days_in_month", {kVector}, 1, kVector, kBuilt},
    Function{"deg", {kVector}, 0, kVector, kBuilt},
    Function{"delta", {kMatrix}, 0, kVector, kBuilt},
    Function{"deriv", {kMatrix}, 0, kVector, kBuilt},
    Function{"double_exponential_smoothing", {kMatrix, kScalar, kScalar}, 0, kVector, kExperimental},
    Function{"end", {}, 0, kScalar, kExperimental},
    Function{"exp", {kVector}, 0, kVector, kBuilt},
    Function{"first_over_time", {kMatrix}, 0, kVector, kExperimental},
    Function{"floor", {kVector}, 0, kVector, kBuilt},
    Function{"histogram_avg", {kVector}, 0, kVector, kNativeHistogram},
    Function{"histogram_count", {kVector}, 0, kVector, kNativeHistogram},
    Function{"histogram_fraction", {kScalar, kScalar, kVector}, 0, kVector, kBuilt},
    Function{"histogram_quantile", {kScalar, kVector}, 0, kVector, kBuilt},
    Function{"histogram_quantiles", {kVector, kString, kScalar}, -1, kVector, kExperimental},
    Function{"histogram_stddev", {kVector}, 0, kVector, kNativeHistogram},
    Function{"histogram_stdvar", {kVector}, 0, kVector, kNativeHistogram},
    Function{"histogram_sum", {kVector}, 0, kVector, kNativeHistogram},
    Function{"hour", {kVector}, 1, kVector, kBuilt},
    Function{"idelta", {kMatrix}, 0, kVector, kBuilt},
    Function{"increase", {kMatrix}, 0, kVector, kBuilt},
    Function{"info", {kVector, kVector}, 1, kVector, kExperimental},
    Function{"irate", {kMatrix}, 0, kVector, kBuilt},
    Function{"label_join", {kVector, kString, kString, kString}, -1, kVector, kBuilt},
    Function{"label_replace", {kVector, kString, kString, kString, kString}, 0, kVector, kBuilt},
    Function{"last_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"ln", {kVector}, 0, kVector, kBuilt},
    Function{"log10", {kVector}, 0, kVector, kBuilt},
    Function{"log2", {kVector}, 0, kVector, kBuilt},
    Function{"mad_over_time", {kMatrix}, 0, kVector, kExperimental},
    Function{"max_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"min_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"minute", {kVector}, 1, kVector, kBuilt},
    Function{"month", {kVector}, 1, kVector, kBuilt},
    Function{"pi", {}, 0, kScalar, kBuilt},
    Function{"predict_linear", {kMatrix, kScalar}, 0, kVector, kBuilt},
    Function{"present_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"quantile_over_time", {kScalar, kMatrix}, 0, kVector, kBuilt},
    Function{"rad", {kVector}, 0, kVector, kBuilt},
    Function{"range", {}, 0, kScalar, kExperimental},
    Function{"rate", {kMatrix}, 0, kVector, kBuilt},
    Function{"resets", {kMatrix}, 0, kVector, kBuilt},
    Function{"round", {kVector, kScalar}, 1, kVector, kBuilt},
    Function{"scalar", {kVector}, 0, kScalar, kBuilt},
    Function{"sgn", {kVector}, 0, kVector, kBuilt},
    Function{"sin", {kVector}, 0, kVector, kBuilt},
    Function{"sinh", {kVector}, 0, kVector, kBuilt},
    Function{"sort", {kVector}, 0, kVector, kBuilt},
    Function{"sort_by_label", {kVector, kString}, -1, kVector, kExperimental},
    Function{"sort_by_label_desc", {kVector, kString}, -1, kVector, kExperimental},
    Function{"sort_desc", {kVector}, 0, kVector, kBuilt},
    Function{"sqrt", {kVector}, 0, kVector, kBuilt},
    Function{"start", {}, 0, kScalar, kExperimental},
    Function{"stddev_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"stdvar_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"step", {}, 0, kScalar, kExperimental},
    Function{"sum_over_time", {kMatrix}, 0, kVector, kBuilt},
    Function{"tan", {kVector}, 0, kVector, kBuilt},
    Function{"tanh", {kVector}, 0, kVector, kBuilt},
    Function{"time", {}, 0, kScalar, kBuilt},
    Function{"timestamp", {kVector}, 0, kVector, kBuilt},
    Function{"ts_of_first_over_time", {kMatrix}, 0, kVector, kExperimental},
    Function{"ts_of_last_over_time", {kMatrix}, 0, kVector, kExperimental},
    Function{"ts_of_max_over_time", {kMatrix}, 0, kVector, kExperimental},
    Function{"ts_of_min_over_time", {kMatrix}, 0, kVector, kExperimental},
    Function{"vector", {kScalar}, 0, kVector, kBuilt},
    Function{"year", {kVector}, 1, kVector, kBuilt},
};
// clang-format on

}  // namespace

std::string_view name_of(ValueType type) {
  static constexpr std::string_view kNames[] = {"scalar", "string", "instant vector",
                                                "range vector"};
  return kNames[static_cast<size_t>(type)];
}

std::span<const Function> functions() { return kFunctions; }

const Function* find_function(std::string_view name) {
  const auto found = std::lower_bound(
      kFunctions.begin(), kFunctions.end(), name,
      [](const Function& function, std::string_view wanted) { return function.name < wanted; });
  return found != kFunctions.end() && found->name == name ? &*found : nullptr;
}

}  // namespace gpusight::promql
