#include "promql/fold.h"

#include <cmath>
#include <utility>

#include "promql/compensated_sum.h"
#include "promql/row.h"

namespace gpusight::promql {
namespace {

// A state for every step that State::add takes from value to value.
template <typename State>
class FoldOf final : public Fold {
 public:
  explicit FoldOf(size_t steps) : states_(steps) {}

  void add(std::span<const double> values) override {
    for (size_t i = 0; i < values.size(); ++i) {
      if (has_value(values[i])) states_[i].add(values[i]);
    }
  }

  std::vector<double> finish() override {
    std::vector<double> results(states_.size());
    for (size_t i = 0; i < states_.size(); ++i) results[i] = states_[i].result();
    states_ = {};
    return results;
  }

 private:
  std::vector<State> states_;
};

struct SumState {
  CompensatedSum sum;
  bool any = false;

  void add(double value) {
    sum.add(value);
    any = true;
  }
  double result() const { return any ? sum.result() : no_value(); }
};

struct MeanState {
  CompensatedMean mean;
  bool any = false;

  void add(double value) {
    mean.add(value);
    any = true;
  }
  double result() const { return any ? mean.result() : no_value(); }
};

struct CountState {
  double count = 0;
  void add(double) { ++count; }
  double result() const { return count == 0 ? no_value() : count; }
};

struct GroupState {
  double value = no_value();
  void add(double) { value = 1; }
  double result() const { return value; }
};

// NaN gives way to any other value.
struct MinState {
  double least = no_value();
  void add(double value) {
    if (std::isnan(least) || least > value) least = value;  // no_value() is a NaN as well
  }
  double result() const { return least; }
};

struct MaxState {
  double greatest = no_value();
  void add(double value) {
    if (std::isnan(greatest) || greatest < value) greatest = value;
  }
  double result() const { return greatest; }
};

// Welford's method.
struct VarianceState {
  double count = 0;
  double mean = 0;
  double squares = 0;  // of the distances from the mean

  void add(double value) {
    if (++count == 1) {
      mean = value;
      squares = std::isfinite(value) ? 0 : std::nan("");
      return;
    }
    const double distance = value - mean;
    mean += distance / count;
    squares += distance * (value - mean);
  }
  double result() const { return count == 0 ? no_value() : squares / count; }
};

struct DeviationState : VarianceState {
  double result() const { return count == 0 ? no_value() : std::sqrt(squares / count); }
};

// Calls `use` with the state type of `op`.
template <typename Use>
auto with_state(AggregateOp op, Use use) {
  switch (op) {
    case AggregateOp::kSum: return use(SumState{});
    case AggregateOp::kAvg: return use(MeanState{});
    case AggregateOp::kCount: return use(CountState{});
    case AggregateOp::kMin: return use(MinState{});
    case AggregateOp::kMax: return use(MaxState{});
    case AggregateOp::kStddev: return use(DeviationState{});
    case AggregateOp::kStdvar: return use(VarianceState{});
    default: return use(GroupState{});
  }
}

}  // namespace

std::unique_ptr<Fold> make_fold(AggregateOp op, size_t steps) {
  return with_state(op, [&]<typename State>(State) -> std::unique_ptr<Fold> {
    return std::make_unique<FoldOf<State>>(steps);
  });
}

size_t fold_bytes_per_step(AggregateOp op) {
  return with_state(op, []<typename State>(State) { return sizeof(State) + sizeof(double); });
}

}  // namespace gpusight::promql
