#include "promql/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "promql/literal.h"
#include "promql/parser_impl.h"

namespace gpusight::promql {
namespace {

constexpr int kPowPrecedence = 6;
int precedence_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr: return 1;
    case BinaryOp::kAnd:
    case BinaryOp::kUnless: return 2;
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kLess:
    case BinaryOp::kGreaterOrEqual:
    case BinaryOp::kLessOrEqual: return 3;
    case BinaryOp::kAdd:
    case BinaryOp::kSub: return 4;
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kAtan2: return 5;
    case BinaryOp::kPow: return kPowPrecedence;
  }
  return 0;
}

std::string too_deep() {
  return fmt::format("expression is nested deeper than {} levels", kMaxDepth);
}

}  // namespace

Result<ExprPtr> parse(std::string_view query) {
  if (query.size() > kMaxQueryLength) {
    return Status(Code::kInvalidArgument,
                  fmt::format("1:1: parse error: query is longer than {} bytes", kMaxQueryLength));
  }
  ExprPtr expr = TRY(Parser(query).whole());
  if (Status bad = check(query, *expr); !bad.ok()) return bad;
  return expr;
}

Result<ExprPtr> Parser::whole() {
  const Token first = TRY(tokens_.peek());
  if (first.kind == TokenKind::kEnd) return tokens_.error({}, "no expression found in input");
  Tree tree = TRY(expression(1));
  const Token rest = TRY(tokens_.peek());
  if (rest.kind != TokenKind::kEnd) return tokens_.unexpected("", "");
  return std::move(tree.expr);
}

Result<Tree> Parser::expression(int min_precedence) {
  if (level_ >= kMaxDepth) return tokens_.error(TRY(tokens_.peek()).position, too_deep());
  ++level_;
  Result<Tree> tree = chain(min_precedence);
  --level_;
  return tree;
}

Result<Tree> Parser::chain(int min_precedence) {
  Tree lhs = TRY(unary());
  for (;;) {
    const Token token = TRY(tokens_.peek());
    if (token.kind == TokenKind::kTrim) {
      return tokens_.error(token.position,
                           fmt::format("operator \"{}\" works on native histograms, which are "
                                       "not supported",
                                       token.text),
                           Code::kUnsupported);
    }
    if (token.kind != TokenKind::kOperator || precedence_of(token.op) < min_precedence) return lhs;
    TRY(tokens_.take());
    lhs = TRY(binary(std::move(lhs), token));
  }
}

Result<Tree> Parser::binary(Tree lhs, const Token& op) {
  Binary binary{.op = op.op};
  binary.matching.emplace();
  if (Status bad = binary_modifiers(binary); !bad.ok()) return bad;
  const bool right_associative = op.op == BinaryOp::kPow;
  Tree rhs = TRY(expression(precedence_of(op.op) + (right_associative ? 0 : 1)));
  const Position position{lhs.expr->position.start, rhs.expr->position.end};
  const int height = std::max(lhs.height, rhs.height) + 1;
  binary.lhs = std::move(lhs.expr);
  binary.rhs = std::move(rhs.expr);
  return node(std::move(binary), position, height);
}

// "bool", "on (…)" or "ignoring (…)", and behind either "group_left (…)" or "group_right (…)".
Status Parser::binary_modifiers(Binary& binary) {
  binary.return_bool = TRY(tokens_.accept(TokenKind::kBool));
  VectorMatching& matching = *binary.matching;
  size_t end = 0;
  Token token = TRY(tokens_.peek());
  if (token.kind == TokenKind::kOn || token.kind == TokenKind::kIgnoring) {
    TRY(tokens_.take());
    matching.on = token.kind == TokenKind::kOn;
    matching.labels = TRY(grouping(end));
    token = TRY(tokens_.peek());
    if (token.kind == TokenKind::kGroupLeft || token.kind == TokenKind::kGroupRight) {
      TRY(tokens_.take());
      matching.cardinality = token.kind == TokenKind::kGroupLeft
                                 ? VectorMatching::Cardinality::kManyToOne
                                 : VectorMatching::Cardinality::kOneToMany;
      if (TRY(tokens_.peek()).kind == TokenKind::kLeftParen) {
        matching.include = TRY(grouping(end));
      }
      token = TRY(tokens_.peek());
    }
  }
  if (token.kind != TokenKind::kFill) return {};
  return tokens_.error(
      token.position,
      fmt::format("binop {} modifier is experimental and not supported", lower(token.text)),
      Code::kUnsupported);
}

// A sign binds like "*", so that -2^2 is -(2^2); one before a number is part of the number.
Result<Tree> Parser::unary() {
  const Token sign = TRY(tokens_.peek());
  const bool negative = sign.kind == TokenKind::kOperator && sign.op == BinaryOp::kSub;
  const bool positive = sign.kind == TokenKind::kOperator && sign.op == BinaryOp::kAdd;
  if (!negative && !positive) return modified();
  TRY(tokens_.take());
  Tree operand = TRY(expression(kPowPrecedence));
  if (auto* number = std::get_if<NumberLiteral>(&operand.expr->node)) {
    if (negative) number->value = -number->value;
    operand.expr->position.start = sign.position.start;
    return operand;
  }
  const Position position{sign.position.start, operand.expr->position.end};
  return node(Unary{.negative = negative, .expr = std::move(operand.expr)}, position,
              operand.height + 1);
}

// With ranges, offsets and times behind it, in any order that makes sense.
Result<Tree> Parser::modified() {
  Tree tree = TRY(primary());
  for (;;) {
    const Token token = TRY(tokens_.peek());
    Status done;
    if (token.kind == TokenKind::kLeftBracket) {
      tree = TRY(bracket(std::move(tree)));
    } else if (token.kind == TokenKind::kOffset) {
      done = offset(tree);
    } else if (token.kind == TokenKind::kAt) {
      done = at(tree);
    } else if (token.kind == TokenKind::kExtended) {
      done = tokens_.error(
          tree.expr->position,
          fmt::format("{} modifier is experimental and not supported", lower(token.text)),
          Code::kUnsupported);
    } else {
      return tree;
    }
    if (!done.ok()) return done;
  }
}

Result<Tree> Parser::primary() {
  const Token token = TRY(tokens_.peek());
  switch (token.kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration: return number();
    case TokenKind::kString: {
      TRY(tokens_.take());
      Result<std::string> value = unquote_text(token.text);
      if (!value.ok()) return tokens_.error(token.position, value.status().message());
      return node(StringLiteral{std::move(*value)}, token.position, 1);
    }
    case TokenKind::kLeftParen: return paren();
    default: return selector();
  }
}

Result<Tree> Parser::number() {
  const Token token = TRY(tokens_.take());
  const double value = TRY(number_value(token));
  return node(NumberLiteral{.value = value, .is_duration = token.kind == TokenKind::kDuration},
              token.position, 1);
}

Result<Tree> Parser::paren() {
  const Token left = TRY(tokens_.take());
  Tree inner = TRY(expression(1));
  const Token right = TRY(tokens_.peek());
  if (right.kind != TokenKind::kRightParen) return unexpected_in_expression();
  TRY(tokens_.take());
  return node(Paren{std::move(inner.expr)}, {left.position.start, right.position.end},
              inner.height + 1);
}

Result<Tree> Parser::node(Expr::Node node, Position position, int height) {
  if (height > kMaxDepth) return tokens_.error(position, too_deep());
  auto expr = std::make_unique<Expr>();
  expr->node = std::move(node);
  expr->position = position;
  return Tree{.expr = std::move(expr), .height = height};
}

Status Parser::unexpected_in_expression() {
  return tokens_.unexpected(open_aggregations_ > 0 ? "aggregation" : "", "");
}

Result<double> Parser::number_value(const Token& token) {
  if (token.kind == TokenKind::kDuration) {
    const Result<int64_t> ms = parse_duration(token.text);
    if (!ms.ok()) return tokens_.error(token.position, ms.status().message());
    return static_cast<double>(*ms) / 1000;
  }
  const Result<double> value = parse_number(token.text);
  if (!value.ok()) return tokens_.error(token.position, value.status().message());
  return *value;
}

}  // namespace gpusight::promql
