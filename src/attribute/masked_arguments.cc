#include "attribute/masked_arguments.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace gpusight::attribute {
namespace {

constexpr std::string_view kMask = "***";
// Anywhere in a name: PGPASSWORD, clientSecret.
constexpr std::array<std::string_view, 8> kSecretParts = {"password", "passwd",     "passphrase",
                                                          "secret",   "credential", "authorization",
                                                          "apikey",   "accesskey"};
// As a part of a name between '-', '_' and '.': "tokenizer" and "max-tokens" are no secrets.
constexpr std::array<std::string_view, 6> kSecretWords = {"token", "pass", "pwd",
                                                          "pw",    "auth", "cookie"};
constexpr std::array<std::string_view, 13> kTokenStarts = {
    "hf_", "ghp_", "gho_",  "ghs_",  "ghu_", "github_pat_", "glpat-",
    "sk-", "AKIA", "xoxb-", "xoxp-", "eyJ",  "nvapi-"};
constexpr size_t kShortestToken = 16;

bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == '.';
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_secret_name(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto holds = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  if (std::ranges::any_of(kSecretParts, holds) || lower.ends_with("token")) return true;
  std::ranges::replace(lower, '_', '-');
  std::ranges::replace(lower, '.', '-');
  const auto words = split(lower, '-');
  return words.back() == "key" || std::ranges::any_of(words, [](std::string_view word) {
           return std::ranges::find(kSecretWords, word) != kSecretWords.end();
         });
}

// Where the first value that belongs to a secret name begins, "NAME=" or "NAME:".
std::optional<size_t> secret_value_at(std::string_view text, char separator, size_t from) {
  for (size_t at = text.find(separator, from); at != std::string_view::npos;
       at = text.find(separator, at + 1)) {
    size_t start = at;
    while (start > 0 && is_name_char(text[start - 1])) --start;
    if (start < at && is_secret_name(text.substr(start, at - start))) return at + 1;
  }
  return std::nullopt;
}

// "scheme://user:password@host": what stands before the '@', up to the path.
std::string without_credentials(std::string_view word) {
  std::string text(word);
  for (size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at)) {
    at += 3;
    const size_t end = std::min(text.find_first_of("/?#", at), text.size());
    const size_t sign = text.substr(0, end).rfind('@');
    if (sign != std::string::npos && sign >= at) text.replace(at, sign - at, kMask);
  }
  return text;
}

bool is_known_token(std::string_view word) {
  return word.size() >= kShortestToken &&
         std::ranges::any_of(kTokenStarts, [&](auto start) { return word.starts_with(start); });
}

class Masker {
 public:
  std::string mask(std::string_view cmdline) {
    while (cmdline.ends_with('\0')) cmdline.remove_suffix(1);
    for (const std::string_view argument : split(cmdline, '\0')) add_argument(argument);
    return clean_text(out_, kMaxArgumentsBytes);
  }

 private:
  void add_argument(std::string_view argument) {
    if (!out_.empty()) out_ += ' ';
    if (is_next_secret_ && !argument.starts_with("--")) {
      is_next_secret_ = false;
      out_ += kMask;
      return;
    }
    is_next_secret_ = false;
    // The value of an argument of its own goes to the argument's end, spaces and all.
    const size_t name_end = std::ranges::find_if_not(argument, is_name_char) - argument.begin();
    const bool is_named = name_end > 0 && name_end < argument.size() &&
                          (argument[name_end] == '=' || argument[name_end] == ':');
    if (is_named && is_secret_name(argument.substr(0, name_end))) {
      out_.append(argument.substr(0, name_end + 1)).append(kMask);
      return;
    }
    add_words(argument);
  }

  void add_words(std::string_view argument) {
    while (!argument.empty()) {
      const size_t end = std::ranges::find_if(argument, is_space) - argument.begin();
      const std::string_view word = argument.substr(0, end);
      argument.remove_prefix(std::min(end + 1, argument.size()));
      add_word(word, argument);
      if (end < word.size() + 1 && !argument.empty()) out_ += ' ';
    }
  }

  // `rest` is what follows in the same argument: a value in quotes may go on there.
  void add_word(std::string_view word, std::string_view& rest) {
    if (word.empty()) return;
    if (is_next_secret_ && !word.starts_with("--")) {
      is_next_secret_ = false;
      out_ += kMask;
      skip_quoted(word, rest);
      return;
    }
    is_next_secret_ = word.starts_with('-') && word.find('=') == std::string_view::npos &&
                      word.find(':') == std::string_view::npos && is_secret_name(word);
    // A header: what is after its name belongs to it up to the end.
    if (const auto value = secret_value_at(word, ':', 0)) {
      out_.append(word.substr(0, *value)).append(kMask);
      rest = {};
      return;
    }
    if (is_known_token(word)) {
      out_ += kMask;
      return;
    }
    add_values(word, rest);
  }

  void add_values(std::string_view word, std::string_view& rest) {
    size_t done = 0;
    std::string masked;
    while (const auto value = secret_value_at(word, '=', done)) {
      masked.append(word.substr(done, *value - done)).append(kMask);
      done = std::min(word.find('&', *value), word.size());
      if (done == word.size()) skip_quoted(word.substr(*value), rest);
    }
    masked.append(word.substr(done));
    const size_t equals = masked.find('=');
    if (equals != std::string::npos &&
        is_known_token(std::string_view(masked).substr(equals + 1))) {
      masked.replace(equals + 1, std::string::npos, kMask);
    }
    out_ += without_credentials(masked);
  }

  static void skip_quoted(std::string_view value, std::string_view& rest) {
    const char quote = value.empty() ? '\0' : value.front();
    if (quote != '"' && quote != '\'') return;
    if (value.find(quote, 1) != std::string_view::npos) return;
    const size_t end = rest.find(quote);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
  }

  std::string out_;
  bool is_next_secret_ = false;
};

}  // namespace

std::string masked_arguments(std::string_view cmdline) { return Masker().mask(cmdline); }

}  // namespace gpusight::attribute
