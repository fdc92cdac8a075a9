// Numbers and moments for people, in the units people read. Locale-free. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "catalog/message.h"

namespace gpusight::cli {

// What stands where a value is absent.
inline constexpr std::string_view kAbsentMark = "–";

// With so many decimals, rounded half to even: "61.2".
std::string fixed(double number, int decimals);
std::string percent_text(double ratio);    // 0.974 → "97 %"
std::string celsius_text(double celsius);  // "61 °C"
std::string megahertz_text(double hertz);  // "1980 MHz"
// "61.2/79.6 GiB", "–/79.6 GiB", "61.2 GiB"; "–" without both. The unit is the larger one's.
std::string memory_text(std::optional<double> used, std::optional<double> total);
std::string bytes_text(double bytes);  // "61.2 GiB"
// "612/700 W", "612 W", "–" without the first.
std::string power_text(std::optional<double> watts, std::optional<double> limit);
std::string age_text(double seconds);  // "3 s", "2 min", "5 h"
std::string uptime_text(double seconds, catalog::Lang lang);

enum class TimeZone : uint8_t { kLocal, kUtc };
std::string date_time_text(WallTime time, TimeZone zone);  // "2026-01-01 00:00:00"
// "03:12", with the date before it ("12-31 03:12") when it is not of today.
std::string clock_text(WallTime time, WallTime now, TimeZone zone);

// The catalogue's message with its arguments.
template <typename... Args>
std::string say(catalog::MessageId id, catalog::Lang lang, const Args&... args) {
  const std::string arguments[] = {std::string(args)..., std::string()};
  return catalog::format_message(id, lang, std::span(arguments, sizeof...(args)));
}

}  // namespace gpusight::cli
