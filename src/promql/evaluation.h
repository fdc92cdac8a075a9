// One query on its way: its options and limits, what it has used of them, and what it has to say.
//
// Internal to promql. Belongs to the query's thread; every operator of the query holds a reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/queryable.h"
#include "promql/annotation.h"
#include "promql/engine.h"
#include "promql/query_value.h"
#include "promql/row.h"

namespace gpusight::promql {

class Evaluation {
 public:
  // `range` is what start() and end() in the query mean; an instant query has one step at both.
  Evaluation(const model::Queryable& data, const EngineOptions& options, const Clock& clock,
             QueryRange range, std::stop_token stop);
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  const model::Queryable& data() const { return data_; }
  const EngineOptions& options() const { return options_; }
  const QueryRange& range() const { return range_; }
  const std::stop_token& stop() const { return stop_; }
  bool delays_name_removal() const { return options_.name_removal == NameRemoval::kDelayed; }

  // To be asked once in a while, at least once a series and stretch: cancelled, or out of time.
  Status check() const;
  Status count_samples(uint64_t samples);
  Status count_series();
  // For the row that an operator has in its hands, as long as the query lasts.
  Status reserve_row(size_t steps);
  void served_by(std::string_view tier);

  void warn(std::string message, Position position);
  void info(std::string message, Position position);

  // With what it found, `value` becomes the answer. Says which tiers served.
  QueryResult answer(decltype(QueryResult::value) value);

 private:
  friend class Charge;
  Status hold(size_t bytes);
  void release(size_t bytes) { held_bytes_ -= bytes; }

  const model::Queryable& data_;
  const EngineOptions& options_;
  const Clock& clock_;
  const QueryRange range_;
  const std::stop_token stop_;
  const MonoTime deadline_;
  uint64_t held_bytes_ = 0;
  Annotations annotations_;
  QueryStats stats_;
};

// Memory that one part of the query holds; given back when this ends.
class Charge {
 public:
  explicit Charge(Evaluation& evaluation) : evaluation_(&evaluation) {}
  Charge(Charge&& other) noexcept
      : evaluation_(other.evaluation_), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() { clear(); }

  // kExhausted, and nothing is added, where the query would hold more than it may.
  Status add(size_t bytes);
  void clear() { evaluation_->release(std::exchange(bytes_, 0)); }

 private:
  Evaluation* evaluation_;
  size_t bytes_ = 0;
};

size_t bytes_of(const Row& row);

}  // namespace gpusight::promql
