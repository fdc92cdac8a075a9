// Tokens with one of look-ahead, and the errors about them. What the parsers of expressions and of
// label sets stand on. One thread; the query must outlive it.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "promql/lexer.h"

namespace gpusight::promql {

class TokenStream {
 public:
  explicit TokenStream(std::string_view query) : query_(query), lexer_(query) {}

  // The next token, which stays the next.
  Result<Token> peek();
  Result<Token> take();
  // Takes the next token if it is of this kind.
  Result<bool> accept(TokenKind kind);

  // "unexpected THIS in CONTEXT, expected WANTED", of the next token; empty parts are left out.
  Status unexpected(std::string_view context, std::string_view wanted);
  Status error(Position position, std::string_view message,
               Code code = Code::kInvalidArgument) const {
    return parse_error(query_, position, message, code);
  }

 private:
  std::string_view query_;
  Lexer lexer_;
  std::optional<Token> next_;
};

// Whether a token can name a metric: an identifier, or one of the words that Prometheus lets stand
// for themselves.
bool names_metric(const Token& token);
// Whether it can name a label in a grouping.
bool names_label(const Token& token);

}  // namespace gpusight::promql
