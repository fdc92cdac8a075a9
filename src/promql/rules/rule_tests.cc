#include "promql/rules/rule_tests.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/label_set.h"
#include "promql/memory_series.h"
#include "promql/parser.h"
#include "promql/rules/rule_group.h"
#include "promql/rules/rule_test_file.h"
#include "promql/rules/template_format.h"
#include "promql/series_notation.h"

namespace gpusight::promql {
namespace {

// Every line but the first.
std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (at > 0) out += indent;
    out += text.substr(at, end - at);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  if (text.ends_with('\n')) out += indent;
  return out;
}

// As Go writes a time.Duration: 1h0m0s, 1m30s, 0s, 1.5s.
std::string go_duration(int64_t ms) {
  if (ms == 0) return "0s";
  if (ms % 1000 == ms && ms > 0) return fmt::format("{}ms", ms);
  const std::string sign = ms < 0 ? "-" : "";
  ms = std::abs(ms);
  const std::string seconds = go_fixed(static_cast<double>(ms % 60'000) / 1000) + "s";
  const int64_t minutes = ms / 60'000;
  if (minutes == 0) return sign + seconds;
  if (minutes < 60) return fmt::format("{}{}m{}", sign, minutes, seconds);
  return fmt::format("{}{}h{}m{}", sign, minutes / 60, minutes % 60, seconds);
}

// An alert as it is expected and as it is found.
struct Shown {
  model::Labels labels;
  model::Labels annotations;
};
bool operator==(const Shown& a, const Shown& b) {
  return a.labels == b.labels && a.annotations == b.annotations;
}
bool operator<(const Shown& a, const Shown& b) {
  return std::tie(a.labels, a.annotations) < std::tie(b.labels, b.annotations);
}

std::string text_of_alerts(const std::vector<Shown>& alerts) {
  if (alerts.empty()) return "[]";
  std::string out = "[";
  for (size_t i = 0; i < alerts.size(); ++i) {
    const std::string one = fmt::format("\nLabels:{}\nAnnotations:{}", text_of(alerts[i].labels),
                                        text_of(alerts[i].annotations));
    out += fmt::format("{}\n{}:{}", i > 0 ? "," : "", i, indented(one, "  "));
  }
  return out + "\n]";
}

struct Found {
  model::Labels labels;
  double value = 0;
};

std::string text_of_samples(const std::vector<Found>& samples) {
  if (samples.empty()) return "nil";
  std::string out;
  for (const Found& sample : samples) {
    if (!out.empty()) out += ", ";
    out += text_of(sample.labels) + " " + go_exponent(sample.value);
  }
  return out;
}

bool are_equal(double a, double b, bool fuzzy) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return fuzzy && (std::nextafter(a, -INFINITY) == b || std::nextafter(a, INFINITY) == b);
}

bool are_equal(const std::vector<Found>& a, const std::vector<Found>& b, bool fuzzy) {
  return std::ranges::equal(a, b, [&](const Found& one, const Found& other) {
    return one.labels == other.labels && are_equal(one.value, other.value, fuzzy);
  });
}

// Empty values are no labels.
model::Labels without_empty(const model::Labels& labels) {
  model::Labels kept;
  for (const auto& label : labels) {
    if (!label.second.empty()) kept.push_back(label);
  }
  return kept;
}

// Where input and rules write, with the checks of Prometheus's storage: a sample that is there
// already may be written again.
class TestStore final : public RuleSink {
 public:
  const MemorySeries& series() const { return series_; }

  Status append(const model::Labels& labels, int64_t time_ms, double value) override {
    const auto [last, is_new] = last_.try_emplace(labels, Point{time_ms, value});
    if (!is_new) {
      if (time_ms < last->second.time_ms) {
        return {Code::kInvalidArgument, "out of order sample"};
      }
      if (time_ms == last->second.time_ms) {
        const bool is_same =
            std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(last->second.value);
        if (is_same) return {};
        return {Code::kInvalidArgument, "duplicate sample for timestamp"};
      }
      last->second = {time_ms, value};
    }
    return series_.add(labels, std::span(&time_ms, 1), std::span(&value, 1));
  }

 private:
  MemorySeries series_;
  std::map<model::Labels, Point> last_;
};

// One test of a file.
class TestRun {
 public:
  TestRun(const RuleTestFile& file, const RuleTestFile::Test& test,
          const std::vector<RuleFileText>& rule_files, const Clock& clock)
      : file_(file),
        test_(test),
        rule_files_(rule_files),
        engine_({.default_subquery_step = std::chrono::milliseconds(file.evaluation_interval_ms)},
                clock) {}

  std::vector<std::string> run() {
    if (prepare() && evaluate()) check_expressions();
    return std::move(errors_);
  }

 private:
  struct Input {
    model::Labels labels;
    std::vector<std::optional<double>> points;
  };

  bool prepare() {
    for (const RuleTestFile::Series& series : test_.input) {
      if (load(series)) continue;
      errors_.push_back(fmt::format("{}: more than {} points in a test", text_of(series.place),
                                    kMaxRuleTestPoints));
      return false;
    }
    for (const RuleFileText& file : rule_files_) load(file);
    if (!errors_.empty()) return false;
    for (const RuleTestFile::AlertCase& alert : test_.alert_cases) {
      if (!alert.alertname.empty()) continue;
      const std::string where =
          test_.name.empty() ? "" : fmt::format(" (in TestGroup {})", clean_text(test_.name));
      errors_.push_back(
          fmt::format("an item under alert_rule_test misses required attribute "
                      "alertname at eval_time {}{}",
                      print_duration(alert.eval_time_ms), where));
      return false;
    }
    order_groups();
    if (last_eval_ms() / file_.evaluation_interval_ms >= kMaxRuleTestSteps) {
      errors_.push_back(fmt::format("more than {} evaluations", kMaxRuleTestSteps));
    }
    return errors_.empty();
  }

  // False where the test has too many points.
  bool load(const RuleTestFile::Series& series) {
    Result<NotedSeries> noted = parse_series(series.series + " " + series.values);
    const std::string place = text_of(series.place);
    if (!noted.ok()) {
      errors_.push_back(fmt::format("{}: {}", place, noted.status().message()));
    } else if (noted->has_histograms) {
      errors_.push_back(fmt::format("{}: native histograms are not supported", place));
    } else {
      points_ += noted->points.size();
      input_.push_back({std::move(noted->labels), std::move(noted->points)});
    }
    return points_ <= kMaxRuleTestPoints;
  }

  void load(const RuleFileText& file) {
    RuleFile rules = parse_rule_file(file.text);
    for (const RuleFault& fault : rules.faults) {
      errors_.push_back(fmt::format("{}: {}", file.path, text_of(fault)));
    }
    if (!rules.faults.empty()) return;
    for (RuleGroup& group : rules.groups) groups_.emplace_back(std::move(group));
  }

  // Those not mentioned are evaluated with the first.
  void order_groups() {
    const auto rank = [&](const RuleGroupState& state) {
      const auto at = std::ranges::find(file_.group_eval_order, state.group().name);
      return at == file_.group_eval_order.end() ? 0 : at - file_.group_eval_order.begin();
    };
    std::ranges::stable_sort(groups_, {}, rank);
  }

  int64_t last_eval_ms() const {
    int64_t last = 0;
    for (const auto& one : test_.alert_cases) last = std::max(last, one.eval_time_ms);
    for (const auto& one : test_.expr_cases) last = std::max(last, one.eval_time_ms);
    return last;
  }

  // False when a rule failed: then there is nothing to compare.
  bool evaluate() {
    const RuleContext context{.engine = engine_,
                              .data = store_.series(),
                              .sink = store_,
                              .external_labels = test_.external_labels,
                              .external_url = test_.external_url};
    for (int64_t at = 0; at <= last_eval_ms(); at += file_.evaluation_interval_ms) {
      if (!load_samples_until(at)) return false;
      const size_t errors_before = errors_.size();
      for (RuleGroupState& group : groups_) evaluate(group, context, at);
      if (errors_.size() > errors_before) return false;
      for (const RuleTestFile::AlertCase& alert : test_.alert_cases) {
        const bool is_now =
            at <= alert.eval_time_ms && alert.eval_time_ms < at + file_.evaluation_interval_ms;
        if (is_now) check(alert);
      }
    }
    return true;
  }

  void evaluate(RuleGroupState& group, const RuleContext& context, int64_t at) {
    const std::vector<RuleOutcome> outcomes = group.evaluate(context, test_.start_ms + at);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].error.ok()) continue;
      errors_.push_back(fmt::format("    rule: {}, time: {}, err: {}",
                                    clean_text(group.group().rules[i].name), go_duration(at),
                                    outcomes[i].error.message()));
    }
  }

  bool load_samples_until(int64_t at) {
    const auto count = static_cast<size_t>(at / test_.interval_ms) + 1;
    for (; loaded_ < count; ++loaded_) {
      const int64_t time_ms = test_.start_ms + static_cast<int64_t>(loaded_) * test_.interval_ms;
      for (const Input& input : input_) {
        if (loaded_ >= input.points.size() || !input.points[loaded_]) continue;
        const double value = *input.points[loaded_];
        const Status added = store_.append(input.labels, time_ms, value);
        if (added.ok()) continue;
        errors_.push_back(fmt::format("series {}: {}", text_of(input.labels), added.message()));
        return false;
      }
    }
    return true;
  }

  std::vector<Shown> firing(std::string_view name) const {
    std::vector<Shown> found;
    for (const RuleGroupState& group : groups_) {
      for (size_t i = 0; i < group.group().rules.size(); ++i) {
        const Rule& rule = group.group().rules[i];
        if (rule.kind != Rule::Kind::kAlert || rule.name != name) continue;
        for (Alert& alert : group.alerts(i)) {
          if (alert.state != Alert::State::kFiring) continue;
          found.push_back({std::move(alert.labels), std::move(alert.annotations)});
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void check(const RuleTestFile::AlertCase& expected) {
    std::vector<Shown> wanted;
    for (const RuleTestFile::ExpectedAlert& alert : expected.alerts) {
      Shown shown{without_empty(alert.labels), alert.annotations};
      set_label(shown.labels, "alertname", expected.alertname);
      wanted.push_back(std::move(shown));
    }
    std::sort(wanted.begin(), wanted.end());
    const std::vector<Shown> got = firing(expected.alertname);
    if (wanted == got) return;
    const std::string name =
        test_.name.empty() ? "" : fmt::format("    name: {},\n", clean_text(test_.name));
    constexpr std::string_view kIndent = "            ";
    errors_.push_back(fmt::format(
        "{}    alertname: {}, time: {}, \n        exp:{}, \n        got:{}", name,
        clean_text(expected.alertname), print_duration(expected.eval_time_ms),
        indented(text_of_alerts(wanted), kIndent), indented(text_of_alerts(got), kIndent)));
  }

  void check_expressions() {
    for (const RuleTestFile::ExprCase& expected : test_.expr_cases) {
      const Status checked = check(expected);
      if (checked.ok()) continue;
      errors_.push_back(fmt::format("    expr: {}, time: {}, err: {}", go_quoted(expected.expr),
                                    print_duration(expected.eval_time_ms), checked.message()));
    }
  }

  Status check(const RuleTestFile::ExprCase& expected) {
    const ExprPtr expr = TRY(parse(expected.expr));
    const Vector vector = TRY(
        query_vector(engine_, store_.series(), *expr, test_.start_ms + expected.eval_time_ms, {}));
    std::vector<Found> got;
    for (const Sample& sample : vector) got.push_back({sample.labels, sample.point.value});
    std::vector<Found> wanted;
    for (const RuleTestFile::ExpectedSample& sample : expected.samples) {
      if (!sample.histogram.empty()) {
        return {Code::kUnsupported, "native histograms are not supported"};
      }
      Result<model::Labels> labels = parse_labels(sample.labels);
      if (!labels.ok()) {
        return {Code::kInvalidArgument,
                fmt::format("labels {}: {}", go_quoted(sample.labels), labels.status().message())};
      }
      wanted.push_back({std::move(labels).value(), sample.value});
    }
    std::ranges::stable_sort(wanted, {}, &Found::labels);
    std::ranges::stable_sort(got, {}, &Found::labels);
    if (are_equal(wanted, got, file_.fuzzy_compare)) return {};
    errors_.push_back(fmt::format("    expr: {}, time: {},\n        exp: {}\n        got: {}",
                                  go_quoted(expected.expr), print_duration(expected.eval_time_ms),
                                  text_of_samples(wanted), text_of_samples(got)));
    return {};
  }

  const RuleTestFile& file_;
  const RuleTestFile::Test& test_;
  const std::vector<RuleFileText>& rule_files_;
  Engine engine_;
  TestStore store_;
  std::vector<Input> input_;
  size_t points_ = 0;  // of all of input_
  size_t loaded_ = 0;  // points of each series
  std::vector<RuleGroupState> groups_;
  std::vector<std::string> errors_;
};

// Fails for a group that is mentioned twice.
Status check_order(const std::vector<std::string>& order) {
  std::set<std::string_view> seen;
  for (const std::string& name : order) {
    if (!seen.insert(name).second) {
      return {Code::kInvalidArgument,
              fmt::format("group name repeated in evaluation order: {}", clean_text(name))};
    }
  }
  return {};
}

}  // namespace

RuleTestReport run_rule_tests(std::string_view text, const LoadRuleFiles& load,
                              const Clock& clock) {
  RuleTestReport report;
  const RuleTestFile file = parse_rule_test_file(text);
  for (const YamlFault& fault : file.faults) {
    report.errors.push_back(fmt::format("{}: {}", text_of(fault.place), fault.message));
  }
  if (!report.errors.empty()) return report;

  std::vector<RuleFileText> rule_files;
  for (const std::string& pattern : file.rule_files) {
    Result<std::vector<RuleFileText>> loaded = load(pattern);
    if (!loaded.ok()) {
      report.errors.push_back(loaded.status().message());
      return report;
    }
    if (loaded->empty()) {
      report.warnings.push_back(fmt::format("no file match pattern {}", clean_text(pattern)));
    }
    std::ranges::move(*loaded, std::back_inserter(rule_files));
  }
  if (const Status order = check_order(file.group_eval_order); !order.ok()) {
    report.errors.push_back(order.message());
    return report;
  }
  for (const RuleTestFile::Test& test : file.tests) {
    for (std::string& error : TestRun(file, test, rule_files, clock).run()) {
      report.errors.push_back(std::move(error));
    }
  }
  return report;
}

}  // namespace gpusight::promql
