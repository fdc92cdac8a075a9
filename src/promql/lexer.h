// PromQL text to tokens, one at a time.
//
// What a character means depends on where it stands: between braces every word is a label, between
// brackets there are only durations. The lexer keeps that state, so that it must be asked for the
// next token only when the parser has understood the ones before. Comments and blanks are skipped.
//
// A Lexer is a plain value over a text that must outlive it; one thread. Errors are those that
// parse() gives: "LINE:COLUMN: parse error: …".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "promql/ast.h"

namespace gpusight::promql {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,        // without a colon
  kMetricIdentifier,  // with one
  kString,            // its text has the quotes
  kNumber,
  kDuration,
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
  kComma,
  kColon,
  kDoubleColon,
  kAssign,         // =
  kMatchRegex,     // =~
  kMatchNotRegex,  // !~
  kAt,
  kOperator,    // a binary one, Token::op
  kTrim,        // "</" and ">/", which work on native histograms
  kAggregator,  // sum, topk, …
  kBy,
  kWithout,
  kOffset,
  kOn,
  kIgnoring,
  kGroupLeft,
  kGroupRight,
  kBool,
  kStart,
  kFinish,    // the word "end"
  kExtended,  // anchored, smoothed
  kFill,      // fill, fill_left, fill_right before a parenthesis
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Position position;
  std::string_view text;  // as written
  BinaryOp op = BinaryOp::kAdd;
};
// As messages name it: `identifier "foo"`, `<op:+>`, `end of input`.
std::string describe(const Token& token);

// An error at a place in `query`, as parse() words it.
Status parse_error(std::string_view query, Position position, std::string_view message,
                   Code code = Code::kInvalidArgument);

class Lexer {
 public:
  explicit Lexer(std::string_view query) : query_(query) {}
  Result<Token> next();

 private:
  enum class Bracket : uint8_t { kClosed, kEmpty, kNumberSeen, kColonSeen };

  void skip_blanks_and_comments();
  Result<Token> next_between_braces();
  Result<Token> next_between_brackets();
  Result<Token> next_anywhere();
  Result<Token> word();
  Result<Token> colon();
  Result<Token> number_or_duration();
  Result<Token> string();
  Result<Token> raw_string();
  Result<Token> end();
  bool scan_number();
  bool scan_digits_and_marks(bool hexadecimal);
  bool scan_duration();
  Status scan_escape(char quote);
  Status scan_escape_digits(size_t count, int base, uint32_t largest);

  char peek(size_t ahead = 0) const {
    return at_ + ahead < query_.size() ? query_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= query_.size(); }
  bool accept(char c);
  Token take(TokenKind kind, size_t length = 0);
  Token take_operator(BinaryOp op, size_t length);
  Status error(std::string_view message) const;
  Status unexpected_character(std::string_view where, std::string_view wanted = "") const;
  Status unexpected_closing_paren();

  std::string_view query_;
  size_t start_ = 0;  // of the token being read
  size_t at_ = 0;
  int parens_ = 0;
  bool brace_open_ = false;
  Bracket bracket_ = Bracket::kClosed;
};

}  // namespace gpusight::promql
