#include "serve/prom_api.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/literal.h"
#include "promql/parser.h"
#include "serve/prom_json.h"
#include "serve/prom_metadata.h"
#include "serve/prom_params.h"

namespace gpusight::serve {
namespace {

constexpr std::string_view kTruncated = "results truncated due to limit";

// A refusal on its way to the caller: which kind of error, and its words.
struct Failure {
  PromError error;
  std::string message;
};
Failure bad_data(const Status& status) { return {PromError::kBadData, status.message()}; }

// An answer, or why there is none.
class Outcome {
 public:
  Outcome(std::string text) : response_(prom_response(std::move(text))) {}  // NOLINT: on purpose
  Outcome(const Failure& failure)                                           // NOLINT: on purpose
      : response_(prom_error(failure.error, failure.message)) {}
  Outcome(const Status& bad_parameter) : Outcome(bad_data(bad_parameter)) {}  // NOLINT: on purpose
  Response take() && { return std::move(response_); }

 private:
  Response response_;
};

std::string list_text(std::vector<std::string> texts, size_t limit) {
  PromRemarks remarks;
  if (limit > 0 && texts.size() > limit) {
    texts.resize(limit);
    remarks.warnings.emplace_back(kTruncated);
  }
  PromText out;
  out.data().begin_array();
  for (const std::string& text : texts) out.data().string(text);
  out.data().end_array();
  return out.finish(remarks);
}

template <typename Entries>
bool cut(Entries& entries, size_t limit) {
  if (entries.size() <= limit) return false;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(limit), entries.end());
  return true;
}

// Whether anything was cut off.
bool cut_to_limit(promql::QueryResult& result, size_t limit) {
  if (limit == 0) return false;
  if (auto* vector = std::get_if<promql::Vector>(&result.value)) return cut(*vector, limit);
  if (auto* matrix = std::get_if<promql::Matrix>(&result.value)) return cut(*matrix, limit);
  return false;
}

}  // namespace

// One question being answered, on one thread.
class PromApi::Asked {
 public:
  Asked(const Options& options, const PromQuestion& question, const std::stop_token& stop)
      : options_(options), question_(question), parameters_(question.parameters), stop_(stop) {}

  Outcome answer() {
    switch (question_.call) {
      case PromCall::kQuery: return query();
      case PromCall::kQueryRange: return query_range();
      case PromCall::kSeries: return series();
      case PromCall::kLabels: return labels();
      case PromCall::kLabelValues: return label_values();
      case PromCall::kMetadata: return metadata();
      case PromCall::kFormatQuery: return format_query();
      case PromCall::kQueryExemplars: return query_exemplars();
      case PromCall::kRules: return rules();
      case PromCall::kAlerts: return std::string(R"({"status":"success","data":{"alerts":[]}})");
      case PromCall::kBuildInfo: return build_info();
    }
    return Failure{PromError::kInternal, "there is no such call"};
  }

 private:
  struct Span {
    int64_t start_ms = 0;
    int64_t end_ms = 0;
  };

  Result<Span> span() const {
    const int64_t start_ms = TRY(time_parameter(parameters_, "start", kMinTimeMs));
    const int64_t end_ms = TRY(time_parameter(parameters_, "end", kMaxTimeMs));
    return Span{start_ms, end_ms};
  }

  int64_t now_ms() const { return unix_milliseconds(options_.clock->wall()); }
  const model::Queryable& data() const { return *options_.data; }

  Result<promql::ExprPtr> parsed_query() const {
    auto expr = promql::parse(parameter(parameters_, "query"));
    if (expr.ok()) return expr;
    return invalid_parameter("query", expr.status().message());
  }

  // What the request asks for in place of the usual look-back and, shorter, timeout.
  Result<promql::EngineOptions> engine_options() const {
    promql::EngineOptions engine{.limits = options_.limits};
    if (const auto text = parameter(parameters_, "timeout"); !text.empty()) {
      const auto timeout = parse_api_duration(text);
      if (!timeout.ok()) return invalid_parameter("timeout", timeout.status().message());
      engine.limits.timeout =
          std::min(engine.limits.timeout, std::chrono::floor<std::chrono::milliseconds>(*timeout));
    }
    if (const auto text = parameter(parameters_, "lookback_delta"); !text.empty()) {
      const auto lookback = parse_api_duration(text);
      if (!lookback.ok()) {
        return Status(Code::kInvalidArgument,
                      "error parsing lookback delta duration: " + lookback.status().message());
      }
      // As in Prometheus, what is not positive leaves the usual one.
      const auto ms = std::chrono::floor<std::chrono::milliseconds>(*lookback);
      if (ms.count() > 0) engine.lookback = ms;
    }
    return engine;
  }

  // Time spent waiting counts.
  std::chrono::milliseconds time_left(const promql::EngineOptions& engine) const {
    const Duration waited = options_.clock->mono() - question_.asked_at;
    return std::chrono::floor<std::chrono::milliseconds>(engine.limits.timeout - waited);
  }

  Failure failure_of(const Status& status, const promql::EngineOptions& engine) const {
    switch (status.code()) {
      case Code::kCancelled: return {PromError::kCanceled, status.message()};
      case Code::kExhausted:
        if (time_left(engine).count() <= 0) {
          return {PromError::kTimeout,
                  fmt::format("query timed out: it has {} ms", engine.limits.timeout.count())};
        }
        return {PromError::kExecution, status.message()};
      case Code::kIo:
      case Code::kCorrupt:
      case Code::kUnavailable: return {PromError::kInternal, status.message()};
      default: return {PromError::kExecution, status.message()};
    }
  }
  Failure failure_of(const Status& status) const {
    return failure_of(status, {.limits = options_.limits});
  }

  // Runs what a parsed query asks for and writes its answer.
  template <typename Run>
  Outcome evaluated(promql::EngineOptions options, size_t limit, Run run) const {
    const promql::EngineOptions asked_for = options;
    options.limits.timeout = time_left(asked_for);
    if (options.limits.timeout.count() <= 0) {
      return failure_of({Code::kExhausted, "no time was left"}, asked_for);
    }
    const promql::Engine engine(options, *options_.clock);
    Result<promql::QueryResult> result = run(engine);
    if (!result.ok()) return failure_of(result.status(), asked_for);
    PromRemarks remarks = remarks_of(result->annotations, parameter(parameters_, "query"));
    if (cut_to_limit(*result, limit)) remarks.warnings.emplace_back(kTruncated);
    PromText text;
    text.data().begin_object();
    const Status written = append_result(text, *result, options_.max_answer_bytes);
    if (!written.ok()) return Failure{PromError::kExecution, written.message()};
    append_stats(text.data(), result->stats);
    text.data().end_object();
    return text.finish(remarks);
  }

  void append_stats(JsonWriter& json, const promql::QueryStats& stats) const {
    if (parameter(parameters_, "stats").empty()) return;
    const double took = seconds(options_.clock->mono() - question_.asked_at);
    json.key("stats").begin_object().key("timings").begin_object();
    json.key("execTotalTime").number(took).end_object();
    json.key("samples").begin_object().key("totalQueryableSamples");
    json.integer(static_cast<int64_t>(stats.samples_read)).end_object().end_object();
  }

  Outcome query() const {
    const auto limit = limit_parameter(parameters_);
    if (!limit.ok()) return limit.status();
    const auto time_ms = time_parameter(parameters_, "time", now_ms());
    if (!time_ms.ok()) return time_ms.status();
    const auto engine = engine_options();
    if (!engine.ok()) return engine.status();
    const auto expr = parsed_query();
    if (!expr.ok()) return expr.status();
    return evaluated(*engine, *limit, [&](const promql::Engine& e) {
      return e.instant(data(), **expr, *time_ms, stop_);
    });
  }

  Result<int64_t> needed_time(std::string_view name) const {
    auto time = parse_api_time(parameter(parameters_, name));
    if (time.ok()) return time;
    return invalid_parameter(name, time.status().message());
  }

  Result<promql::QueryRange> range_of_query() const {
    const int64_t start_ms = TRY(needed_time("start"));
    const int64_t end_ms = TRY(needed_time("end"));
    if (end_ms < start_ms) {
      return invalid_parameter("end", "end timestamp must not be before start time");
    }
    const auto step = parse_api_duration(parameter(parameters_, "step"));
    if (!step.ok()) return invalid_parameter("step", step.status().message());
    const int64_t step_ms = std::chrono::floor<std::chrono::milliseconds>(*step).count();
    if (step_ms <= 0) {
      return invalid_parameter("step",
                               "zero or negative query resolution step widths are not accepted. "
                               "Try a positive integer");
    }
    // The ends of time are further apart than 64 bits of milliseconds hold.
    const auto span_ms = static_cast<uint64_t>(end_ms) - static_cast<uint64_t>(start_ms);
    if (span_ms / static_cast<uint64_t>(step_ms) >= options_.limits.max_steps) {
      return Status(Code::kInvalidArgument,
                    "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing "
                    "the query resolution (?step=XX)");
    }
    return promql::QueryRange{.start_ms = start_ms, .end_ms = end_ms, .step_ms = step_ms};
  }

  Outcome query_range() const {
    const auto limit = limit_parameter(parameters_);
    if (!limit.ok()) return limit.status();
    const auto range = range_of_query();
    if (!range.ok()) return range.status();
    const auto engine = engine_options();
    if (!engine.ok()) return engine.status();
    const auto expr = parsed_query();
    if (!expr.ok()) return expr.status();
    const promql::ValueType type = (*expr)->type();
    if (type == promql::ValueType::kString || type == promql::ValueType::kMatrix) {
      return invalid_parameter(
          "query", fmt::format("invalid expression type \"{}\" for range query, must be "
                               "Scalar or instant Vector",
                               name_of(type)));
    }
    return evaluated(*engine, *limit, [&](const promql::Engine& e) {
      return e.range(data(), **expr, *range, stop_);
    });
  }

  // Label sets of the series that one set of matchers selects.
  Status add_series(std::span<const model::Matcher> matchers, const Span& span,
                    std::set<model::Labels>& found) const {
    const auto set = TRY(data().select(
        matchers, {.start_ms = span.start_ms - 1, .end_ms = span.end_ms, .function = "series"},
        stop_));
    while (const auto cursor = TRY(set->next())) {
      if (stop_.stop_requested()) return {Code::kCancelled, "the query was cancelled"};
      if (time_left({.limits = options_.limits}).count() <= 0) {
        return {Code::kExhausted, "no time was left"};
      }
      found.insert(cursor->labels());
      if (found.size() > options_.limits.max_series) {
        return {Code::kExhausted, fmt::format("the query needs more than its limit of {} series",
                                              options_.limits.max_series)};
      }
    }
    return {};
  }

  Outcome series() const {
    const bool is_any =
        std::ranges::any_of(parameters_, [](const auto& p) { return p.first == "match[]"; });
    if (!is_any) return Status(Code::kInvalidArgument, "no match[] parameter provided");
    const auto limit = limit_parameter(parameters_);
    if (!limit.ok()) return limit.status();
    const auto wanted = span();
    if (!wanted.ok()) return wanted.status();
    const auto sets = matcher_parameters(parameters_);
    if (!sets.ok()) return sets.status();
    std::set<model::Labels> found;
    for (const auto& matchers : *sets) {
      const Status added = add_series(matchers, *wanted, found);
      if (!added.ok()) return failure_of(added);
    }
    PromRemarks remarks;
    PromText text;
    text.data().begin_array();
    size_t count = 0;
    for (const model::Labels& one : found) {
      if (*limit > 0 && count++ == *limit) {
        remarks.warnings.emplace_back(kTruncated);
        break;
      }
      append_metric(text.data(), one);
    }
    text.data().end_array();
    return text.finish(remarks);
  }

  // What `list` finds for each match[], or for everything where there is none.
  template <typename List>
  Outcome listed(List list) const {
    const auto limit = limit_parameter(parameters_);
    if (!limit.ok()) return limit.status();
    const auto wanted = span();
    if (!wanted.ok()) return wanted.status();
    auto sets = matcher_parameters(parameters_);
    if (!sets.ok()) return sets.status();
    if (sets->empty()) sets->emplace_back();
    std::set<std::string> found;
    for (const auto& matchers : *sets) {
      Result<std::vector<std::string>> part = list(matchers, *wanted);
      if (!part.ok()) return failure_of(part.status());
      found.insert(part->begin(), part->end());
      if (stop_.stop_requested()) return Failure{PromError::kCanceled, "the query was cancelled"};
    }
    return list_text({found.begin(), found.end()}, *limit);
  }

  Outcome labels() const {
    return listed([&](std::span<const model::Matcher> matchers, const Span& wanted) {
      return data().label_names(matchers, wanted.start_ms, wanted.end_ms, stop_);
    });
  }

  Outcome label_values() const {
    if (question_.label.empty()) return Status(Code::kInvalidArgument, "invalid label name: \"\"");
    return listed([&](std::span<const model::Matcher> matchers, const Span& wanted) {
      return data().label_values(question_.label, matchers, wanted.start_ms, wanted.end_ms, stop_);
    });
  }

  Outcome metadata() const {
    const auto whole_number = [&](std::string_view name) -> Result<int64_t> {
      const std::string_view text = parameter(parameters_, name);
      if (text.empty()) return int64_t{-1};
      const auto number = parse_int(text);
      if (!number) return Status(Code::kInvalidArgument, fmt::format("{} must be a number", name));
      return *number;
    };
    const auto limit = whole_number("limit");
    if (!limit.ok()) return limit.status();
    // There is one entry a metric: that limit never cuts.
    const auto per_metric = whole_number("limit_per_metric");
    if (!per_metric.ok()) return per_metric.status();
    PromText text;
    append_metadata(text.data(), parameter(parameters_, "metric"), *limit);
    return text.finish();
  }

  Outcome format_query() const {
    const auto expr = parsed_query();
    if (!expr.ok()) return expr.status();
    PromText text;
    text.data().string(promql::print_pretty(**expr));
    return text.finish();
  }

  Outcome query_exemplars() const {
    const auto wanted = span();
    if (!wanted.ok()) return wanted.status();
    if (wanted->end_ms < wanted->start_ms) {
      return Status(Code::kInvalidArgument, "end timestamp must not be before start timestamp");
    }
    const auto expr = promql::parse(parameter(parameters_, "query"));
    if (!expr.ok()) return expr.status();
    return std::string(R"({"status":"success","data":[]})");
  }

  Outcome rules() const {
    const std::string type = promql::lower(parameter(parameters_, "type"));
    if (!type.empty() && type != "alert" && type != "record") {
      return invalid_parameter("type",
                               fmt::format("not supported value {}", promql::go_quoted(type)));
    }
    return std::string(R"({"status":"success","data":{"groups":[]}})");
  }

  // Clients choose by the version what they may ask for, so it is that of the interface spoken.
  Outcome build_info() const {
    PromText text;
    text.data().begin_object().key("version").string("3.0.0");
    text.data().key("revision").string("gpusight-" + options_.version);
    for (const auto* name : {"branch", "buildUser", "buildDate", "goVersion"}) {
      text.data().key(name).string("");
    }
    text.data().end_object();
    return text.finish();
  }

  const Options& options_;
  const PromQuestion& question_;
  const Parameters& parameters_;
  const std::stop_token& stop_;
};

Response PromApi::answer(const PromQuestion& question, const std::stop_token& stop) const {
  if (options_.data == nullptr && reads_history(question.call)) {
    return prom_error(PromError::kUnavailable, "there is no history to ask");
  }
  return Asked(options_, question, stop).answer().take();
}

}  // namespace gpusight::serve
