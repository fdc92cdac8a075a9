#include "tests/promql/runner.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "promql/engine.h"
#include "promql/parser.h"
#include "tests/promql/at_modifier.h"
#include "tests/promql/compare.h"
#include "tests/promql/script.h"
#include "tests/promql/script_data.h"

namespace gpusight::conformance {
namespace {

constexpr std::chrono::milliseconds kLookback = std::chrono::minutes(5);
constexpr int64_t kAroundMs = 60'000;

struct Judgement {
  Verdict verdict = Verdict::kPassed;
  std::string why;
};

Judgement judge(const std::optional<std::string>& difference) {
  if (!difference) return {};
  return {Verdict::kFailed, *difference};
}

bool holds_histograms(const Eval& eval) {
  return std::ranges::any_of(eval.series, &promql::NotedSeries::has_histograms);
}

class Runner {
 public:
  explicit Runner(promql::NameRemoval name_removal)
      : engine_({.lookback = kLookback,
                 .default_subquery_step = std::chrono::minutes(1),
                 .name_removal = name_removal},
                clock_) {}

  Status run(const Load& load) { return data_.load(load); }
  Status run(const Clear&) {
    data_.clear();
    return {};
  }

  Judgement run(const Eval& eval) {
    if (holds_histograms(eval)) return {Verdict::kHistogram, {}};
    if (eval.is_range) return check(eval, eval.query, {});
    Judgement judgement = check_instant(eval, eval.query, eval.range.start_ms);
    if (judgement.verdict != Verdict::kPassed || eval.fails) return judgement;
    return check_pinned(eval);
  }

 private:
  // Evaluates at an instant, or over the range of `eval` where there is none.
  Result<promql::QueryResult> evaluate(const Eval& eval, std::string_view query,
                                       std::optional<int64_t> instant_ms) {
    const promql::ExprPtr expr = TRY(promql::parse(query));
    if (instant_ms) return engine_.instant(data_, *expr, *instant_ms, {});
    return engine_.range(data_, *expr, eval.range, {});
  }

  // The query once, with all that is said about it.
  Judgement check(const Eval& eval, std::string_view query, std::optional<int64_t> instant_ms) {
    data_.forget();
    const Result<promql::QueryResult> result = evaluate(eval, query, instant_ms);
    if (result.status().code() == Code::kUnsupported) {
      return {Verdict::kUnsupported, result.status().message()};
    }
    if (data_.met().histogram) return {Verdict::kHistogram, {}};
    if (data_.met().metadata) return {Verdict::kMetadata, {}};
    if (!result.ok()) {
      if (eval.fails) return judge(differs(eval, result.status()));
      return {Verdict::kFailed, "the query failed: " + result.status().message()};
    }
    if (eval.fails) return {Verdict::kFailed, "the query was to fail, and did not"};
    if (const auto difference = differs(eval, result->annotations, query)) return judge(difference);
    return judge(differs(eval, result->value));
  }

  // The query at an instant, and as a range query around it.
  Judgement check_instant(const Eval& eval, std::string_view query, int64_t time_ms) {
    Judgement judgement = check(eval, query, time_ms);
    const bool has_no_range = eval.string || eval.matrix_times || asks_for_bounds(query);
    if (judgement.verdict != Verdict::kPassed || eval.fails || has_no_range) return judgement;
    judgement = check_around(eval, query, time_ms);
    if (judgement.verdict == Verdict::kFailed) {
      judgement.why = "as a range query around the instant: " + judgement.why;
    }
    return judgement;
  }

  Judgement check_around(const Eval& eval, std::string_view query, int64_t time_ms) {
    const auto expr = promql::parse(query);
    if (!expr.ok()) return {Verdict::kFailed, expr.status().message()};
    data_.forget();
    const auto result = engine_.range(
        data_, **expr,
        {.start_ms = time_ms - kAroundMs, .end_ms = time_ms + kAroundMs, .step_ms = kAroundMs}, {});
    // A native histogram beside the instant says nothing about the instant.
    if (data_.met().histogram) return {};
    if (!result.ok()) return {Verdict::kFailed, "the query failed: " + result.status().message()};
    const auto* matrix = std::get_if<promql::Matrix>(&result->value);
    if (matrix == nullptr) return {Verdict::kFailed, "a range query gave no range vector"};
    return judge(differs_at(eval, *matrix, time_ms));
  }

  Judgement check_pinned(const Eval& eval) {
    const auto pinned = with_at_modifier(eval.query, eval.range.start_ms);
    if (!pinned.ok()) return {Verdict::kFailed, pinned.status().message()};
    if (!*pinned) return {};
    for (const int64_t time_ms : other_times(eval.range.start_ms)) {
      Judgement judgement = check_instant(eval, **pinned, time_ms);
      if (judgement.verdict == Verdict::kPassed) continue;
      judgement.why = fmt::format("as {} at {} s: {}", **pinned,
                                  number_text(static_cast<double>(time_ms) / 1000), judgement.why);
      judgement.verdict = Verdict::kFailed;
      return judgement;
    }
    return {};
  }

  SystemClock clock_;
  promql::Engine engine_;
  ScriptData data_{kLookback.count()};
};

Outcome outcome_of(const Command& command, const Eval& eval, const Judgement& judgement) {
  Outcome outcome{.line = command.line, .verdict = judgement.verdict, .why = judgement.why};
  if (outcome.verdict == Verdict::kFailed) outcome.why = eval.query + ": " + outcome.why;
  return outcome;
}

}  // namespace

size_t Report::count(Verdict verdict) const {
  return static_cast<size_t>(std::ranges::count(outcomes, verdict, &Outcome::verdict));
}

Result<Report> run_script(std::string_view text, promql::NameRemoval name_removal) {
  const std::vector<Command> commands = TRY(parse_script(text));
  Runner runner(name_removal);
  Report report;
  for (const Command& command : commands) {
    Status status;
    if (const auto* eval = std::get_if<Eval>(&command.what)) {
      report.outcomes.push_back(outcome_of(command, *eval, runner.run(*eval)));
    } else if (const auto* load = std::get_if<Load>(&command.what)) {
      status = runner.run(*load);
    } else {
      status = runner.run(Clear{});
    }
    if (!status.ok()) {
      return Status(status.code(), fmt::format("{}: {}", command.line, status.message()));
    }
  }
  return report;
}

}  // namespace gpusight::conformance
