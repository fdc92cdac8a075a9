#include "cli/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;

struct ByteUnit {
  double size;
  std::string_view name;
};

ByteUnit unit_for(double bytes) {
  constexpr ByteUnit kUnits[] = {
      {1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}};
  // Terabytes only where gigabytes would need five digits: memories are compared in GiB.
  for (const ByteUnit& unit : kUnits) {
    if (bytes >= unit.size * (unit.name == "TiB" ? 10 : 1)) return unit;
  }
  return bytes == 0 ? ByteUnit{1073741824.0, "GiB"} : ByteUnit{1.0, "B"};
}

std::string in_unit(double bytes, const ByteUnit& unit) {
  const double number = bytes / unit.size;
  return fixed(number, number < 99.95 && unit.size > 1 ? 1 : 0);
}

std::string watts(double number) { return fixed(number, number < 9.95 ? 1 : 0); }

std::tm broken_down(WallTime time, TimeZone zone) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const std::time_t t = whole.count();
  std::tm out{};
  if (zone == TimeZone::kUtc) {
    ::gmtime_r(&t, &out);
  } else {
    ::localtime_r(&t, &out);
  }
  return out;
}

std::string two(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

std::string fixed(double number, int decimals) {
  char buffer[400];  // the longest double has 309 digits before the point
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed, decimals);
  std::string text(buffer, result.ptr);
  // "-0" is what remains of a small negative number.
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') text.erase(0, 1);
  return text;
}

std::string percent_text(double ratio) { return fixed(ratio * 100, 0) + " %"; }
std::string celsius_text(double celsius) { return fixed(celsius, 0) + " °C"; }
std::string megahertz_text(double hertz) { return fixed(hertz / 1e6, 0) + " MHz"; }

std::string memory_text(std::optional<double> used, std::optional<double> total) {
  if (!used && !total) return std::string(kAbsentMark);
  const ByteUnit unit = unit_for(std::max(used.value_or(0), total.value_or(0)));
  std::string text = used ? in_unit(*used, unit) : std::string(kAbsentMark);
  if (total) text += "/" + in_unit(*total, unit);
  return text + " " + std::string(unit.name);
}

std::string bytes_text(double bytes) { return memory_text(bytes, std::nullopt); }

std::string power_text(std::optional<double> power, std::optional<double> limit) {
  if (!power) return std::string(kAbsentMark);
  return watts(*power) + (limit ? "/" + watts(*limit) : "") + " W";
}

std::string age_text(double seconds) {
  if (seconds < 120) return fixed(seconds, 0) + " s";
  if (seconds < 7200) return fixed(seconds / 60, 0) + " min";
  return fixed(seconds / 3600, 0) + " h";
}

std::string uptime_text(double seconds, Lang lang) {
  const auto hours = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e12) / 3600);
  const auto minutes = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e12) / 60) % 60;
  if (hours >= 24) {
    return say(MessageId::kViewUpDays, lang, std::to_string(hours / 24),
               std::to_string(hours % 24));
  }
  return say(MessageId::kViewUpHours, lang, std::to_string(hours), std::to_string(minutes));
}

std::string date_time_text(WallTime time, TimeZone zone) {
  const std::tm t = broken_down(time, zone);
  return std::to_string(t.tm_year + 1900) + "-" + two(t.tm_mon + 1) + "-" + two(t.tm_mday) + " " +
         two(t.tm_hour) + ":" + two(t.tm_min) + ":" + two(t.tm_sec);
}

std::string clock_text(WallTime time, WallTime now, TimeZone zone) {
  const std::tm t = broken_down(time, zone);
  const std::tm today = broken_down(now, zone);
  std::string clock = two(t.tm_hour) + ":" + two(t.tm_min);
  if (t.tm_yday == today.tm_yday && t.tm_year == today.tm_year) return clock;
  std::string date = two(t.tm_mon + 1) + "-" + two(t.tm_mday) + " " + clock;
  if (t.tm_year == today.tm_year || now - time < std::chrono::hours(24 * 180)) return date;
  return std::to_string(t.tm_year + 1900) + "-" + date;
}

}  // namespace gpusight::cli
