// The parser's part for selectors and what stands behind them: matchers, ranges, subqueries,
// offsets, times.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/duration.h"
#include "promql/literal.h"
#include "promql/matcher.h"
#include "promql/parser_impl.h"

namespace gpusight::promql {
namespace {

constexpr std::string_view kName = "__name__";
// Either side of 1970, in milliseconds: up to here a time keeps its milliseconds as a double of
// seconds, which is how it is written. Some 31,000 years.
constexpr double kMaxTimeMs = 1e15;

// What "offset" and "@" act on; nullptr: nothing they may stand behind.
TimeShift* shift_of(Expr& expr) {
  if (auto* selector = std::get_if<VectorSelector>(&expr.node)) return &selector->shift;
  if (auto* matrix = std::get_if<MatrixSelector>(&expr.node)) return &matrix->selector.shift;
  if (auto* subquery = std::get_if<Subquery>(&expr.node)) return &subquery->shift;
  return nullptr;
}

std::optional<model::Matcher::Kind> matcher_kind(const Token& token) {
  switch (token.kind) {
    case TokenKind::kAssign: return model::Matcher::Kind::kEqual;
    case TokenKind::kMatchRegex: return model::Matcher::Kind::kRegex;
    case TokenKind::kMatchNotRegex: return model::Matcher::Kind::kNotRegex;
    case TokenKind::kOperator:
      if (token.op == BinaryOp::kNotEqual) return model::Matcher::Kind::kNotEqual;
      return std::nullopt;
    default: return std::nullopt;
  }
}

bool is_sign(const Token& token) {
  return token.kind == TokenKind::kOperator &&
         (token.op == BinaryOp::kAdd || token.op == BinaryOp::kSub);
}

bool is_number(const Token& token) {
  return token.kind == TokenKind::kNumber || token.kind == TokenKind::kDuration;
}

}  // namespace

// Whatever begins with a name or a brace: also functions and aggregations.
Result<Tree> Parser::selector() {
  const Token first = TRY(tokens_.peek());
  VectorSelector selector;
  Position position = first.position;
  if (names_metric(first)) {
    TRY(tokens_.take());
    const Token second = TRY(tokens_.peek());
    const bool grouping = second.kind == TokenKind::kBy || second.kind == TokenKind::kWithout;
    const bool paren = second.kind == TokenKind::kLeftParen;
    if (first.kind == TokenKind::kAggregator && (paren || grouping)) return aggregate(first);
    const bool function = first.kind == TokenKind::kIdentifier || first.kind == TokenKind::kStart ||
                          first.kind == TokenKind::kFinish;
    if (function && paren) return call(first);
    selector.name = first.text;
    selector.matchers.push_back(model::equal_matcher(std::string(kName), selector.name));
  } else if (first.kind != TokenKind::kLeftBrace) {
    return unexpected_in_expression();
  }
  if (TRY(tokens_.peek()).kind == TokenKind::kLeftBrace) {
    if (Status bad = matchers(selector, position.end); !bad.ok()) return bad;
  }
  return node(std::move(selector), position, 1);
}

Status Parser::matchers(VectorSelector& selector, size_t& end) {
  TRY(tokens_.take());
  Token token = TRY(tokens_.peek());
  while (token.kind != TokenKind::kRightBrace) {
    selector.matchers.push_back(TRY(matcher()));
    token = TRY(tokens_.peek());
    if (token.kind == TokenKind::kRightBrace) break;
    if (token.kind != TokenKind::kComma) {
      return tokens_.unexpected("label matching", "\",\" or \"}\"");
    }
    TRY(tokens_.take());
    token = TRY(tokens_.peek());
  }
  TRY(tokens_.take());
  end = token.position.end;
  return {};
}

// `name="value"`, `"any name"="value"`, or a metric's name in quotes alone.
Result<model::Matcher> Parser::matcher() {
  const Token name = TRY(tokens_.peek());
  const bool in_quotes = name.kind == TokenKind::kString;
  if (!in_quotes && name.kind != TokenKind::kIdentifier) {
    return tokens_.unexpected("label matching", "identifier or \"}\"");
  }
  TRY(tokens_.take());
  std::string label(name.text);
  if (in_quotes) {
    Result<std::string> text = unquote_text(name.text);
    if (!text.ok()) return tokens_.error(name.position, text.status().message());
    label = std::move(*text);
  }
  const std::optional<model::Matcher::Kind> kind = matcher_kind(TRY(tokens_.peek()));
  if (!kind && in_quotes) return model::equal_matcher(std::string(kName), label);
  if (!kind) return tokens_.unexpected("label matching", "label matching operator");
  TRY(tokens_.take());
  const Token value = TRY(tokens_.peek());
  if (value.kind != TokenKind::kString) return tokens_.unexpected("label matching", "string");
  TRY(tokens_.take());
  const Position position{name.position.start, value.position.end};
  if (label == "__type__" || label == "__unit__") {
    return tokens_.error(position,
                         fmt::format("label \"{}\" is metadata, which is not supported", label),
                         Code::kUnsupported);
  }
  Result<std::string> text = unquote_text(value.text);
  if (!text.ok()) return tokens_.error(value.position, text.status().message());
  Result<model::Matcher> made = make_matcher(std::move(label), *kind, std::move(*text));
  if (!made.ok()) return tokens_.error(position, made.status().message());
  return made;
}

// "[5m]", "[5m:]" or "[5m:1m]".
Result<Tree> Parser::bracket(Tree tree) {
  const Token left = TRY(tokens_.take());
  const int64_t range_ms =
      TRY(bracketed_duration("subquery or range selector", "number or duration"));
  Token token = TRY(tokens_.peek());
  if (token.kind == TokenKind::kDoubleColon) {
    return tokens_.error(token.position,
                         "aligned subquery \"::\" is experimental and not supported",
                         Code::kUnsupported);
  }
  if (token.kind == TokenKind::kRightBracket) {
    TRY(tokens_.take());
    return matrix(std::move(tree), range_ms, {left.position.start, token.position.end});
  }
  if (token.kind != TokenKind::kColon) {
    return tokens_.unexpected("subquery or range", "\":\" or \"]\"");
  }
  TRY(tokens_.take());
  Subquery subquery{.range_ms = range_ms};
  if (TRY(tokens_.peek()).kind != TokenKind::kRightBracket) {
    subquery.step_ms = TRY(bracketed_duration("subquery selector", "number or duration or \"]\""));
  }
  token = TRY(tokens_.peek());
  if (token.kind != TokenKind::kRightBracket) {
    return tokens_.unexpected("subquery selector", "\"]\"");
  }
  TRY(tokens_.take());
  const Position position{tree.expr->position.start, token.position.end};
  subquery.expr = std::move(tree.expr);
  return node(std::move(subquery), position, tree.height + 1);
}

Result<Tree> Parser::matrix(Tree tree, int64_t range_ms, Position bracket) {
  auto* selector = std::get_if<VectorSelector>(&tree.expr->node);
  if (selector == nullptr) {
    return tokens_.error(bracket, "ranges only allowed for vector selectors");
  }
  if (selector->shift.offset_ms != 0) {
    return tokens_.error(bracket, "no offset modifiers allowed before range");
  }
  if (selector->shift.at != TimeShift::At::kNone) {
    return tokens_.error(bracket, "no @ modifiers allowed before range");
  }
  const Position position{tree.expr->position.start, bracket.end};
  return node(MatrixSelector{.selector = std::move(*selector), .range_ms = range_ms}, position, 1);
}

Result<int64_t> Parser::bracketed_duration(std::string_view context, std::string_view wanted) {
  Token token = TRY(tokens_.peek());
  const Position start = token.position;
  bool negative = false;
  if (is_sign(token)) {
    negative = token.op == BinaryOp::kSub;
    TRY(tokens_.take());
    token = TRY(tokens_.peek());
  }
  if (token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kLeftParen) {
    return duration_expression(start);
  }
  if (!is_number(token)) return tokens_.unexpected(context, wanted);
  TRY(tokens_.take());
  const double seconds = TRY(number_value(token));
  const Result<int64_t> ms = seconds_to_ms(seconds);
  if (!ms.ok()) return tokens_.error(start, ms.status().message());
  if (TRY(tokens_.peek()).kind == TokenKind::kOperator) return duration_expression(start);
  if (negative || *ms <= 0) return tokens_.error(start, "duration must be greater than 0");
  return *ms;
}

Status Parser::duration_expression(Position position) {
  return tokens_.error(position, "duration expressions are experimental and not supported",
                       Code::kUnsupported);
}

Status Parser::offset(Tree& tree) {
  TRY(tokens_.take());
  Token token = TRY(tokens_.peek());
  const Position start = token.position;
  bool negative = false;
  if (is_sign(token)) {
    negative = token.op == BinaryOp::kSub;
    TRY(tokens_.take());
    token = TRY(tokens_.peek());
  }
  const bool word = token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kAggregator;
  if (token.kind == TokenKind::kLeftParen ||
      (word && (token.text == "step" || token.text == "range" || token.text == "min" ||
                token.text == "max"))) {
    return duration_expression(start);
  }
  if (!is_number(token)) return tokens_.unexpected("offset", "number or duration");
  TRY(tokens_.take());
  const Result<int64_t> ms = seconds_to_ms(TRY(number_value(token)));
  if (!ms.ok()) return tokens_.error(start, ms.status().message());
  TimeShift* shift = shift_of(*tree.expr);
  if (shift == nullptr) {
    return tokens_.error(tree.expr->position,
                         "offset modifier must be preceded by an instant vector selector or range "
                         "vector selector or a subquery");
  }
  if (shift->offset_ms != 0) {
    return tokens_.error(tree.expr->position, "offset may not be set multiple times");
  }
  shift->offset_ms = negative ? -*ms : *ms;
  tree.expr->position.end = token.position.end;
  return {};
}

Status Parser::at(Tree& tree) {
  TRY(tokens_.take());
  const Token token = TRY(tokens_.peek());
  TimeShift wanted;
  size_t end = 0;
  if (token.kind == TokenKind::kStart || token.kind == TokenKind::kFinish) {
    TRY(tokens_.take());
    wanted.at = token.kind == TokenKind::kStart ? TimeShift::At::kStart : TimeShift::At::kEnd;
    if (!TRY(tokens_.accept(TokenKind::kLeftParen))) return tokens_.unexpected("@", "timestamp");
    const Token right = TRY(tokens_.peek());
    if (right.kind != TokenKind::kRightParen) return tokens_.unexpected("@", "timestamp");
    TRY(tokens_.take());
    end = right.position.end;
  } else {
    const double seconds = TRY(timestamp(end));
    if (!(std::fabs(seconds) * 1000 <= kMaxTimeMs)) {
      return tokens_.error(tree.expr->position,
                           fmt::format("timestamp out of bounds for @ modifier: {}",
                                       std::isfinite(seconds) ? fmt::format("{:f}", seconds)
                                                              : number_text(seconds)));
    }
    wanted.at = TimeShift::At::kTime;
    wanted.at_ms = std::llround(seconds * 1000);
  }
  TimeShift* shift = shift_of(*tree.expr);
  if (shift == nullptr) {
    return tokens_.error(tree.expr->position,
                         "@ modifier must be preceded by an instant vector selector or range "
                         "vector selector or a subquery");
  }
  if (shift->at != TimeShift::At::kNone) {
    return tokens_.error(tree.expr->position, "@ <timestamp> may not be set multiple times");
  }
  shift->at = wanted.at;
  shift->at_ms = wanted.at_ms;
  tree.expr->position.end = end;
  return {};
}

// Seconds since 1970, with or without a sign; `end` is set to the text's end.
Result<double> Parser::timestamp(size_t& end) {
  Token token = TRY(tokens_.peek());
  bool negative = false;
  if (is_sign(token)) {
    negative = token.op == BinaryOp::kSub;
    TRY(tokens_.take());
    token = TRY(tokens_.peek());
  }
  if (!is_number(token)) return tokens_.unexpected("@", "timestamp");
  TRY(tokens_.take());
  end = token.position.end;
  const double seconds = TRY(number_value(token));
  return negative ? -seconds : seconds;
}

}  // namespace gpusight::promql
