// Sums and means that keep what rounding takes away (Neumaier's variant of Kahan's summation), with
// Prometheus's rules where a sum leaves the range of a double: a sum that overflowed stays
// infinite, a mean goes on as a running one, which cannot overflow. NaN and ±Inf among the numbers
// act as in plain addition.
//
// Plain values; one thread each.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace gpusight::promql {

// value + correction is the sum.
struct CompensatedSum {
  double value = 0;
  double correction = 0;

  void add(double x) {
    const double total = value + x;
    if (std::isinf(total)) {
      correction = 0;
    } else if (std::abs(value) >= std::abs(x)) {
      correction += (value - total) + x;
    } else {
      correction += (x - total) + value;
    }
    value = total;
  }
  double result() const { return std::isinf(value) ? value : value + correction; }
};

// Of no numbers at all it is NaN.
class CompensatedMean {
 public:
  void add(double x) {
    count_ += 1;
    if (!running_) {
      CompensatedSum next = sum_;
      next.add(x);
      if (!std::isinf(next.value) || count_ == 1) {
        sum_ = next;
        return;
      }
      running_ = true;  // from here on sum_ holds the mean
      sum_.value /= count_ - 1;
      sum_.correction /= count_ - 1;
    }
    const double weight = (count_ - 1) / count_;
    sum_ = {weight * sum_.value, weight * sum_.correction};
    sum_.add(x / count_);
  }
  double result() const {
    if (running_) return sum_.value + sum_.correction;
    return sum_.value / count_ + sum_.correction / count_;
  }

 private:
  CompensatedSum sum_;
  double count_ = 0;
  bool running_ = false;
};

// The same sum without branches, for long runs of numbers: Knuth's two-sum finds the same rounding
// error from any order of magnitudes, so that the additions of one number do not wait for the
// comparison of the one before. Value and correction are those of CompensatedSum bit for bit as
// long as both are finite; where one is not, an overflow or a NaN was met and the careful way has
// to be gone.
inline CompensatedSum sum_of_finite(std::span<const double> numbers) {
  CompensatedSum sum;
  for (const double x : numbers) {
    const double total = sum.value + x;
    const double added = total - sum.value;
    sum.correction += (sum.value - (total - added)) + (x - added);
    sum.value = total;
  }
  return sum;
}
inline bool is_finite(const CompensatedSum& sum) {
  return std::isfinite(sum.value) && std::isfinite(sum.correction);
}

inline double compensated_sum(std::span<const double> numbers) {
  CompensatedSum sum = sum_of_finite(numbers);
  if (!is_finite(sum)) {
    sum = {};
    for (const double x : numbers) sum.add(x);
  }
  return sum.result();
}

inline double compensated_mean(std::span<const double> numbers) {
  const CompensatedSum sum = sum_of_finite(numbers);
  const auto count = static_cast<double>(numbers.size());
  if (is_finite(sum)) return sum.value / count + sum.correction / count;
  CompensatedMean mean;
  for (const double x : numbers) mean.add(x);
  return mean.result();
}

}  // namespace gpusight::promql
