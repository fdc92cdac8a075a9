#include "promql/lexer.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "promql/literal.h"

namespace gpusight::promql {
namespace {

struct Word {
  std::string_view text;
  TokenKind kind;
  BinaryOp op = BinaryOp::kAdd;
};

// Words that are more than names, in lower case. limitk and limit_ratio are refused by the parser.
constexpr Word kWords[] = {
    {"and", TokenKind::kOperator, BinaryOp::kAnd},
    {"or", TokenKind::kOperator, BinaryOp::kOr},
    {"unless", TokenKind::kOperator, BinaryOp::kUnless},
    {"atan2", TokenKind::kOperator, BinaryOp::kAtan2},
    {"sum", TokenKind::kAggregator},
    {"avg", TokenKind::kAggregator},
    {"count", TokenKind::kAggregator},
    {"min", TokenKind::kAggregator},
    {"max", TokenKind::kAggregator},
    {"group", TokenKind::kAggregator},
    {"stddev", TokenKind::kAggregator},
    {"stdvar", TokenKind::kAggregator},
    {"topk", TokenKind::kAggregator},
    {"bottomk", TokenKind::kAggregator},
    {"count_values", TokenKind::kAggregator},
    {"quantile", TokenKind::kAggregator},
    {"limitk", TokenKind::kAggregator},
    {"limit_ratio", TokenKind::kAggregator},
    {"offset", TokenKind::kOffset},
    {"by", TokenKind::kBy},
    {"without", TokenKind::kWithout},
    {"on", TokenKind::kOn},
    {"ignoring", TokenKind::kIgnoring},
    {"group_left", TokenKind::kGroupLeft},
    {"group_right", TokenKind::kGroupRight},
    {"bool", TokenKind::kBool},
    {"start", TokenKind::kStart},
    {"end", TokenKind::kFinish},
    {"anchored", TokenKind::kExtended},
    {"smoothed", TokenKind::kExtended},
    {"fill", TokenKind::kFill},
    {"fill_left", TokenKind::kFill},
    {"fill_right", TokenKind::kFill},
    {"inf", TokenKind::kNumber},
    {"nan", TokenKind::kNumber},
};

struct Symbol {
  std::string_view text;
  BinaryOp op;
};
// The longer ones first.
constexpr Symbol kOperators[] = {
    {"==", BinaryOp::kEqual},       {"!=", BinaryOp::kNotEqual}, {">=", BinaryOp::kGreaterOrEqual},
    {"<=", BinaryOp::kLessOrEqual}, {">", BinaryOp::kGreater},   {"<", BinaryOp::kLess},
    {"+", BinaryOp::kAdd},          {"-", BinaryOp::kSub},       {"*", BinaryOp::kMul},
    {"/", BinaryOp::kDiv},          {"%", BinaryOp::kMod},       {"^", BinaryOp::kPow},
};

// A text in a message: the first characters of a long one.
std::string shortened(std::string_view text) {
  constexpr size_t kMaxCharacters = 10;
  size_t length = 0;
  for (size_t i = 0; i < kMaxCharacters && length < text.size(); ++i) {
    length += std::max<size_t>(character_length(text.substr(length)), 1);
  }
  return quote_text(text.substr(0, length)) + (length < text.size() ? "..." : "");
}

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd: return "end of input";
    case TokenKind::kIdentifier: return "identifier " + quote_text(token.text);
    case TokenKind::kMetricIdentifier: return "metric identifier " + quote_text(token.text);
    case TokenKind::kString: return "string " + shortened(token.text);
    case TokenKind::kNumber: return "number " + shortened(token.text);
    case TokenKind::kDuration: return "duration " + shortened(token.text);
    case TokenKind::kOperator:
    case TokenKind::kMatchRegex:
    case TokenKind::kMatchNotRegex:
    case TokenKind::kTrim:
    case TokenKind::kAt: return fmt::format("<op:{}>", token.text);
    case TokenKind::kAggregator: return fmt::format("<aggr:{}>", token.text);
    case TokenKind::kBy:
    case TokenKind::kWithout:
    case TokenKind::kOffset:
    case TokenKind::kOn:
    case TokenKind::kIgnoring:
    case TokenKind::kGroupLeft:
    case TokenKind::kGroupRight:
    case TokenKind::kExtended:
    case TokenKind::kFill:
    case TokenKind::kBool: return fmt::format("<{}>", token.text);
    default: return quote_text(token.text);
  }
}

Status parse_error(std::string_view query, Position position, std::string_view message, Code code) {
  return {code, fmt::format("{}: parse error: {}", line_and_column(query, position), message)};
}

Result<Token> Lexer::next() {
  skip_blanks_and_comments();
  start_ = at_;
  if (brace_open_) return next_between_braces();
  if (at_end()) return end();
  if (bracket_ != Bracket::kClosed) return next_between_brackets();
  return next_anywhere();
}

void Lexer::skip_blanks_and_comments() {
  for (;;) {
    while (is_blank(peek())) ++at_;
    if (peek() != '#') return;
    while (!at_end() && peek() != '\n' && peek() != '\r') ++at_;
  }
}

Result<Token> Lexer::end() {
  if (bracket_ == Bracket::kEmpty) {
    return error("unexpected end of input in duration expression");
  }
  if (parens_ != 0) return error("unclosed left parenthesis");
  if (bracket_ != Bracket::kClosed) return error("unclosed left bracket");
  return take(TokenKind::kEnd);
}

Result<Token> Lexer::next_between_braces() {
  if (at_end()) return error("unexpected end of input inside braces");
  const char c = peek();
  if (is_letter(c)) {
    while (is_word(peek())) ++at_;
    return take(TokenKind::kIdentifier);
  }
  switch (c) {
    case ',': return take(TokenKind::kComma, 1);
    case '"':
    case '\'': return string();
    case '`': return raw_string();
    case '=': return peek(1) == '~' ? take(TokenKind::kMatchRegex, 2) : take(TokenKind::kAssign, 1);
    case '!':
      if (peek(1) == '~') return take(TokenKind::kMatchNotRegex, 2);
      if (peek(1) == '=') return take_operator(BinaryOp::kNotEqual, 2);
      ++at_;
      return unexpected_character(" after '!' inside braces");
    case '{': return error("unexpected left brace '{'");
    case '}': brace_open_ = false; return take(TokenKind::kRightBrace, 1);
    default: return unexpected_character(" inside braces");
  }
}

// Between brackets stand durations, and arithmetic with them, which the parser refuses.
Result<Token> Lexer::next_between_brackets() {
  const char c = peek();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number_or_duration();
  switch (c) {
    case ':': return colon();
    case ']': bracket_ = Bracket::kClosed; return take(TokenKind::kRightBracket, 1);
    case '[': return error("unexpected left bracket '['");
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '^':
    case '(':
    case ')':
    case ',': return next_anywhere();
    default: break;
  }
  if (is_letter(c)) {
    while (is_word(peek())) ++at_;
    const std::string name = lower(query_.substr(start_, at_ - start_));
    for (const std::string_view known : {"step", "range", "min", "max"}) {
      if (name == known) return take(TokenKind::kIdentifier);
    }
    at_ = start_;
    if (bracket_ != Bracket::kEmpty) return unexpected_character("", ", expected ':'");
  }
  return unexpected_character(" in duration expression");
}

Result<Token> Lexer::colon() {
  if (bracket_ == Bracket::kColonSeen) return error("unexpected colon ':'");
  bracket_ = Bracket::kColonSeen;
  return peek(1) == ':' ? take(TokenKind::kDoubleColon, 2) : take(TokenKind::kColon, 1);
}

Result<Token> Lexer::next_anywhere() {
  const char c = peek();
  if (is_letter(c) || c == ':') return word();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number_or_duration();
  if ((c == '<' || c == '>') && peek(1) == '/') return take(TokenKind::kTrim, 2);
  const std::string_view rest = query_.substr(at_);
  for (const Symbol& symbol : kOperators) {
    if (rest.starts_with(symbol.text)) return take_operator(symbol.op, symbol.text.size());
  }
  switch (c) {
    case ',': return take(TokenKind::kComma, 1);
    case '@': return take(TokenKind::kAt, 1);
    case '"':
    case '\'': return string();
    case '`': return raw_string();
    case '(': ++parens_; return take(TokenKind::kLeftParen, 1);
    case ')':
      if (parens_ == 0) return unexpected_closing_paren();
      --parens_;
      return take(TokenKind::kRightParen, 1);
    case '{': brace_open_ = true; return take(TokenKind::kLeftBrace, 1);
    case '[': bracket_ = Bracket::kEmpty; return take(TokenKind::kLeftBracket, 1);
    case ']': return error("unexpected right bracket ']'");
    case '=':
      if (peek(1) != '~') return take(TokenKind::kAssign, 1);
      ++at_;
      return unexpected_character(" after '='");
    case '!': ++at_; return unexpected_character(" after '!'");
    default: return unexpected_character("");
  }
}

Result<Token> Lexer::word() {
  bool colon = false;
  for (; is_word(peek()) || peek() == ':'; ++at_) colon = colon || peek() == ':';
  const std::string name = lower(query_.substr(start_, at_ - start_));
  const auto known = std::ranges::find(kWords, name, &Word::text);
  if (known == std::end(kWords)) {
    return take(colon ? TokenKind::kMetricIdentifier : TokenKind::kIdentifier);
  }
  if (known->kind == TokenKind::kFill) {  // a name like any other unless a value follows
    const size_t behind = query_.find_first_not_of(" \t\r\n", at_);
    if (behind == std::string_view::npos || query_[behind] != '(') {
      return take(TokenKind::kIdentifier);
    }
  }
  Token token = take(known->kind);
  token.op = known->op;
  return token;
}

Result<Token> Lexer::number_or_duration() {
  if (bracket_ == Bracket::kEmpty) bracket_ = Bracket::kNumberSeen;
  if (scan_number()) return take(TokenKind::kNumber);
  if (scan_duration()) return take(TokenKind::kDuration);
  return error("bad number or duration syntax: " + quote_text(query_.substr(start_, at_ - start_)));
}

// Whether a number stands here and nothing behind it that belongs to it. What it is worth is
// parse_number()'s to say; from where the reading ended, a duration may go on. A character that
// makes it neither is read too, for the message.
bool Lexer::scan_number() {
  bool hexadecimal = false;
  if (peek() == '0' && lower(peek(1)) == 'x') {
    hexadecimal = true;
    at_ += 2;
  }
  return scan_digits_and_marks(hexadecimal) && !is_word(peek());
}

bool Lexer::scan_digits_and_marks(bool hexadecimal) {
  bool dot = false;
  bool exponent = false;
  for (;;) {
    const char c = peek();
    if (digit_value(c) < (hexadecimal ? 16 : 10) || c == '_') {
      ++at_;
    } else if (c == '.' && !hexadecimal) {
      ++at_;
      if (dot || exponent || accept('.')) return false;
      dot = true;
    } else if (lower(c) == 'e' && !exponent && !hexadecimal) {
      exponent = true;
      ++at_;
      if (!accept('+')) accept('-');
      if (!is_digit(peek())) return false;
    } else {
      return true;
    }
  }
}

// The units of a duration that begins with the number just read, as far as letters can tell.
bool Lexer::scan_duration() {
  constexpr std::string_view kUnits = "smhdwy";
  for (;;) {
    if (at_end() || kUnits.find(peek()) == std::string_view::npos) return false;
    ++at_;
    accept('s');
    if (!is_word(peek())) return true;
    if (!is_digit(peek())) {
      ++at_;
      return false;
    }
    while (is_digit(peek())) ++at_;
  }
}

Result<Token> Lexer::string() {
  const char quote = peek();
  ++at_;
  for (;;) {
    if (at_end() || peek() == '\n') return error("unterminated quoted string");
    if (peek() == quote) return take(TokenKind::kString, 1);
    if (peek() == '\\') {
      ++at_;
      if (Status bad = scan_escape(quote); !bad.ok()) return bad;
      continue;
    }
    const size_t length = character_length(query_.substr(at_, 4));
    if (length == 0) return error("invalid UTF-8 rune");
    at_ += length;
  }
}

Result<Token> Lexer::raw_string() {
  ++at_;
  for (;;) {
    if (at_end()) return error("unterminated raw string");
    if (peek() == '`') return take(TokenKind::kString, 1);
    const size_t length = character_length(query_.substr(at_, 4));
    if (length == 0) return error("invalid UTF-8 rune");
    at_ += length;
  }
}

Status Lexer::scan_escape(char quote) {
  if (at_end()) return error("escape sequence not terminated");
  const char c = peek();
  if (c == quote || (c != '\0' && std::strchr("abfnrtv\\", c) != nullptr)) {
    ++at_;
    return {};
  }
  if (c >= '0' && c <= '7') return scan_escape_digits(3, 8, 0xFF);
  const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits == 0) {
    return error("unknown escape sequence " + numbered_character(query_.substr(at_, 4)));
  }
  ++at_;
  return scan_escape_digits(digits, 16, c == 'x' ? 0xFF : 0x10FFFF);
}

Status Lexer::scan_escape_digits(size_t count, int base, uint32_t largest) {
  uint64_t number = 0;
  for (size_t i = 0; i < count; ++i, ++at_) {
    if (at_end()) return error("escape sequence not terminated");
    const int digit = digit_value(peek());
    if (digit >= base) {
      return error(fmt::format("illegal character {} in escape sequence",
                               numbered_character(query_.substr(at_, 4))));
    }
    number = number * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit);
  }
  if (number > largest || (number >= 0xD800 && number < 0xE000)) {
    return error("escape sequence is an invalid Unicode code point");
  }
  return {};
}

bool Lexer::accept(char c) {
  if (at_end() || peek() != c) return false;
  ++at_;
  return true;
}

Token Lexer::take(TokenKind kind, size_t length) {
  at_ += length;
  return {.kind = kind, .position = {start_, at_}, .text = query_.substr(start_, at_ - start_)};
}

Token Lexer::take_operator(BinaryOp op, size_t length) {
  Token token = take(TokenKind::kOperator, length);
  token.op = op;
  return token;
}

Status Lexer::error(std::string_view message) const {
  return parse_error(query_, {start_, query_.size()}, message);
}

// Told to be behind the parenthesis, as Prometheus has it.
Status Lexer::unexpected_closing_paren() {
  start_ = ++at_;
  return error("unexpected right parenthesis ')'");
}

Status Lexer::unexpected_character(std::string_view where, std::string_view wanted) const {
  const std::string shown = at_end() ? "end of input" : quoted_character(query_.substr(at_, 4));
  return error(fmt::format("unexpected character{}: {}{}", where, shown, wanted));
}

}  // namespace gpusight::promql
