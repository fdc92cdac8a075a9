#include "cli/time_text.h"

#include <fmt/core.h>

#include <cmath>
#include <ctime>

#include "base/text.h"

namespace gpusight::cli {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;
// Of year 9999, the last that is written with four digits.
constexpr int64_t kLastMs = 253'402'300'799'999;

// Takes what a text begins with.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Exactly so many digits.
  std::optional<int> digits(size_t count) {
    if (text_.size() < count) return std::nullopt;
    int number = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return std::nullopt;
      number = number * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return number;
  }

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

struct Parts {
  std::tm broken_down{};
  int milliseconds = 0;
};

bool read_date(Reader& reader, Parts& parts) {
  const auto year = reader.digits(4);
  if (!year || !reader.take('-')) return false;
  const auto month = reader.digits(2);
  if (!month || !reader.take('-')) return false;
  const auto day = reader.digits(2);
  if (!day || *month < 1 || *month > 12 || *day < 1 || *day > 31) return false;
  parts.broken_down.tm_year = *year - 1900;
  parts.broken_down.tm_mon = *month - 1;
  parts.broken_down.tm_mday = *day;
  return true;
}

// HH:MM[:SS[.fff…]]
bool read_clock(Reader& reader, Parts& parts) {
  const auto hour = reader.digits(2);
  if (!hour || !reader.take(':')) return false;
  const auto minute = reader.digits(2);
  if (!minute || *hour > 23 || *minute > 59) return false;
  parts.broken_down.tm_hour = *hour;
  parts.broken_down.tm_min = *minute;
  if (!reader.take(':')) return true;
  const auto second = reader.digits(2);
  if (!second || *second > 59) return false;
  parts.broken_down.tm_sec = *second;
  if (!reader.take('.')) return true;
  int scale = 100;
  std::optional<int> digit = reader.digits(1);
  if (!digit) return false;
  for (; digit; digit = reader.digits(1), scale /= 10) parts.milliseconds += *digit * scale;
  return true;
}

// Z, +HH:MM or -HH:MM, in milliseconds east of UTC.
std::optional<int64_t> read_zone(Reader& reader) {
  if (reader.take('Z')) return 0;
  const bool east = reader.take('+');
  if (!east && !reader.take('-')) return std::nullopt;
  const auto hours = reader.digits(2);
  if (!hours || !reader.take(':')) return std::nullopt;
  const auto minutes = reader.digits(2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (east ? 1 : -1) * (*hours * 60 + *minutes) * kMinuteMs;
}

int64_t milliseconds_of(std::time_t seconds, const Parts& parts) {
  return int64_t{seconds} * 1000 + parts.milliseconds;
}

// A day that a month does not have becomes one of the next: it is none.
std::optional<int64_t> local_time(Parts parts) {
  const int day = parts.broken_down.tm_mday;
  parts.broken_down.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&parts.broken_down);
  if (seconds == -1 || parts.broken_down.tm_mday != day) return std::nullopt;
  return milliseconds_of(seconds, parts);
}

std::optional<int64_t> utc_time(Parts parts) {
  const int day = parts.broken_down.tm_mday;
  const std::time_t seconds = ::timegm(&parts.broken_down);
  if (parts.broken_down.tm_mday != day) return std::nullopt;
  return milliseconds_of(seconds, parts);
}

std::optional<int64_t> parse_date_time(std::string_view text) {
  Reader reader(text);
  Parts parts;
  if (!read_date(reader, parts)) return std::nullopt;
  if (reader.at_end()) return local_time(parts);
  if (!reader.take(' ') && !reader.take('T')) return std::nullopt;
  if (!read_clock(reader, parts)) return std::nullopt;
  if (reader.at_end()) return local_time(parts);
  const auto zone_ms = read_zone(reader);
  const auto utc_ms = utc_time(parts);
  if (!zone_ms || !utc_ms || !reader.at_end()) return std::nullopt;
  return *utc_ms - *zone_ms;
}

// A clock alone: of today, or of yesterday where today's is still to come.
std::optional<int64_t> parse_clock(std::string_view text, WallTime now) {
  Reader reader(text);
  Parts parts;
  if (!read_clock(reader, parts) || !reader.at_end()) return std::nullopt;
  const int64_t now_ms = unix_milliseconds(now);
  for (const int64_t back_ms : {int64_t{0}, kDayMs}) {
    const std::time_t seconds = (now_ms - back_ms) / 1000;
    std::tm day{};
    ::localtime_r(&seconds, &day);
    parts.broken_down.tm_year = day.tm_year;
    parts.broken_down.tm_mon = day.tm_mon;
    parts.broken_down.tm_mday = day.tm_mday;
    const auto time_ms = local_time(parts);
    if (time_ms && *time_ms <= now_ms) return time_ms;
  }
  return std::nullopt;
}

std::optional<int64_t> parse_any(std::string_view text, WallTime now) {
  if (text == "now") return unix_milliseconds(now);
  if (text.starts_with('-')) {
    const auto ago = parse_duration_seconds(text.substr(1));
    if (!ago || *ago > 1e12) return std::nullopt;
    return unix_milliseconds(now) - std::llround(*ago * 1000);
  }
  const bool begins_with_digit = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (const auto seconds = parse_double(text); seconds && begins_with_digit) {
    if (!(*seconds < 1e12)) return std::nullopt;
    return std::llround(*seconds * 1000);
  }
  if (const auto time_ms = parse_date_time(text)) return time_ms;
  return parse_clock(text, now);
}

}  // namespace

std::optional<int64_t> parse_moment(std::string_view text, WallTime now) {
  const auto time_ms = parse_any(text, now);
  if (!time_ms || *time_ms < 0 || *time_ms > kLastMs) return std::nullopt;
  return time_ms;
}

std::string moment_text(int64_t time_ms) {
  const std::time_t seconds = time_ms >= 0 ? time_ms / 1000 : -((-time_ms + 999) / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     time_ms - int64_t{seconds} * 1000);
}

}  // namespace gpusight::cli
