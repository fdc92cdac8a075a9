// What a function makes of values, labels and times at one step: the functions that take no range
// vector. Kernels are pure. The engine walks the rows; timestamp, scalar, vector, absent, sort and
// time are its own, since they need more than one value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/row.h"

namespace gpusight::promql {

// Functions of one value: abs, ceil, clamp(v, min, max), round(v, to), hour(v) …
struct ValueFunction {
  std::string_view name;
  double (*kernel)(double value, std::span<const double> args) = nullptr;
  // minute() and kin: without an argument they take the time of evaluation.
  bool defaults_to_time = false;
};
const ValueFunction* find_value_function(std::string_view name);  // nullptr: not one

// label_replace and label_join: new labels for old ones. Compiled once per query.
class LabelFunction {
 public:
  virtual ~LabelFunction() = default;
  // Writes its label into `labels`; false where it has nothing to write: a pattern does not match.
  // kExhausted for a value longer than kMaxLabelValue.
  virtual Result<bool> write_to(model::Labels& labels) const = 0;
};
inline constexpr size_t kMaxLabelValue = 1024UL * 1024;  // bytes
// Prometheus's errors for a bad pattern or label name.
Result<std::unique_ptr<LabelFunction>> make_label_replace(std::string_view destination,
                                                          std::string_view replacement,
                                                          std::string_view source,
                                                          std::string_view pattern);
Result<std::unique_ptr<LabelFunction>> make_label_join(std::string_view destination,
                                                       std::string_view separator,
                                                       std::vector<std::string> sources);

// Classic histograms: one bucket series' bound (its "le") and value at a step.
struct Bucket {
  double upper_bound = 0;
  double count = 0;
};
struct BucketQuantile {
  double value = 0;
  bool forced_monotonic = false;  // counts sank by more than float noise and were raised
  double lowest_raised = 0;       // with forced_monotonic: bounds of those buckets,
  double highest_raised = 0;
  double largest_drop = 0;  // and by how much one was below what it was raised to
};
// Sorts, joins equal bounds and mends `buckets` in place. NaN without a +Inf bucket, without
// observations or with fewer than two buckets.
BucketQuantile bucket_quantile(double quantile, std::vector<Bucket>& buckets);
double bucket_fraction(double lower, double upper, std::vector<Bucket>& buckets);

}  // namespace gpusight::promql
