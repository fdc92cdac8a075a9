// A rule group at work: recording rules make series, alerting rules move alerts from pending to
// firing and back, and both write what they found as samples.
//
// A RuleGroupState holds all that an evaluation remembers for the next, and nothing else: no clock,
// no thread, no storage. evaluate() is called at ascending times by one thread at a time. Source:
// the rules pages of Prometheus's documentation, and what Prometheus does.
//
//  - Rules are evaluated in order, each at time - query_offset; what one writes the next can read,
//    if what the sink keeps is what the Queryable gives.
//  - A series that a rule no longer gives gets a stale marker. A rule that fails leaves its series
//    and alerts as they are.
//  - An alert is pending from its first evaluation and firing when it has been there for `for`.
//  When
//    its series is gone a pending one is forgotten; a firing one goes on for keep_firing_for, then
//    is resolved and remembered for kResolvedRetentionMs, so that whoever sends notifications can
//    say so more than once.
//  - Pending and firing alerts are written as ALERTS{alertname, alertstate, labels} 1 and
//    ALERTS_FOR_STATE{alertname, labels} with the seconds since when they are active.
//  - More results than `limit` are an error of the rule; its alerts are then all forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/engine.h"
#include "promql/rules/rule_file.h"

namespace gpusight::promql {

inline constexpr int64_t kResolvedRetentionMs = 15LL * 60 * 1000;

struct Alert {
  enum class State : uint8_t { kInactive, kPending, kFiring };
  State state = State::kPending;
  model::Labels labels;  // with alertname
  model::Labels annotations;
  double value = 0;  // at the last evaluation that had it
  int64_t active_at_ms = 0;
  std::optional<int64_t> fired_at_ms;
  std::optional<int64_t> keep_firing_since_ms;  // its series is gone since
  std::optional<int64_t> resolved_at_ms;        // with kInactive
};
std::string_view name_of(Alert::State state);  // "inactive", "pending", "firing"

// Takes what rules write. A sample that is refused (older than what the series has, say) is an
// error of the rule, whose other samples are written all the same. The end of a series may be
// refused: somebody else goes on writing it.
class RuleSink {
 public:
  virtual ~RuleSink() = default;
  virtual Status append(const model::Labels& labels, int64_t time_ms, double value) = 0;
};

struct RuleContext {
  const Engine& engine;
  const model::Queryable& data;
  RuleSink& sink;
  model::Labels external_labels;  // for templates
  std::string external_url;       // for templates
  int64_t default_query_offset_ms = 0;
  std::stop_token stop;
};

// What became of one rule.
struct RuleOutcome {
  Status error;  // ok: it went well; else its first error
  Annotations annotations;
  size_t samples_refused = 0;
};

class RuleGroupState {
 public:
  explicit RuleGroupState(RuleGroup group);

  // One outcome a rule, in their order.
  std::vector<RuleOutcome> evaluate(const RuleContext& context, int64_t time_ms);

  const RuleGroup& group() const { return group_; }
  // Of the rule with this index, by labels; resolved ones among them.
  std::vector<Alert> alerts(size_t rule) const;
  // Takes over the alerts and series of the group's former self, whose rules are found by name and
  // labels: after a rule file was read anew.
  void take_over(RuleGroupState&& former);
  // An alert that was active before a restart, as ALERTS_FOR_STATE tells: it goes on from there.
  void restore(size_t rule, Alert alert);

 private:
  struct RuleMemory {
    std::set<model::Labels> written;        // at the last evaluation that went well
    std::map<model::Labels, Alert> alerts;  // by their labels
  };
  struct Found {
    model::Labels labels;
    double value = 0;
  };

  RuleOutcome evaluate_rule(const RuleContext& context, size_t index, int64_t time_ms);
  Result<std::vector<Found>> record(const Rule& rule, const Vector& vector) const;
  Result<std::vector<Found>> alert(const RuleContext& context, const Rule& rule, RuleMemory& memory,
                                   const Vector& vector, int64_t time_ms) const;
  Result<std::map<model::Labels, Alert>> alerts_of(const RuleContext& context, const Rule& rule,
                                                   const Vector& vector, int64_t time_ms) const;
  void write(const RuleContext& context, RuleMemory& memory, const std::vector<Found>& found,
             int64_t time_ms, RuleOutcome& outcome) const;
  int64_t query_offset_ms(const RuleContext& context) const;

  void end_orphans(const RuleContext& context, int64_t time_ms);

  RuleGroup group_;
  std::vector<RuleMemory> memories_;  // one a rule
  std::set<model::Labels> orphans_;   // series of rules that are gone, to be ended
};

// What rules and their tests ask: an instant vector, a scalar being one without labels. Anything
// else is "rule result is not a vector or scalar".
Result<Vector> query_vector(const Engine& engine, const model::Queryable& data, const Expr& expr,
                            int64_t time_ms, std::stop_token stop,
                            Annotations* annotations = nullptr);

}  // namespace gpusight::promql
