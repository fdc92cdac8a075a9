#include "promql/token_stream.h"

#include <string>

#include <fmt/format.h>

namespace gpusight::promql {

Result<Token> TokenStream::peek() {
  if (!next_) next_ = TRY(lexer_.next());
  return *next_;
}

Result<Token> TokenStream::take() {
  const Token token = TRY(peek());
  next_.reset();
  return token;
}

Result<bool> TokenStream::accept(TokenKind kind) {
  const Token token = TRY(peek());
  if (token.kind != kind) return false;
  next_.reset();
  return true;
}

Status TokenStream::unexpected(std::string_view context, std::string_view wanted) {
  const Token token = TRY(peek());
  std::string message = "unexpected " + describe(token);
  if (!context.empty()) message += fmt::format(" in {}", context);
  if (!wanted.empty()) message += fmt::format(", expected {}", wanted);
  return error(token.position, message);
}

bool names_metric(const Token& token) {
  switch (token.kind) {
    case TokenKind::kIdentifier:
    case TokenKind::kMetricIdentifier:
    case TokenKind::kAggregator:
    case TokenKind::kBy:
    case TokenKind::kWithout:
    case TokenKind::kOffset:
    case TokenKind::kStart:
    case TokenKind::kFinish:
    case TokenKind::kExtended:
    case TokenKind::kFill: return true;
    case TokenKind::kOperator: return is_set_operator(token.op);
    default: return false;
  }
}

bool names_label(const Token& token) {
  switch (token.kind) {
    case TokenKind::kOn:
    case TokenKind::kIgnoring:
    case TokenKind::kGroupLeft:
    case TokenKind::kGroupRight:
    case TokenKind::kBool: return true;
    case TokenKind::kOperator: return is_set_operator(token.op) || token.op == BinaryOp::kAtan2;
    default: return names_metric(token);
  }
}

}  // namespace gpusight::promql
