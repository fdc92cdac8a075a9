#include "config/value.h"

#include <array>

#include "base/check.h"
#include "base/text.h"
#include "catalog/message.h"
#include "catalog/metric_set.h"

namespace gpusight::config {
namespace {

using catalog::Lang;
using catalog::MessageId;

template <typename... Args>
std::string say(MessageId id, Lang lang, Args&&... args) {
  const std::array<std::string, sizeof...(args)> arguments{std::string(args)...};
  return catalog::format_message(id, lang, arguments);
}

Parsed parse_bool(std::string_view text, Lang lang) {
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (text == yes) return OptionValue(true);
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (text == no) return OptionValue(false);
  }
  return Unwanted{say(MessageId::kWantBool, lang)};
}

Parsed parse_duration(const OptionRow& row, std::string_view text, Lang lang) {
  const std::optional<double> s = parse_duration_seconds(text);
  if (!s) return Unwanted{say(MessageId::kWantDuration, lang)};
  const bool bounded = row.min < row.max;
  constexpr double kHundredYears = 3.15e9;  // what is longer does not fit into nanoseconds safely
  const double low = bounded ? static_cast<double>(row.min) / 1000 : 0;
  const double high = bounded ? static_cast<double>(row.max) / 1000 : kHundredYears;
  if (!(*s >= low && *s <= high)) {
    return Unwanted{say(MessageId::kWantDurationWithin, lang, duration_text(from_seconds(low)),
                        duration_text(from_seconds(high)))};
  }
  return OptionValue(from_seconds(*s));
}

Parsed parse_integer(const OptionRow& row, std::string_view text, Lang lang) {
  const std::optional<int64_t> number = parse_int(text);
  if (!number) return Unwanted{say(MessageId::kWantInteger, lang)};
  if (row.min < row.max && (*number < row.min || *number > row.max)) {
    return Unwanted{
        say(MessageId::kWantIntegerWithin, lang, std::to_string(row.min), std::to_string(row.max))};
  }
  return OptionValue(*number);
}

// Why a word is none of the row's choices.
Unwanted no_choice(std::string_view word, const std::vector<std::string_view>& choices, Lang lang) {
  std::string list;
  for (const std::string_view choice : choices) {
    if (!list.empty()) list += ", ";
    list += choice;
  }
  return Unwanted{say(MessageId::kWantChoice, lang, list) + did_you_mean(word, choices, "", lang)};
}

Parsed parse_choice(const OptionRow& row, std::string_view text, Lang lang) {
  const std::vector<std::string_view> choices = split_words(row.choices);
  if (std::ranges::find(choices, text) != choices.end()) return OptionValue(std::string(text));
  return no_choice(text, choices, lang);
}

// A host is a name, an IPv4 address, or an IPv6 address in brackets; nothing else can be meant.
std::optional<Address> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<uint64_t> port = parse_uint(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  const bool is_v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_v6) host = host.substr(1, host.size() - 2);
  const auto allowed = [&](char c) {
    const bool digit = c >= '0' && c <= '9';
    const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_v6 ? hex || c == ':' || c == '.' : letter || digit || c == '-' || c == '.';
  };
  if (host.empty() || host.size() > 253 || !std::ranges::all_of(host, allowed)) return std::nullopt;
  if (is_v6 && host.find(':') == std::string_view::npos) return std::nullopt;
  if (!port || *port > 65535) return std::nullopt;
  return Address{.host = std::string(host), .port = static_cast<uint16_t>(*port)};
}

Parsed parse_addresses(std::string_view text, Lang lang) {
  std::vector<Address> addresses;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<Address> address = parse_address(trim(part));
    if (!address) return Unwanted{say(MessageId::kWantAddress, lang)};
    if (std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
  }
  return OptionValue(std::move(addresses));
}

Parsed parse_words(const OptionRow& row, std::string_view text, Lang lang) {
  const std::vector<std::string_view> choices = split_words(row.choices);
  std::vector<std::string> words;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view word = trim(part);
    if (word.empty()) return Unwanted{say(MessageId::kWantText, lang)};
    const bool is_wanted = choices.empty() || std::ranges::find(choices, word) != choices.end();
    if (!is_wanted) return no_choice(word, choices, lang);
    words.emplace_back(word);
  }
  return OptionValue(std::move(words));
}

std::string group_keys() {
  std::string keys;
  for (const catalog::Group group : catalog::groups()) {
    if (group == catalog::Group::kSelf) continue;
    keys.append(keys.empty() ? "" : ", ").append(catalog::group_key(group));
  }
  return keys;
}

Parsed parse_metrics(const OptionRow& row, std::string_view text, Lang lang) {
  Parsed words = parse_words(row, text, lang);
  const auto* value = std::get_if<OptionValue>(&words);
  if (value == nullptr) return words;
  for (const std::string& word : std::get<std::vector<std::string>>(*value)) {
    const auto named = catalog::named_metrics(word);
    if (!named) return Unwanted{say(MessageId::kWantMetric, lang, word, group_keys())};
    if (named->empty()) return Unwanted{say(MessageId::kWantMetricNotNeeded, lang, word)};
  }
  return words;
}

}  // namespace

Parsed parse_value(const OptionRow& row, std::string_view text, Lang lang) {
  const bool has_control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  // A path may be any bytes but NUL; everything else is text that is shown again.
  const bool is_path = row.type == OptionType::kPath;
  const bool unclean =
      is_path ? text.find('\0') != std::string_view::npos : has_control || !is_valid_utf8(text);
  if (unclean) return Unwanted{say(MessageId::kWantCleanText, lang)};
  if (trim(text).empty()) return Unwanted{say(MessageId::kWantText, lang)};
  switch (row.type) {
    case OptionType::kText: return OptionValue(std::string(trim(text)));
    case OptionType::kPath: return OptionValue(std::string(text));
    case OptionType::kChoice: return parse_choice(row, trim(text), lang);
    case OptionType::kBool: return parse_bool(trim(text), lang);
    case OptionType::kDuration: return parse_duration(row, text, lang);
    case OptionType::kInteger: return parse_integer(row, text, lang);
    case OptionType::kAddresses: return parse_addresses(text, lang);
    case OptionType::kWords: return parse_words(row, text, lang);
    case OptionType::kMetrics: return parse_metrics(row, text, lang);
  }
  return Unwanted{say(MessageId::kWantText, lang)};
}

std::string duration_text(Duration duration) {
  struct UnitName {
    Duration unit;
    std::string_view name;
  };
  using namespace std::chrono_literals;
  constexpr UnitName kUnits[] = {{24h, "d"}, {1h, "h"}, {1min, "m"}, {1s, "s"}, {1ms, "ms"}};
  if (duration == Duration::zero()) return "0s";
  for (const UnitName& u : kUnits) {
    if (duration % u.unit == Duration::zero()) {
      return std::to_string(duration / u.unit) + std::string(u.name);
    }
  }
  return number_text(seconds(duration)) + "s";
}

std::string value_text(const OptionRow& row, const OptionValue& value) {
  std::string text;
  switch (row.type) {
    case OptionType::kText:
    case OptionType::kPath:
    case OptionType::kChoice: return std::get<std::string>(value);
    case OptionType::kBool: return std::get<bool>(value) ? "true" : "false";
    case OptionType::kDuration: return duration_text(std::get<Duration>(value));
    case OptionType::kInteger: return std::to_string(std::get<int64_t>(value));
    case OptionType::kAddresses:
      for (const Address& a : std::get<std::vector<Address>>(value)) {
        text += (text.empty() ? "" : ",") + address_text(a);
      }
      return text;
    case OptionType::kWords:
    case OptionType::kMetrics:
      for (const std::string& w : std::get<std::vector<std::string>>(value)) {
        text += (text.empty() ? "" : ",") + w;
      }
      return text;
  }
  return text;
}

OptionValue initial_value(const OptionRow& row) {
  if (!row.initial.empty()) {
    Parsed parsed = parse_value(row, row.initial, Lang::kEnglish);
    CHECK(std::holds_alternative<OptionValue>(parsed), row.flag);
    return std::get<OptionValue>(std::move(parsed));
  }
  switch (row.type) {
    case OptionType::kText:
    case OptionType::kPath:
    case OptionType::kChoice: return std::string();
    case OptionType::kBool: return false;
    case OptionType::kDuration: return Duration::zero();
    case OptionType::kInteger: return int64_t{0};
    case OptionType::kAddresses: return std::vector<Address>();
    case OptionType::kWords:
    case OptionType::kMetrics: return std::vector<std::string>();
  }
  return std::string();
}

std::string_view suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.empty() || word.size() > 64) return {};
  std::string_view begun;
  int count = 0;
  for (const std::string_view candidate : known) {
    if (!candidate.starts_with(word)) continue;
    begun = candidate;
    ++count;
  }
  return count == 1 ? begun : closest(word, known);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view before, Lang lang) {
  const std::string_view near = suggestion(word, known);
  if (near.empty()) return {};
  return (lang == Lang::kChinese ? "；" : "; ") +
         say(MessageId::kDidYouMean, lang, std::string(before) + std::string(near));
}

}  // namespace gpusight::config
