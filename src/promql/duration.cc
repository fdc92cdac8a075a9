// Durations as PromQL writes them: parse_duration() and print_duration().
//
// Source: the "Time Durations" section of Prometheus's query documentation; a year is 365 days.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/duration.h"
#include "promql/literal.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
  bool only_whole;  // written only if nothing remains: 90d, not 12w6d
};
constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr Unit kUnits[] = {
    {"y", 365 * kDayMs, true}, {"w", 7 * kDayMs, true}, {"d", kDayMs, false}, {"h", kHourMs, false},
    {"m", kMinuteMs, false},   {"s", 1000, false},      {"ms", 1, false},
};
// What 64 bits of nanoseconds hold, which is how Prometheus keeps a duration.
constexpr int64_t kMaxDurationMs = std::numeric_limits<int64_t>::max() / 1'000'000;

Status bad_duration(std::string_view text) {
  return {Code::kInvalidArgument, "not a valid duration string: " + quote_text(text)};
}
Status too_long() { return {Code::kInvalidArgument, "duration out of range"}; }

size_t count_while(std::string_view text, bool (*holds)(char)) {
  size_t n = 0;
  while (n < text.size() && holds(text[n])) ++n;
  return n;
}
bool is_unit_letter(char c) { return is_letter(c); }

// "1h30m": each unit at most once, the larger first.
Result<int64_t> parse_units(std::string_view text) {
  int64_t total = 0;
  size_t next_unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t digits = count_while(rest, is_digit);
    const std::string_view number_text = rest.substr(0, digits);
    rest.remove_prefix(digits);
    const size_t letters = count_while(rest, is_unit_letter);
    const std::string_view name = rest.substr(0, letters);
    rest.remove_prefix(letters);
    if (digits > 0 && letters > 0 &&
        std::ranges::find(kUnits, name, &Unit::name) == std::end(kUnits)) {
      return Status(Code::kInvalidArgument, fmt::format("unknown unit {} in duration {}",
                                                        quote_text(name), quote_text(text)));
    }
    while (next_unit < std::size(kUnits) && kUnits[next_unit].name != name) ++next_unit;
    if (digits == 0 || next_unit == std::size(kUnits)) return bad_duration(text);
    const Unit& unit = kUnits[next_unit++];
    const std::optional<int64_t> number = parse_int(number_text);
    if (!number || *number > (kMaxDurationMs - total) / unit.ms) return too_long();
    total += *number * unit.ms;
  }
  return total;
}

}  // namespace

Result<int64_t> parse_duration(std::string_view text) {
  if (text.empty()) return Status(Code::kInvalidArgument, "empty duration string");
  if (is_letter(text.back())) return parse_units(text);
  const Result<double> seconds = parse_number(text);
  if (!seconds.ok()) return bad_duration(text);
  return seconds_to_ms(*seconds);
}

Result<int64_t> seconds_to_ms(double seconds) {
  if (!(std::fabs(seconds) * 1000 <= static_cast<double>(kMaxDurationMs))) return too_long();
  // Nanoseconds are rounded, milliseconds cut off: what Prometheus makes of it.
  return std::llround(seconds * 1e9) / 1'000'000;
}

std::string print_duration(int64_t duration_ms) {
  if (duration_ms == 0) return "0s";
  std::string out = duration_ms < 0 ? "-" : "";
  uint64_t rest =
      duration_ms < 0 ? -static_cast<uint64_t>(duration_ms) : static_cast<uint64_t>(duration_ms);
  for (const Unit& unit : kUnits) {
    const auto ms = static_cast<uint64_t>(unit.ms);
    if (rest < ms || (unit.only_whole && rest % ms != 0)) continue;
    out += fmt::format("{}{}", rest / ms, unit.name);
    rest %= ms;
  }
  return out;
}

}  // namespace gpusight::promql
