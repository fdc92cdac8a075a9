#include "promql/rules/template_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/literal.h"

namespace gpusight::promql {
namespace {

constexpr int kMaxWidth = 1000;  // of a padded field, and digits of a precision

// "NaN", "+Inf", "-Inf"; empty for finite numbers.
std::string_view unfinite(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  return {};
}

template <typename... Args>
std::string chars(Args... args) {
  std::array<char, 1500> buffer;  // the longest double in full plus kMaxWidth digits
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), args...);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

void make_upper(std::string& text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
}

// -0x1.8p+01: to_chars gives the digits, Go a prefix and two digits of exponent.
std::string hexadecimal(double number, int precision) {
  std::string digits = precision < 0 ? chars(std::abs(number), std::chars_format::hex)
                                     : chars(std::abs(number), std::chars_format::hex, precision);
  const size_t sign_at = digits.find('p') + 1;
  if (digits.size() - sign_at == 2) digits.insert(sign_at + 1, "0");
  return (std::signbit(number) ? "-0x" : "0x") + digits;
}

// With a sign for negative numbers only; `precision` < 0: the fewest digits.
std::string float_text(double number, char verb, int precision) {
  if (const std::string_view special = unfinite(number); !special.empty()) {
    return std::string(special);
  }
  switch (verb) {
    case 'f':
    case 'F':
      return precision < 0 ? chars(number, std::chars_format::fixed)
                           : chars(number, std::chars_format::fixed, precision);
    case 'e':
    case 'E': {
      std::string text = precision < 0 ? chars(number, std::chars_format::scientific)
                                       : chars(number, std::chars_format::scientific, precision);
      if (verb == 'E') make_upper(text);
      return text;
    }
    case 'x':
    case 'X': {
      std::string text = hexadecimal(number, precision);
      if (verb == 'X') make_upper(text);
      return text;
    }
    default: break;
  }
  std::string text = precision < 0
                         ? go_general(number)
                         : chars(number, std::chars_format::general, std::max(precision, 1));
  if (verb == 'G') make_upper(text);
  return text;
}

std::string integer_text(int64_t number, int base) {
  const bool negative = number < 0;
  uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  std::string digits = chars(magnitude, base);
  return negative ? "-" + digits : digits;
}

size_t characters_in(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

// The first `count` characters.
std::string_view cut(std::string_view text, size_t count) {
  size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && (text[at] & 0xc0) == 0x80) ++at;
    --count;
  }
  return text.substr(0, at);
}

struct Spec {
  bool plus = false, minus = false, sharp = false, space = false, zero = false;
  int width = -1;
  int precision = -1;
  char verb = 0;
};

void pad(std::string& out, std::string_view text, const Spec& spec, bool numeric) {
  const size_t length = characters_in(text);
  const size_t wanted = spec.width > 0 ? static_cast<size_t>(spec.width) : 0;
  const size_t missing = wanted > length ? wanted - length : 0;
  if (spec.minus) {
    out.append(text);
    out.append(missing, ' ');
  } else if (spec.zero && numeric) {
    const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ');
    if (has_sign) out += text[0];
    out.append(missing, '0');
    out.append(text.substr(has_sign ? 1 : 0));
  } else {
    out.append(missing, ' ');
    out.append(text);
  }
}

void bad_verb(std::string& out, char verb, const TemplateValue& value) {
  if (std::holds_alternative<Nil>(value)) {
    out += fmt::format("%!{}(<nil>)", verb);
  } else {
    out += fmt::format("%!{}({}={})", verb, type_name(value), text_of(value));
  }
}

std::string with_sign(std::string text, const Spec& spec) {
  if (!text.empty() && text[0] != '-' && text[0] != '+') {
    if (spec.plus) return "+" + text;
    if (spec.space) return " " + text;
  }
  return text;
}

void print_float(std::string& out, const Spec& spec, double number) {
  char verb = spec.verb;
  int precision = spec.precision;
  if (verb == 'v') verb = 'g';
  const bool by_digits = verb == 'g' || verb == 'G' || verb == 'x' || verb == 'X';
  if (precision < 0 && !by_digits) precision = 6;
  std::string text = float_text(number, verb, precision);
  const bool finite = std::isfinite(number);
  if (text[0] == '+' && spec.space && !spec.plus) text[0] = ' ';
  pad(out, with_sign(std::move(text), spec), spec, finite);
}

void print_integer(std::string& out, const Spec& spec, int64_t number) {
  int base = 10;
  std::string_view prefix;
  switch (spec.verb) {
    case 'b': base = 2; break;
    case 'o':
      base = 8;
      prefix = spec.sharp ? "0" : "";
      break;
    case 'x':
    case 'X':
      base = 16;
      prefix = spec.sharp ? "0x" : "";
      break;
    default: break;
  }
  std::string text = integer_text(number, base);
  if (!prefix.empty()) text.insert(text[0] == '-' ? 1 : 0, prefix);
  if (spec.verb == 'X') make_upper(text);
  pad(out, with_sign(std::move(text), spec), spec, true);
}

void print_character(std::string& out, const Spec& spec, int64_t number) {
  constexpr int64_t kReplacement = 0xfffd;
  const bool valid = number >= 0 && number <= 0x10ffff && !(number >= 0xd800 && number < 0xe000);
  std::string text;
  append_utf8(text, static_cast<uint32_t>(valid ? number : kReplacement));
  pad(out, text, spec, false);
}

void print_text(std::string& out, const Spec& spec, std::string_view text) {
  if (spec.precision >= 0) text = cut(text, static_cast<size_t>(spec.precision));
  if (spec.verb == 'q') {
    pad(out, go_quoted(text), spec, false);
  } else if (spec.verb == 'x' || spec.verb == 'X') {
    std::string hex;
    for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    if (spec.verb == 'X') make_upper(hex);
    pad(out, hex, spec, false);
  } else {
    pad(out, text, spec, false);
  }
}

void print_arg(std::string& out, const Spec& spec, const TemplateValue& value) {
  const std::string_view verbs_of_floats = "veEfFgGxX";
  const std::string_view verbs_of_integers = "vdboxX";
  const std::string_view verbs_of_texts = "vsqxX";
  const bool plain = spec.verb == 'v' || spec.verb == 's';
  if (const auto* number = std::get_if<double>(&value);
      number && verbs_of_floats.find(spec.verb) != std::string_view::npos) {
    return print_float(out, spec, *number);
  }
  if (const auto* number = std::get_if<int64_t>(&value)) {
    if (verbs_of_integers.find(spec.verb) != std::string_view::npos) {
      return print_integer(out, spec, *number);
    }
    if (spec.verb == 'c') return print_character(out, spec, *number);
  }
  if (const auto* text = std::get_if<std::string>(&value);
      text && verbs_of_texts.find(spec.verb) != std::string_view::npos) {
    return print_text(out, spec, *text);
  }
  if (const auto* flag = std::get_if<bool>(&value);
      flag && (spec.verb == 't' || spec.verb == 'v')) {
    return pad(out, *flag ? "true" : "false", spec, false);
  }
  const bool is_scalar = value.index() <= 4;
  if ((spec.verb == 'v' && !is_scalar) || (plain && !is_scalar)) {
    return pad(out, text_of(value), spec, false);
  }
  if (std::holds_alternative<Nil>(value) && spec.verb == 'v') return pad(out, "<nil>", spec, false);
  bad_verb(out, spec.verb, value);
}

// Reads what stands behind a "%"; `at` is moved behind it.
class FormatReader {
 public:
  FormatReader(std::string_view format, std::span<const TemplateValue> args)
      : format_(format), args_(args) {}

  std::string run() {
    while (at_ < format_.size()) {
      const size_t percent = std::min(format_.find('%', at_), format_.size());
      out_ += format_.substr(at_, percent - at_);
      at_ = percent + 1;
      if (percent < format_.size()) directive();
    }
    if (next_arg_ < args_.size()) extra();
    return std::move(out_);
  }

 private:
  void directive() {
    Spec spec;
    flags(spec);
    number_or_star(spec.width, spec.minus, 'w');
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      spec.precision = 0;
      bool unused = false;
      number_or_star(spec.precision, unused, 'p');
    }
    if (at_ >= format_.size()) {
      out_ += "%!(NOVERB)";
      return;
    }
    const std::string_view verb = cut(format_.substr(at_), 1);
    at_ += verb.size();
    spec.verb = verb[0];
    if (spec.verb == '%') {
      out_ += '%';
    } else if (next_arg_ >= args_.size()) {
      out_ += fmt::format("%!{}(MISSING)", verb);
    } else {
      print_arg(out_, spec, args_[next_arg_++]);
    }
  }

  void flags(Spec& spec) {
    for (; at_ < format_.size(); ++at_) {
      switch (format_[at_]) {
        case '+': spec.plus = true; break;
        case '-': spec.minus = true; break;
        case '#': spec.sharp = true; break;
        case ' ': spec.space = true; break;
        case '0': spec.zero = true; break;
        default: return;
      }
    }
  }

  void number_or_star(int& number, bool& minus, char what) {
    if (at_ < format_.size() && format_[at_] == '*') {
      ++at_;
      const auto* given =
          next_arg_ < args_.size() ? std::get_if<int64_t>(&args_[next_arg_]) : nullptr;
      ++next_arg_;
      if (given == nullptr || *given > kMaxWidth || *given < -kMaxWidth) {
        out_ += what == 'w' ? "%!(BADWIDTH)" : "%!(BADPREC)";
        return;
      }
      number = static_cast<int>(*given);
      if (number < 0 && what == 'w') {
        minus = true;
        number = -number;
      }
      return;
    }
    const char* begin = format_.data() + at_;
    const auto [end, error] = std::from_chars(begin, format_.data() + format_.size(), number);
    at_ += static_cast<size_t>(end - begin);
    if (error != std::errc() && end != begin) number = kMaxWidth;
    number = std::min(number, kMaxWidth);
  }

  void extra() {
    out_ += "%!(EXTRA ";
    for (size_t i = next_arg_; i < args_.size(); ++i) {
      if (i > next_arg_) out_ += ", ";
      out_ += std::holds_alternative<Nil>(args_[i])
                  ? "<nil>"
                  : fmt::format("{}={}", type_name(args_[i]), text_of(args_[i]));
    }
    out_ += ")";
  }

  std::string_view format_;
  std::span<const TemplateValue> args_;
  size_t at_ = 0;
  size_t next_arg_ = 0;
  std::string out_;
};

}  // namespace

std::string go_exponent(double number) { return float_text(number, 'E', -1); }
std::string go_significant(double number, int digits) { return float_text(number, 'g', digits); }

std::string go_printf(std::string_view format, std::span<const TemplateValue> args) {
  return FormatReader(format, args).run();
}

std::string go_print(std::span<const TemplateValue> args) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool between_others = i > 0 && !std::holds_alternative<std::string>(args[i]) &&
                                !std::holds_alternative<std::string>(args[i - 1]);
    if (between_others) out += ' ';
    out += text_of(args[i]);
  }
  return out;
}

std::string go_println(std::span<const TemplateValue> args) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += ' ';
    out += text_of(args[i]);
  }
  return out + "\n";
}

}  // namespace gpusight::promql
