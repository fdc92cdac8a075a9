#include "promql/rules/rule_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "promql/memory_series.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Sink final : public RuleSink {
 public:
  explicit Sink(MemorySeries& series) : series_(series) {}
  Status append(const model::Labels& labels, int64_t time_ms, double value) override {
    return series_.add(labels, std::span(&time_ms, 1), std::span(&value, 1));
  }

 private:
  MemorySeries& series_;
};

// One group over series in memory; times are minutes.
class RuleGroupTest : public ::testing::Test {
 protected:
  static constexpr int64_t kMinute = 60'000;

  void load(std::string_view text) {
    RuleFile file = parse_rule_file("groups:\n- name: g\n" + std::string(text));
    for (const RuleFault& fault : file.faults) FAIL() << text_of(fault);
    state_.emplace(std::move(file.groups.front()));
  }
  void put(std::string_view series, int64_t minute, double value) {
    const int64_t time_ms = minute * kMinute;
    const model::Labels labels = *parse_labels(series);
    ASSERT_TRUE(data_.add(labels, std::span(&time_ms, 1), std::span(&value, 1)).ok());
  }
  void end(std::string_view series, int64_t minute) { put(series, minute, model::stale_marker()); }

  RuleContext context() {
    return {.engine = engine_, .data = data_, .sink = sink_, .external_labels = {{"region", "eu"}}};
  }
  std::vector<std::string> errors_at(int64_t minute) {
    std::vector<std::string> errors;
    for (const RuleOutcome& outcome : state_->evaluate(context(), minute * kMinute)) {
      if (!outcome.error.ok()) errors.push_back(outcome.error.message());
    }
    return errors;
  }
  void evaluate(int64_t minute) { EXPECT_THAT(errors_at(minute), IsEmpty()); }

  // `{labels} value` of each, in order of labels.
  std::vector<std::string> ask(std::string_view query, int64_t minute) {
    std::vector<std::string> found;
    const ExprPtr expr = std::move(parse(query)).value();
    const Vector vector = *query_vector(engine_, data_, *expr, minute * kMinute, {});
    for (const Sample& sample : vector) {
      found.push_back(print_labels(sample.labels) + " " +
                      std::to_string(static_cast<int64_t>(sample.point.value)));
    }
    return found;
  }
  // "pending" and so on of the first rule's alerts.
  std::vector<std::string> states() {
    std::vector<std::string> found;
    for (const Alert& alert : state_->alerts(0)) found.emplace_back(name_of(alert.state));
    return found;
  }

  FakeClock clock_;
  Engine engine_{{}, clock_};
  MemorySeries data_;
  Sink sink_{data_};
  std::optional<RuleGroupState> state_;
};

TEST_F(RuleGroupTest, ARecordTakesTheNameAndTheLabelsOfItsRule) {
  load("  rules:\n  - {record: r, expr: up, labels: {job: other, empty: ''}}\n");
  put(R"(up{job="a",empty="no",host="h"})", 0, 5);
  evaluate(0);
  EXPECT_THAT(ask("r", 0), ElementsAre(R"(r{host="h", job="other"} 5)"));
}

TEST_F(RuleGroupTest, AScalarIsASeriesWithoutLabels) {
  load("  rules:\n  - {record: r, expr: '3'}\n");
  evaluate(0);
  EXPECT_THAT(ask("r", 0), ElementsAre("r 3"));
}

TEST_F(RuleGroupTest, LaterRulesSeeWhatEarlierOnesWrote) {
  load("  rules:\n  - {record: a, expr: up * 2}\n  - {record: b, expr: a + 1}\n");
  put("up", 0, 5);
  evaluate(0);
  EXPECT_THAT(ask("b", 0), ElementsAre("b 11"));
}

TEST_F(RuleGroupTest, ASeriesThatIsNoLongerGivenIsEnded) {
  load("  rules:\n  - {record: r, expr: up > 0}\n");
  put("up", 0, 1);
  evaluate(0);
  put("up", 1, 0);
  evaluate(1);
  EXPECT_THAT(ask("r", 0), ElementsAre("r 1"));
  EXPECT_THAT(ask("r", 1), IsEmpty());  // at once, not after the look-back
}

TEST_F(RuleGroupTest, ARuleThatFailsLeavesItsSeriesAlone) {
  load("  rules:\n  - {record: r, expr: 'up * on () group_left () down'}\n");
  put("up", 0, 1);
  put("down{x=\"1\"}", 0, 1);
  evaluate(0);
  put("down{x=\"2\"}", 1, 1);
  EXPECT_THAT(errors_at(1), ElementsAre(HasSubstr("many-to-many matching not allowed")));
  EXPECT_THAT(ask("r", 1), ElementsAre("r 1"));
}

TEST_F(RuleGroupTest, EqualLabelsAreAnError) {
  load(
      "  rules:\n  - {record: r, expr: up, labels: {job: x}}\n"
      "  - {alert: A, expr: up, labels: {job: x}}\n");
  put(R"(up{job="a"})", 0, 1);
  put(R"(up{job="b"})", 0, 1);
  EXPECT_THAT(
      errors_at(0),
      ElementsAre("vector contains metrics with the same labelset after applying rule labels",
                  "vector contains metrics with the same labelset after applying alert labels"));
}

TEST_F(RuleGroupTest, TheLimitCountsSeriesAndAlerts) {
  load("  limit: 1\n  rules:\n  - {record: r, expr: up}\n  - {alert: A, expr: up}\n");
  put(R"(up{job="a"})", 0, 1);
  evaluate(0);
  EXPECT_EQ(state_->alerts(1).size(), 1U);
  put(R"(up{job="b"})", 1, 1);
  EXPECT_THAT(errors_at(1), ElementsAre("exceeded limit of 1 with 2 series",
                                        "exceeded limit of 1 with 2 alerts"));
  EXPECT_THAT(state_->alerts(1), IsEmpty());
}

TEST_F(RuleGroupTest, TheOffsetMovesQueryAndResult) {
  load("  query_offset: 1m\n  rules:\n  - {record: r, expr: up}\n");
  put("up", 0, 1);
  put("up", 1, 2);
  evaluate(1);
  EXPECT_THAT(ask("r", 0), ElementsAre("r 1"));
}

TEST_F(RuleGroupTest, AnAlertWithoutForFiresAtOnce) {
  load("  rules:\n  - {alert: A, expr: up == 0}\n");
  put("up", 0, 0);
  evaluate(0);
  EXPECT_THAT(states(), ElementsAre("firing"));
  EXPECT_THAT(ask("ALERTS", 0), ElementsAre(R"(ALERTS{alertname="A", alertstate="firing"} 1)"));
}

TEST_F(RuleGroupTest, AnAlertIsPendingForAsLongAsAsked) {
  load("  rules:\n  - {alert: A, expr: up == 0, for: 2m}\n");
  for (int minute = 0; minute < 4; ++minute) {
    put("up", minute, 0);
    evaluate(minute);
    EXPECT_THAT(states(), ElementsAre(minute < 2 ? "pending" : "firing")) << minute;
  }
  EXPECT_THAT(ask("ALERTS", 1), ElementsAre(R"(ALERTS{alertname="A", alertstate="pending"} 1)"));
  // The pending series is ended when the firing one begins.
  EXPECT_THAT(ask("ALERTS", 2), ElementsAre(R"(ALERTS{alertname="A", alertstate="firing"} 1)"));
  EXPECT_THAT(ask("ALERTS_FOR_STATE", 3), ElementsAre(R"(ALERTS_FOR_STATE{alertname="A"} 0)"));
  EXPECT_EQ(state_->alerts(0)[0].active_at_ms, 0);
  EXPECT_EQ(state_->alerts(0)[0].fired_at_ms, 2 * kMinute);
}

TEST_F(RuleGroupTest, APendingAlertWhoseReasonIsGoneIsForgotten) {
  load("  rules:\n  - {alert: A, expr: up == 0, for: 5m}\n");
  put("up", 0, 0);
  evaluate(0);
  put("up", 1, 1);
  evaluate(1);
  EXPECT_THAT(states(), IsEmpty());
  EXPECT_THAT(ask("ALERTS", 1), IsEmpty());
  // It has to wait anew.
  put("up", 2, 0);
  evaluate(2);
  EXPECT_EQ(state_->alerts(0)[0].active_at_ms, 2 * kMinute);
}

TEST_F(RuleGroupTest, AResolvedAlertIsRememberedForAWhile) {
  load("  rules:\n  - {alert: A, expr: up == 0}\n");
  put("up", 0, 0);
  evaluate(0);
  put("up", 1, 1);
  evaluate(1);
  EXPECT_THAT(states(), ElementsAre("inactive"));
  EXPECT_EQ(state_->alerts(0)[0].resolved_at_ms, kMinute);
  EXPECT_THAT(ask("ALERTS", 1), IsEmpty());
  evaluate(16);
  EXPECT_THAT(states(), ElementsAre("inactive"));
  evaluate(17);
  EXPECT_THAT(states(), IsEmpty());
}

TEST_F(RuleGroupTest, AResolvedAlertThatReturnsIsANewOne) {
  load("  rules:\n  - {alert: A, expr: up == 0, for: 1m}\n");
  for (const auto& [minute, value] : {std::pair(0, 0), {1, 0}, {2, 1}, {3, 0}}) {
    put("up", minute, value);
    evaluate(minute);
  }
  EXPECT_THAT(states(), ElementsAre("pending"));
  EXPECT_EQ(state_->alerts(0)[0].active_at_ms, 3 * kMinute);
  EXPECT_EQ(state_->alerts(0)[0].resolved_at_ms, std::nullopt);
}

TEST_F(RuleGroupTest, KeepFiringForBridgesGaps) {
  load("  rules:\n  - {alert: A, expr: up == 0, keep_firing_for: 3m}\n");
  const int values[] = {0, 1, 1, 0, 1, 1, 1, 1};
  const char* expected[] = {"firing", "firing", "firing", "firing",
                            "firing", "firing", "firing", "inactive"};
  for (int minute = 0; minute < 8; ++minute) {
    put("up", minute, values[minute]);
    evaluate(minute);
    EXPECT_THAT(states(), ElementsAre(expected[minute])) << minute;
  }
}

TEST_F(RuleGroupTest, TemplatesSeeLabelsValueAndQueries) {
  load(R"(  rules:
  - alert: A
    expr: up == 0
    labels: {where: "{{ $labels.host }}/{{ $externalLabels.region }}", none: "{{ $labels.none }}"}
    annotations: {text: "{{ $value }} of {{ query \"count(up)\" | first | value }}", bad: "{{ first (query \"nothing\") }}"}
)");
  put(R"(up{host="a"})", 0, 0);
  put(R"(up{host="b"})", 0, 1);
  evaluate(0);
  const std::vector<Alert> alerts = state_->alerts(0);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_THAT(alerts[0].labels, ElementsAre(std::pair("alertname", "A"), std::pair("host", "a"),
                                            std::pair("where", "a/eu")));
  EXPECT_EQ(alerts[0].annotations[1].second, "0 of 2");
  EXPECT_THAT(alerts[0].annotations[0].second,
              HasSubstr("<error expanding template: error executing template __alert_A: "));
}

TEST_F(RuleGroupTest, AnnotationsFollowTheValue) {
  load("  rules:\n  - {alert: A, expr: up < 10, annotations: {v: '{{ $value }}'}}\n");
  put("up", 0, 1);
  evaluate(0);
  put("up", 1, 2);
  evaluate(1);
  EXPECT_EQ(state_->alerts(0)[0].annotations[0].second, "2");
  EXPECT_EQ(state_->alerts(0)[0].value, 2);
}

TEST_F(RuleGroupTest, WhatTheSinkRefusesIsAnErrorAndTheRestIsWritten) {
  load("  rules:\n  - {record: r, expr: up}\n");
  put("up{a=\"1\"}", 0, 1);
  put("up{a=\"2\"}", 0, 2);
  put("r{a=\"1\"}", 1, 7);  // somebody else writes it too
  const auto outcomes = state_->evaluate(context(), 0);
  EXPECT_FALSE(outcomes[0].error.ok());
  EXPECT_EQ(outcomes[0].samples_refused, 1U);
  EXPECT_THAT(ask("r", 0), ElementsAre(R"(r{a="2"} 2)"));
}

TEST_F(RuleGroupTest, AChangedFileTakesOverAlertsAndEndsWhatIsGone) {
  load("  rules:\n  - {alert: A, expr: up == 0, for: 2m}\n  - {record: r, expr: up}\n");
  put("up", 0, 0);
  evaluate(0);
  RuleGroupState former = std::move(*state_);
  load("  rules:\n  - {record: s, expr: up}\n  - {alert: A, expr: up == 0, for: 1m}\n");
  state_->take_over(std::move(former));
  put("up", 1, 0);
  evaluate(1);
  const std::vector<Alert> alerts = state_->alerts(1);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].state, Alert::State::kFiring);
  EXPECT_EQ(alerts[0].active_at_ms, 0);
  EXPECT_THAT(ask("r", 1), IsEmpty());
  EXPECT_THAT(ask("s", 1), ElementsAre("s 0"));
}

TEST_F(RuleGroupTest, AFiringAlertWaitsAgainWhereForHasGrown) {
  load("  rules:\n  - {alert: A, expr: up == 0, for: 1m}\n");
  for (int minute = 0; minute < 2; ++minute) {
    put("up", minute, 0);
    evaluate(minute);
  }
  RuleGroupState former = std::move(*state_);
  load("  rules:\n  - {alert: A, expr: up == 0, for: 10m}\n");
  state_->take_over(std::move(former));
  put("up", 2, 0);
  evaluate(2);
  EXPECT_THAT(states(), ElementsAre("pending"));
}

TEST_F(RuleGroupTest, ARestoredAlertGoesOnFromWhereItWas) {
  load("  rules:\n  - {alert: A, expr: up == 0, for: 10m}\n");
  state_->restore(0, {.labels = {{"alertname", "A"}}, .active_at_ms = -9 * kMinute});
  put("up", 1, 0);
  evaluate(1);
  EXPECT_THAT(states(), ElementsAre("firing"));
}

TEST_F(RuleGroupTest, OnlyVectorsAndScalarsAreResults) {
  load("  rules:\n  - {record: r, expr: 'up[5m]'}\n  - {record: s, expr: '\"text\"'}\n");
  EXPECT_THAT(errors_at(0), ElementsAre("rule result is not a vector or scalar",
                                        "rule result is not a vector or scalar"));
}

}  // namespace
}  // namespace gpusight::promql
