#include "tests/promql/script.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"
#include "promql/literal.h"
#include "promql/parser.h"

namespace gpusight::conformance {
namespace {

Status bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

// Takes the first word off `rest`.
std::string_view take_word(std::string_view& rest) {
  rest = trim(rest);
  const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trim(rest.substr(end));
  return word;
}

// Takes `word` off `rest` if it stands first.
bool take(std::string_view& rest, std::string_view word) {
  std::string_view after = rest;
  if (take_word(after) != word) return false;
  rest = after;
  return true;
}

// "5m", "0", "1m500ms", "1.5" (seconds), and any of them with a minus sign.
Result<int64_t> parse_time(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text == "0") return int64_t{0};
  const int64_t time_ms = TRY(promql::parse_duration(text));
  return negative ? -time_ms : time_ms;
}

Result<int64_t> parse_interval(std::string_view text) {
  const int64_t interval_ms = TRY(parse_time(text));
  if (interval_ms <= 0) return bad(fmt::format("'{}' is no time between points", text));
  return interval_ms;
}

// "5", "-Inf", "0x1f", "1_000", "017" (15), alone on a line: a scalar.
std::optional<double> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const Result<double> number = promql::parse_number(text);
  if (!number.ok()) return std::nullopt;
  return negative ? -*number : *number;
}

// The text between quotes, if it stands in any.
std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

Wanted anything() {
  return {.said = "any message", .accepts = [](std::string_view) { return true; }};
}

// The notation has no quotes around a message, its description has; both are taken.
Wanted message_wanted(std::string_view text) {
  const std::string plain(text);
  const std::string unquoted(without_quotes(text));
  return {.said = plain, .accepts = [plain, unquoted](std::string_view message) {
            return message == plain || message == unquoted;
          }};
}

Result<Wanted> pattern_wanted(std::string_view text) {
  const std::string_view pattern = without_quotes(text);
  const auto compiled =
      std::make_shared<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), RE2::Quiet);
  if (!compiled->ok()) {
    return bad(fmt::format("the pattern '{}' is none: {}", pattern, compiled->error()));
  }
  return Wanted{.said = fmt::format("something like '{}'", pattern),
                .accepts = [compiled](std::string_view message) {
                  return RE2::PartialMatch(re2::StringPiece(message.data(), message.size()),
                                           *compiled);
                }};
}

// The lines of a script with where we are in it. Comments read as empty lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : lines_(split(text, '\n')) {
    for (std::string_view& line : lines_) {
      line = trim(line);
      if (line.starts_with('#')) line = {};
    }
  }
  bool at_end() const { return at_ == lines_.size(); }
  std::string_view take() { return lines_[at_++]; }
  // The next line of a block; false at its end.
  bool take_of_block(std::string_view& line) {
    if (at_end() || lines_[at_].empty()) return false;
    line = take();
    return true;
  }
  size_t number() const { return at_; }  // of the line taken last, from 1

 private:
  std::vector<std::string_view> lines_;
  size_t at_ = 0;
};

// Prometheus keeps the last of two lines for one series.
void put_series(std::vector<promql::NotedSeries>& all, promql::NotedSeries series) {
  const auto same = std::ranges::find(all, series.labels, &promql::NotedSeries::labels);
  if (same == all.end()) {
    all.push_back(std::move(series));
  } else {
    *same = std::move(series);
  }
}

Result<Load> parse_load(std::string_view variant, std::string_view rest, Lines& lines) {
  Load load;
  if (variant == "with_nhcb") {
    load.with_histograms = true;
  } else if (!variant.empty()) {
    return bad(fmt::format("there is no 'load_{}'", variant));
  }
  load.interval_ms = TRY(parse_interval(rest));
  for (std::string_view line; lines.take_of_block(line);) {
    put_series(load.series, TRY(promql::parse_series(line)));
  }
  return load;
}

// Reads "from A to B step C" off `rest`.
Result<promql::QueryRange> parse_range(std::string_view& rest) {
  const auto part = [&](std::string_view word) -> Result<std::string_view> {
    if (!take(rest, word)) return bad(fmt::format("'{}' is missing: from A to B step C", word));
    return take_word(rest);
  };
  promql::QueryRange range;
  range.start_ms = TRY(parse_time(TRY(part("from"))));
  range.end_ms = TRY(parse_time(TRY(part("to"))));
  range.step_ms = TRY(parse_interval(TRY(part("step"))));
  if (range.end_ms < range.start_ms) return bad("the range ends before it starts");
  return range;
}

// The lines of an eval block, one by one.
class EvalBlock {
 public:
  explicit EvalBlock(Eval& eval) : eval_(eval) {}

  // False: the block is complete with this line.
  Result<bool> read(std::string_view line) {
    std::string_view rest = line;
    if (take(rest, "expect")) {
      TRY(read_expect(rest));
      return true;
    }
    if (take(rest, "expected_fail_message")) {
      eval_.failures.push_back(message_wanted(rest));
      return true;
    }
    if (take(rest, "expected_fail_regexp")) {
      eval_.failures.push_back(TRY(pattern_wanted(rest)));
      return true;
    }
    if (const auto number = parse_number(line)) {
      eval_.scalar = *number;
      return false;
    }
    promql::NotedSeries series = TRY(promql::parse_series(line));
    if (!eval_.is_range && !eval_.matrix_times && series.points.size() > 1) {
      return bad("an instant query has one point for each series");
    }
    put_series(eval_.series, std::move(series));
    return true;
  }

 private:
  Status read_expect(std::string_view rest) {
    std::string_view after = rest;
    const std::string_view kind = take_word(after);
    if (kind == "string") return read_string(after);
    if (kind == "range" && take(after, "vector")) return read_range_vector(after);
    if (kind == "fail") {
      eval_.fails = true;
      return read_wanted(after, eval_.failures);
    }
    if (kind == "warn") return read_wanted(after, eval_.warnings);
    if (kind == "info") return read_wanted(after, eval_.infos);
    if (!after.empty()) return bad(fmt::format("'{}' after 'expect {}'", after, kind));
    if (kind == "no_warn") {
      eval_.no_warnings = true;
    } else if (kind == "no_info") {
      eval_.no_infos = true;
    } else if (kind == "ordered") {
      if (eval_.is_range) return bad("the result of a range query has always the same order");
      eval_.ordered = true;
    } else {
      return bad(fmt::format("there is no 'expect {}'", kind));
    }
    return {};
  }

  static Status read_wanted(std::string_view rest, std::vector<Wanted>& wanted) {
    if (rest.empty()) {
      wanted.push_back(anything());
      return {};
    }
    const size_t colon = rest.find(':');
    const std::string_view kind = rest.substr(0, colon);
    const std::string_view text =
        colon == std::string_view::npos ? std::string_view() : trim(rest.substr(colon + 1));
    if (kind == "msg" && !text.empty()) {
      wanted.push_back(message_wanted(text));
    } else if (kind == "regex" && !text.empty()) {
      wanted.push_back(TRY(pattern_wanted(text)));
    } else {
      return bad(fmt::format("'{}' is neither 'msg: TEXT' nor 'regex: PATTERN'", rest));
    }
    return {};
  }

  Status read_string(std::string_view text) {
    if (eval_.is_range) return bad("a range query gives no string");
    const promql::ExprPtr expr = TRY(promql::parse(text));
    const auto* literal = expr->as<promql::StringLiteral>();
    if (literal == nullptr) return bad(fmt::format("'{}' is no string in quotes", text));
    eval_.string = literal->value;
    return {};
  }

  Status read_range_vector(std::string_view rest) {
    if (eval_.is_range) return bad("'expect range vector' is for instant queries");
    eval_.matrix_times = TRY(parse_range(rest));
    if (!rest.empty()) return bad(fmt::format("'{}' after the step", rest));
    return {};
  }

  Eval& eval_;
};

Status start_eval(Eval& eval, std::string_view variant, std::string_view rest) {
  std::string_view kind = take_word(rest);
  eval.is_range = kind == "range";
  if (!eval.is_range && kind != "instant") {
    return bad(fmt::format("'{}' is neither 'instant' nor 'range'", kind));
  }
  if (variant == "fail") {
    eval.fails = true;
  } else if (variant == "warn") {
    eval.warnings.push_back(anything());
  } else if (variant == "info") {
    eval.infos.push_back(anything());
  } else if (variant == "ordered" && !eval.is_range) {
    eval.ordered = true;
  } else if (!variant.empty()) {
    return bad(fmt::format("there is no 'eval_{} {}'", variant, kind));
  }
  if (eval.is_range) {
    eval.range = TRY(parse_range(rest));
  } else if (take(rest, "at")) {
    eval.range.start_ms = eval.range.end_ms = TRY(parse_time(take_word(rest)));
  }
  if (rest.empty()) return bad("there is no query");
  eval.query = std::string(rest);
  return {};
}

Result<Eval> parse_eval(std::string_view variant, std::string_view rest, Lines& lines) {
  Eval eval;
  TRY(start_eval(eval, variant, rest));
  EvalBlock block(eval);
  for (std::string_view line; lines.take_of_block(line);) {
    if (!TRY(block.read(line))) break;
  }
  return eval;
}

// "load_with_nhcb" of `word` is {"load", "with_nhcb"}.
std::pair<std::string_view, std::string_view> split_variant(std::string_view word) {
  const size_t at = word.find('_');
  if (at == std::string_view::npos) return {word, {}};
  return {word.substr(0, at), word.substr(at + 1)};
}

Result<Command> parse_command(std::string_view line, Lines& lines) {
  Command command{.line = lines.number()};
  std::string_view rest = line;
  const std::string_view word = take_word(rest);
  const auto [verb, variant] = split_variant(word);
  if (verb == "load") {
    command.what = TRY(parse_load(variant, rest, lines));
  } else if (verb == "eval") {
    command.what = TRY(parse_eval(variant, rest, lines));
  } else if (word == "clear" && rest.empty()) {
    command.what = Clear{};
  } else {
    return bad(fmt::format("'{}' is no command: load, clear and eval are", clean_text(line)));
  }
  return command;
}

}  // namespace

Result<std::vector<Command>> parse_script(std::string_view text) {
  std::vector<Command> commands;
  Lines lines(text);
  while (!lines.at_end()) {
    const std::string_view line = lines.take();
    if (line.empty()) continue;
    Result<Command> command = parse_command(line, lines);
    if (!command.ok()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: {}", lines.number(), command.status().message()));
    }
    commands.push_back(std::move(command).value());
  }
  return commands;
}

}  // namespace gpusight::conformance
