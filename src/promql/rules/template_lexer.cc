#include "promql/rules/template_lexer.h"

#include <algorithm>

#include <fmt/format.h>

#include "promql/go_text.h"
#include "promql/literal.h"

namespace gpusight::promql {
namespace {

using Kind = TemplateToken::Kind;

// Letters beyond ASCII are taken as they come: names of fields may have them.
bool begins_name(char c) { return is_letter(c) || (c & 0x80) != 0; }
bool is_in_name(char c) { return begins_name(c) || is_digit(c); }

std::string_view trim_right(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<TemplateToken>> run() {
    while (at_ < text_.size()) {
      const size_t open = text_.find("{{", at_);
      const std::string_view plain =
          text_.substr(at_, open == std::string_view::npos ? open : open - at_);
      const bool trims = open != std::string_view::npos && trims_before(open);
      add_text(trims ? trim_right(plain) : plain);
      if (open == std::string_view::npos) break;
      at_ = open;
      TRY(action(trims));
    }
    add(Kind::kEnd, "", text_.size(), text_.size());
    return std::move(tokens_);
  }

 private:
  bool trims_before(size_t open) const {
    return open + 3 < text_.size() && text_[open + 2] == '-' && is_blank(text_[open + 3]);
  }
  // Whether " -}}" begins here.
  bool trims_after() const {
    return at_ < text_.size() && is_blank(text_[at_]) && text_.substr(at_ + 1).starts_with("-}}");
  }

  Status fail(size_t offset, std::string_view message) const {
    return {Code::kInvalidArgument, fmt::format("{}: {}", line_of(text_, offset), message)};
  }

  void add(Kind kind, std::string_view text, size_t offset, size_t end) {
    tokens_.push_back({.kind = kind,
                       .text = std::string(text),
                       .after_blank = after_blank_,
                       .offset = offset,
                       .end = end});
    after_blank_ = false;
  }

  void add_text(std::string_view text) {
    if (!text.empty()) add(Kind::kText, text, at_, at_ + text.size());
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
      after_blank_ = true;
    }
  }

  Status action(bool trims) {
    const size_t open = at_;
    at_ += trims ? 4 : 2;
    if (text_.substr(at_).starts_with("/*")) return comment(open);
    add(Kind::kOpen, "{{", open, at_);
    while (true) {
      if (trims_after()) {
        at_ += 2;
        close();
        skip_text_blanks();
        return {};
      }
      skip_blanks();
      // The blank before a trim mark belongs to it.
      if (after_blank_ && text_.substr(at_).starts_with("-}}")) {
        ++at_;
        close();
        skip_text_blanks();
        return {};
      }
      if (at_ >= text_.size()) return fail(open, "unclosed action");
      if (text_.substr(at_).starts_with("}}")) {
        close();
        return {};
      }
      TRY(word());
    }
  }

  void close() {
    add(Kind::kClose, "}}", at_, at_ + 2);
    at_ += 2;
  }

  void skip_text_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    after_blank_ = false;
  }

  Status comment(size_t open) {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return fail(open, "unclosed comment");
    at_ = end + 2;
    if (trims_after()) {
      at_ += 4;
      skip_text_blanks();
    } else if (text_.substr(at_).starts_with("}}")) {
      at_ += 2;
    } else {
      return fail(open, "comment ends before closing delimiter");
    }
    return {};
  }

  Status word() {
    const size_t begin = at_;
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == '"') return string(begin);
    if (c == '`') return raw_string(begin);
    if (c == '\'') return character(begin);
    if (c == '$' || begins_name(c)) return name(begin, c == '$' ? Kind::kVariable : Kind::kWord);
    if (is_digit(c) || ((c == '+' || c == '-') && (is_digit(next) || next == '.')) ||
        (c == '.' && is_digit(next))) {
      return number(begin);
    }
    if (c == '.') return field(begin);
    if (c == ':' && next == '=') return sign(begin, 2);
    if (c == '=' || c == '|' || c == '(' || c == ')' || c == ',') return sign(begin, 1);
    if (c == ':') return fail(begin, "expected :=");
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      return fail(begin,
                  fmt::format("unexpected {} in operand", go_quoted(std::string_view(&c, 1))));
    }
    return fail(begin, fmt::format("unrecognized character in action: U+{:04X}", byte));
  }

  Status sign(size_t begin, size_t length) {
    at_ += length;
    add(Kind::kSign, text_.substr(begin, length), begin, at_);
    return {};
  }

  // Names end where something else begins that may follow them.
  Status name(size_t begin, Kind kind) {
    ++at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    TRY(check_end(begin));
    add(kind, text_.substr(begin, at_ - begin), begin, at_);
    return {};
  }

  Status field(size_t begin) {
    ++at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    TRY(check_end(begin));
    const bool is_dot = at_ == begin + 1;
    add(is_dot ? Kind::kDot : Kind::kField, text_.substr(begin + (is_dot ? 0 : 1), at_ - begin - 1),
        begin, at_);
    if (is_dot) tokens_.back().text = ".";
    return {};
  }

  Status check_end(size_t begin) {
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    const bool ends = is_blank(c) || std::string_view(".,|:)(=}").find(c) != std::string_view::npos;
    if (ends) return {};
    return fail(begin,
                fmt::format("bad character U+{:04X} '{}'", static_cast<unsigned char>(c), c));
  }

  Status number(size_t begin) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const char before = text_[at_ - 1];
      const bool is_hex =
          text_.substr(begin, at_ - begin).find_first_of("xX") != std::string_view::npos;
      const bool signs_exponent =
          (c == '+' || c == '-') &&
          (before == 'p' || before == 'P' || (!is_hex && (before == 'e' || before == 'E')));
      if (!is_in_name(c) && c != '.' && !signs_exponent) break;
      ++at_;
    }
    add(Kind::kNumber, text_.substr(begin, at_ - begin), begin, at_);
    return {};
  }

  Status character(size_t begin) {
    const size_t end = text_.find('\'', at_ + (text_.substr(at_).starts_with("'\\") ? 3 : 1));
    if (end == std::string_view::npos) return fail(begin, "unterminated character constant");
    at_ = end + 1;
    add(Kind::kNumber, text_.substr(begin, at_ - begin), begin, at_);
    return {};
  }

  Status raw_string(size_t begin) {
    const size_t end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) return fail(begin, "unterminated raw quoted string");
    add(Kind::kString, text_.substr(begin + 1, end - begin - 1), begin, end + 1);
    at_ = end + 1;
    return {};
  }

  Status string(size_t begin) {
    ++at_;
    std::string value;
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n') {
        return fail(begin, "unterminated quoted string");
      }
      const char c = text_[at_++];
      if (c == '"') break;
      if (c != '\\') {
        value += c;
      } else if (!escape(value)) {
        return fail(begin, "invalid syntax");
      }
    }
    add(Kind::kString, value, begin, at_);
    return {};
  }

  // `at_` stands behind the backslash.
  bool escape(std::string& value) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    static constexpr std::string_view kNamed = "abtnvfr";  // from 7 to 13
    if (const size_t named = kNamed.find(c); named != std::string_view::npos) {
      value += static_cast<char>(7 + named);
      return true;
    }
    switch (c) {
      case '\\':
      case '"': value += c; return true;
      case 'x': return code(value, 2, 16);
      case 'u': return code(value, 4, 16);
      case 'U': return code(value, 8, 16);
      default: break;
    }
    --at_;
    return code(value, 3, 8);
  }

  bool code(std::string& value, size_t digits, uint32_t base) {
    if (at_ + digits > text_.size()) return false;
    uint32_t number = 0;
    for (const char c : text_.substr(at_, digits)) {
      const uint32_t digit = is_digit(c)              ? static_cast<uint32_t>(c - '0')
                             : (c >= 'a' && c <= 'f') ? static_cast<uint32_t>(c - 'a' + 10)
                             : (c >= 'A' && c <= 'F') ? static_cast<uint32_t>(c - 'A' + 10)
                                                      : base;
      if (digit >= base) return false;
      number = number * base + digit;
    }
    at_ += digits;
    if (digits == 2 || digits == 3) {  // a byte
      if (number > 0xff) return false;
      value += static_cast<char>(number);
      return true;
    }
    if (number > 0x10ffff || (number >= 0xd800 && number < 0xe000)) return false;
    append_utf8(value, number);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool after_blank_ = false;
  std::vector<TemplateToken> tokens_;
};

}  // namespace

Result<std::vector<TemplateToken>> tokenize_template(std::string_view text) {
  return Lexer(text).run();
}

size_t line_of(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  return 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
}

}  // namespace gpusight::promql
