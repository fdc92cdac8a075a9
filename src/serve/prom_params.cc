#include "serve/prom_params.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/parser.h"

namespace gpusight::serve {
namespace {

Status bad_time(std::string_view text) {
  return {Code::kInvalidArgument,
          fmt::format("cannot parse {} to a valid timestamp", promql::go_quoted(text))};
}

// Takes exactly `count` digits off the front.
std::optional<int> take_digits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

// Two numbers of two digits with a colon between them: hours and minutes.
std::optional<std::chrono::minutes> take_hours_and_minutes(std::string_view& text) {
  const auto hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const auto minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
}

std::optional<std::chrono::year_month_day> take_date(std::string_view& text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  return date.ok() ? std::optional(date) : std::nullopt;
}

// Milliseconds of ".123456", the rest cut off; 0 where there is no point.
std::optional<std::chrono::milliseconds> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return std::chrono::milliseconds(0);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return std::nullopt;
  int64_t ms = 0;
  for (size_t i = 0; i < 3; ++i) ms = ms * 10 + (i < digits ? text[i] - '0' : 0);
  text.remove_prefix(digits);
  return std::chrono::milliseconds(ms);
}

std::optional<std::chrono::minutes> take_zone(std::string_view& text) {
  if (take(text, 'Z')) return std::chrono::minutes(0);
  const bool west = text.starts_with('-');
  if (!west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto offset = take_hours_and_minutes(text);
  if (!offset) return std::nullopt;
  return west ? -*offset : *offset;
}

// "2026-01-31T10:20:30.5+02:00"
std::optional<int64_t> parse_rfc3339(std::string_view text) {
  const auto date = take_date(text);
  if (!date || !take(text, 'T')) return std::nullopt;
  const auto minutes = take_hours_and_minutes(text);
  if (!minutes || !take(text, ':')) return std::nullopt;
  const auto seconds = take_digits(text, 2);
  if (!seconds || *seconds > 59) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return std::nullopt;
  const std::chrono::milliseconds since_1970 = std::chrono::sys_days(*date).time_since_epoch() +
                                               *minutes - *zone + std::chrono::seconds(*seconds) +
                                               *fraction;
  return since_1970.count();
}

Result<std::vector<model::Matcher>> parse_selector(std::string_view text) {
  promql::ExprPtr expr = TRY(promql::parse(text));
  auto* selector = std::get_if<promql::VectorSelector>(&expr->node);
  const auto is_shifted = [](const promql::TimeShift& shift) {
    return shift.at != promql::TimeShift::At::kNone || shift.offset_ms != 0;
  };
  if (selector == nullptr || is_shifted(selector->shift)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a series selector is wanted, got {}", promql::go_quoted(text)));
  }
  return std::move(selector->matchers);
}

}  // namespace

std::string_view parameter(const Parameters& parameters, std::string_view name) {
  const auto at = std::ranges::find(parameters, name, &Parameters::value_type::first);
  return at == parameters.end() ? std::string_view() : std::string_view(at->second);
}

Result<int64_t> parse_api_time(std::string_view text) {
  // The ends of time, whose years have more digits than RFC 3339 allows.
  if (text == "-292273086-05-16T16:47:06Z") return kMinTimeMs;
  if (text == "292277025-08-18T07:12:54.999999999Z") return kMaxTimeMs;
  if (const auto number = promql::go_parse_number(text)) {
    // Halfway to the ends of 64 bits is millions of years away, and leaves room to reckon.
    constexpr double kFarthest = static_cast<double>(kMaxTimeMs) / 1000;
    if (!(std::abs(*number) < kFarthest)) return bad_time(text);
    return std::llround(*number * 1000);
  }
  const auto time = parse_rfc3339(text);
  if (!time) return bad_time(text);
  return *time;
}

Result<Duration> parse_api_duration(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return Status(Code::kInvalidArgument, fmt::format("cannot parse {} to a valid duration{}",
                                                      promql::go_quoted(text), why));
  };
  if (const auto number = promql::go_parse_number(text)) {
    constexpr double kFarthest = 9.223372036e18;
    const double nanoseconds = *number * 1e9;
    if (!(std::abs(nanoseconds) < kFarthest)) return refused(". It overflows int64");
    return Duration(static_cast<int64_t>(nanoseconds));
  }
  const auto ms = promql::parse_duration(text);
  if (!ms.ok()) return refused("");
  return Duration(std::chrono::milliseconds(*ms));
}

Status invalid_parameter(std::string_view name, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("invalid parameter \"{}\": {}", name, what)};
}

Result<int64_t> time_parameter(const Parameters& parameters, std::string_view name,
                               int64_t otherwise_ms) {
  const std::string_view text = parameter(parameters, name);
  if (text.empty()) return otherwise_ms;
  auto time = parse_api_time(text);
  if (time.ok()) return time;
  return invalid_parameter(
      name, fmt::format("Invalid time value for '{}': {}", name, time.status().message()));
}

Result<size_t> limit_parameter(const Parameters& parameters) {
  const std::string_view text = parameter(parameters, "limit");
  if (text.empty()) return size_t{0};
  const auto number = parse_int(text);
  if (!number) {
    return invalid_parameter("limit",
                             fmt::format("{} is no whole number", promql::go_quoted(text)));
  }
  if (*number < 0) return invalid_parameter("limit", "limit must be non-negative");
  return static_cast<size_t>(*number);
}

Result<MatcherSets> matcher_parameters(const Parameters& parameters) {
  MatcherSets sets;
  for (const auto& [name, value] : parameters) {
    if (name != "match[]") continue;
    auto matchers = parse_selector(value);
    if (!matchers.ok()) return invalid_parameter(name, matchers.status().message());
    sets.push_back(std::move(*matchers));
  }
  return sets;
}

}  // namespace gpusight::serve
