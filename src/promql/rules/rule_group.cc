#include "promql/rules/rule_group.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "promql/label_set.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

constexpr std::string_view kAlertName = "alertname";
constexpr std::string_view kAlertState = "alertstate";

model::Labels alert_series(const Alert& alert, std::string_view metric, std::string_view state) {
  model::Labels labels = alert.labels;
  set_label(labels, kMetricName, metric);
  set_label(labels, kAlertState, state);
  return labels;
}

// Whether an alert whose series is gone goes on firing.
bool keeps_firing(const Rule& rule, Alert& alert, int64_t time_ms) {
  if (alert.state != Alert::State::kFiring || rule.keep_firing_for_ms == 0) return false;
  if (!alert.keep_firing_since_ms) alert.keep_firing_since_ms = time_ms;
  return time_ms - *alert.keep_firing_since_ms < rule.keep_firing_for_ms;
}

// Of an alert whose series is gone: false when it is to be forgotten.
bool is_kept(const Alert& alert, int64_t time_ms) {
  if (alert.state == Alert::State::kPending) return false;
  return !alert.resolved_at_ms || time_ms - *alert.resolved_at_ms <= kResolvedRetentionMs;
}

void fire_or_wait(const Rule& rule, Alert& alert, int64_t time_ms) {
  const bool held = time_ms - alert.active_at_ms >= rule.for_ms;
  if (alert.state == Alert::State::kPending && held) {
    alert.state = Alert::State::kFiring;
    alert.fired_at_ms = time_ms;
  } else if (alert.state == Alert::State::kFiring && !held) {  // `for` has grown meanwhile
    alert.state = Alert::State::kPending;
    alert.fired_at_ms.reset();
    alert.keep_firing_since_ms.reset();
  }
}

// Moves all alerts on by one evaluation; gives those that are pending or firing.
std::vector<const Alert*> move_on(const Rule& rule, std::map<model::Labels, Alert>& alerts,
                                  const std::set<model::Labels>& seen, int64_t time_ms) {
  std::vector<const Alert*> active;
  for (auto at = alerts.begin(); at != alerts.end();) {
    Alert& alert = at->second;
    if (seen.contains(at->first)) {
      alert.keep_firing_since_ms.reset();
    } else if (!keeps_firing(rule, alert, time_ms)) {
      if (!is_kept(alert, time_ms)) {
        at = alerts.erase(at);
        continue;
      }
      if (alert.state != Alert::State::kInactive) {
        alert.state = Alert::State::kInactive;
        alert.resolved_at_ms = time_ms;
      }
      ++at;
      continue;
    }
    fire_or_wait(rule, alert, time_ms);
    active.push_back(&alert);
    ++at;
  }
  return active;
}

void end_series(const RuleContext& context, const model::Labels& labels, int64_t time_ms) {
  // A refusal means that somebody else writes the series, and then it has not ended.
  (void)context.sink.append(labels, time_ms, model::stale_marker()).ok();
}

Status limit_passed(int64_t limit, size_t count, std::string_view of_what) {
  return {Code::kExhausted, fmt::format("exceeded limit of {} with {} {}", limit, count, of_what)};
}

}  // namespace

std::string_view name_of(Alert::State state) {
  static constexpr std::string_view kNames[] = {"inactive", "pending", "firing"};
  return kNames[static_cast<size_t>(state)];
}

Result<Vector> query_vector(const Engine& engine, const model::Queryable& data, const Expr& expr,
                            int64_t time_ms, std::stop_token stop, Annotations* annotations) {
  QueryResult result = TRY(engine.instant(data, expr, time_ms, std::move(stop)));
  if (annotations != nullptr) *annotations = std::move(result.annotations);
  if (auto* vector = std::get_if<Vector>(&result.value)) return std::move(*vector);
  if (const auto* scalar = std::get_if<Scalar>(&result.value)) {
    return Vector{{.labels = {}, .point = scalar->point}};
  }
  return Status(Code::kInvalidArgument, "rule result is not a vector or scalar");
}

RuleGroupState::RuleGroupState(RuleGroup group)
    : group_(std::move(group)), memories_(group_.rules.size()) {}

int64_t RuleGroupState::query_offset_ms(const RuleContext& context) const {
  return group_.query_offset_ms.value_or(context.default_query_offset_ms);
}

std::vector<RuleOutcome> RuleGroupState::evaluate(const RuleContext& context, int64_t time_ms) {
  std::vector<RuleOutcome> outcomes;
  for (size_t i = 0; i < group_.rules.size(); ++i) {
    outcomes.push_back(evaluate_rule(context, i, time_ms));
  }
  end_orphans(context, time_ms - query_offset_ms(context));
  return outcomes;
}

void RuleGroupState::end_orphans(const RuleContext& context, int64_t time_ms) {
  for (const model::Labels& labels : orphans_) {
    const bool lives_on = std::ranges::any_of(
        memories_, [&](const RuleMemory& memory) { return memory.written.contains(labels); });
    if (!lives_on) end_series(context, labels, time_ms);
  }
  orphans_.clear();
}

RuleOutcome RuleGroupState::evaluate_rule(const RuleContext& context, size_t index,
                                          int64_t time_ms) {
  const Rule& rule = group_.rules[index];
  RuleMemory& memory = memories_[index];
  RuleOutcome outcome;
  const int64_t asked_ms = time_ms - query_offset_ms(context);
  const Result<Vector> vector = query_vector(context.engine, context.data, *rule.expr, asked_ms,
                                             context.stop, &outcome.annotations);
  if (!vector.ok()) {
    outcome.error = vector.status();
    return outcome;
  }
  const Result<std::vector<Found>> found = rule.kind == Rule::Kind::kRecord
                                               ? record(rule, *vector)
                                               : alert(context, rule, memory, *vector, time_ms);
  if (!found.ok()) {
    outcome.error = found.status();
    return outcome;
  }
  write(context, memory, *found, asked_ms, outcome);
  return outcome;
}

Result<std::vector<RuleGroupState::Found>> RuleGroupState::record(const Rule& rule,
                                                                  const Vector& vector) const {
  std::vector<Found> found;
  std::set<model::Labels> seen;
  for (const Sample& sample : vector) {
    model::Labels labels = sample.labels;
    set_label(labels, kMetricName, rule.name);
    for (const auto& [name, value] : rule.labels) set_label(labels, name, value);
    if (!seen.insert(labels).second) {
      return Status(Code::kInvalidArgument,
                    "vector contains metrics with the same labelset after applying rule labels");
    }
    found.push_back({std::move(labels), sample.point.value});
  }
  if (group_.limit > 0 && found.size() > static_cast<size_t>(group_.limit)) {
    return limit_passed(group_.limit, found.size(), "series");
  }
  return found;
}

Result<std::map<model::Labels, Alert>> RuleGroupState::alerts_of(const RuleContext& context,
                                                                 const Rule& rule,
                                                                 const Vector& vector,
                                                                 int64_t time_ms) const {
  const TemplateQuery query = [&](std::string_view text) -> Result<Vector> {
    const ExprPtr expr = TRY(parse(text));
    return query_vector(context.engine, context.data, *expr, time_ms - query_offset_ms(context),
                        context.stop);
  };
  std::map<model::Labels, Alert> alerts;
  for (const Sample& sample : vector) {
    const TemplateInput input{.labels = sample.labels,
                              .value = sample.point.value,
                              .external_labels = context.external_labels,
                              .external_url = context.external_url,
                              .time_ms = time_ms,
                              .query = query};
    const auto expanded = [&](const RuleTemplate& text) {
      Result<std::string> result = text.expand(input);
      return result.ok() ? std::move(result).value()
                         : fmt::format("<error expanding template: {}>", result.status().message());
    };
    Alert alert{.labels = sample.labels, .value = sample.point.value, .active_at_ms = time_ms};
    remove_label(alert.labels, kMetricName);
    for (size_t i = 0; i < rule.labels.size(); ++i) {
      set_label(alert.labels, rule.labels[i].first, expanded(rule.label_templates[i]));
    }
    set_label(alert.labels, kAlertName, rule.name);
    for (size_t i = 0; i < rule.annotations.size(); ++i) {
      alert.annotations.emplace_back(rule.annotations[i].first,
                                     expanded(rule.annotation_templates[i]));
    }
    const model::Labels key = alert.labels;
    if (!alerts.emplace(key, std::move(alert)).second) {
      return Status(Code::kInvalidArgument,
                    "vector contains metrics with the same labelset after applying alert labels");
    }
  }
  return alerts;
}

Result<std::vector<RuleGroupState::Found>> RuleGroupState::alert(const RuleContext& context,
                                                                 const Rule& rule,
                                                                 RuleMemory& memory,
                                                                 const Vector& vector,
                                                                 int64_t time_ms) const {
  std::map<model::Labels, Alert> now = TRY(alerts_of(context, rule, vector, time_ms));
  std::set<model::Labels> seen;
  for (auto& [labels, alert] : now) {
    seen.insert(labels);
    const auto known = memory.alerts.find(labels);
    if (known != memory.alerts.end() && known->second.state != Alert::State::kInactive) {
      known->second.value = alert.value;
      known->second.annotations = std::move(alert.annotations);
    } else {
      memory.alerts.insert_or_assign(labels, std::move(alert));
    }
  }
  const std::vector<const Alert*> active = move_on(rule, memory.alerts, seen, time_ms);
  if (group_.limit > 0 && active.size() > static_cast<size_t>(group_.limit)) {
    const Status error = limit_passed(group_.limit, active.size(), "alerts");
    memory.alerts.clear();
    return error;
  }
  std::vector<Found> found;
  for (const Alert* alert : active) {
    found.push_back({alert_series(*alert, "ALERTS", name_of(alert->state)), 1});
    found.push_back({alert_series(*alert, "ALERTS_FOR_STATE", ""),
                     std::floor(static_cast<double>(alert->active_at_ms) / 1000)});
  }
  return found;
}

void RuleGroupState::write(const RuleContext& context, RuleMemory& memory,
                           const std::vector<Found>& found, int64_t time_ms,
                           RuleOutcome& outcome) const {
  std::set<model::Labels> written;
  for (const Found& sample : found) {
    const Status appended = context.sink.append(sample.labels, time_ms, sample.value);
    if (!appended.ok()) {
      if (outcome.error.ok()) outcome.error = appended;
      ++outcome.samples_refused;
    }
    written.insert(sample.labels);
  }
  for (const model::Labels& gone : memory.written) {
    if (!written.contains(gone)) end_series(context, gone, time_ms);
  }
  memory.written = std::move(written);
}

std::vector<Alert> RuleGroupState::alerts(size_t rule) const {
  std::vector<Alert> found;
  for (const auto& [labels, alert] : memories_[rule].alerts) found.push_back(alert);
  return found;
}

void RuleGroupState::take_over(RuleGroupState&& former) {
  std::vector<bool> taken(former.memories_.size(), false);
  for (size_t i = 0; i < group_.rules.size(); ++i) {
    for (size_t k = 0; k < former.memories_.size(); ++k) {
      const Rule& rule = group_.rules[i];
      const Rule& before = former.group_.rules[k];
      const bool is_same = !taken[k] && rule.kind == before.kind && rule.name == before.name &&
                           rule.labels == before.labels;
      if (!is_same) continue;
      memories_[i] = std::move(former.memories_[k]);
      taken[k] = true;
      break;
    }
  }
  orphans_ = std::move(former.orphans_);
  for (size_t k = 0; k < former.memories_.size(); ++k) {
    if (!taken[k]) orphans_.merge(former.memories_[k].written);
  }
}

void RuleGroupState::restore(size_t rule, Alert alert) {
  const model::Labels key = alert.labels;
  memories_[rule].alerts.insert_or_assign(key, std::move(alert));
}

}  // namespace gpusight::promql
