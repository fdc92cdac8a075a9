// Functions of one value. Dates are those of the proleptic Gregorian calendar in UTC.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "promql/instant_functions.h"

namespace gpusight::promql {
namespace {

using Args = std::span<const double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Unlike std::min and std::max: NaN wins over numbers, the infinity asked for wins over NaN, and
// the zeros are told apart.
double smaller(double a, double b) {
  if (a == -kInf || b == -kInf) return -kInf;
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double larger(double a, double b) { return -smaller(-a, -b); }

double clamp_between(double value, double low, double high) {
  if (high < low) return no_value();
  return larger(low, smaller(high, value));
}

double sign(double value) {
  if (value < 0) return -1;
  return value > 0 ? 1 : value;
}

// Ties go up. Multiplying with the inverse loses less than dividing by `nearest`.
double round_to(double value, Args args) {
  const double inverse = 1 / (args.empty() ? 1 : args[0]);
  return std::floor(value * inverse + 0.5) / inverse;
}

constexpr int64_t kSecondsPerDay = 86'400;

struct Date {
  int64_t year = 0;
  int month = 0;  // 1 to 12
  int day = 0;    // 1 to 31
};

// What a time is in days since 1970 and seconds into the day.
struct DayTime {
  int64_t day = 0;
  int64_t second = 0;
};

DayTime split_time(int64_t seconds) {
  int64_t day = seconds / kSecondsPerDay;
  int64_t second = seconds % kSecondsPerDay;
  if (second < 0) {
    second += kSecondsPerDay;
    --day;
  }
  return {day, second};
}

// Eras of 400 years, which all have as many days, with years that begin in March, so that the leap
// day comes last. (The algorithm of days_from_civil and its inverse is Howard Hinnant's.)
Date date_of(int64_t day) {
  constexpr int64_t kDaysPerEra = 146'097;
  constexpr int64_t kDaysFromEraToEpoch = 719'468;  // from 0000-03-01 to 1970-01-01
  const int64_t shifted = day + kDaysFromEraToEpoch;
  const int64_t era = (shifted >= 0 ? shifted : shifted - (kDaysPerEra - 1)) / kDaysPerEra;
  const int64_t day_of_era = shifted - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t march_month = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(march_month < 10 ? march_month + 3 : march_month - 9);
  return {.year = year_of_era + era * 400 + (month <= 2 ? 1 : 0),
          .month = month,
          .day = static_cast<int>(day_of_year - (153 * march_month + 2) / 5 + 1)};
}

bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int64_t year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

int64_t day_of_year(const Date& date) {
  int64_t days = date.day;
  for (int month = 1; month < date.month; ++month) days += days_in(date.year, month);
  return days;
}

// A part of the date; `value` is seconds since 1970, whose fraction is cut off towards zero. What
// is no time (NaN, ±Inf, beyond 64 bits of seconds) has none.
template <int64_t (*part)(DayTime)>
double date_part(double value, Args) {
  constexpr double kLimit = 9.2e18;
  if (!(std::abs(value) < kLimit)) return kNan;
  return static_cast<double>(part(split_time(static_cast<int64_t>(value))));
}

int64_t minute_part(DayTime time) { return time.second / 60 % 60; }
int64_t hour_part(DayTime time) { return time.second / 3600; }
int64_t day_of_month_part(DayTime time) { return date_of(time.day).day; }
int64_t day_of_year_part(DayTime time) { return day_of_year(date_of(time.day)); }
int64_t month_part(DayTime time) { return date_of(time.day).month; }
int64_t year_part(DayTime time) { return date_of(time.day).year; }
int64_t days_in_month_part(DayTime time) {
  const Date date = date_of(time.day);
  return days_in(date.year, date.month);
}
int64_t day_of_week_part(DayTime time) {
  constexpr int64_t kFirstWeekday = 4;  // 1970-01-01 was a Thursday; Sunday is 0
  return ((time.day % 7) + 7 + kFirstWeekday) % 7;
}

// A function of <cmath> that takes nothing else.
template <double (*function)(double)>
double plain(double value, Args) {
  return function(value);
}

// Sorted by name.
// clang-format off
constexpr std::array kValueFunctions = {
    ValueFunction{"abs", plain<std::abs>},
    ValueFunction{"acos", plain<std::acos>},
    ValueFunction{"acosh", plain<std::acosh>},
    ValueFunction{"asin", plain<std::asin>},
    ValueFunction{"asinh", plain<std::asinh>},
    ValueFunction{"atan", plain<std::atan>},
    ValueFunction{"atanh", plain<std::atanh>},
    ValueFunction{"ceil", plain<std::ceil>},
    ValueFunction{"clamp", [](double v, Args args) { return clamp_between(v, args[0], args[1]); }},
    ValueFunction{"clamp_max", [](double v, Args args) { return clamp_between(v, -kInf, args[0]); }},
    ValueFunction{"clamp_min", [](double v, Args args) { return clamp_between(v, args[0], kInf); }},
    ValueFunction{"cos", plain<std::cos>},
    ValueFunction{"cosh", plain<std::cosh>},
    ValueFunction{"day_of_month", date_part<day_of_month_part>, true},
    ValueFunction{"day_of_week", date_part<day_of_week_part>, true},
    ValueFunction{"day_of_year", date_part<day_of_year_part>, true},
    ValueFunction{"days_in_month", date_part<days_in_month_part>, true},
    ValueFunction{"deg", [](double v, Args) { return v * 180 / std::numbers::pi; }},
    ValueFunction{"exp", plain<std::exp>},
    ValueFunction{"floor", plain<std::floor>},
    ValueFunction{"hour", date_part<hour_part>, true},
    ValueFunction{"ln", plain<std::log>},
    ValueFunction{"log10", plain<std::log10>},
    ValueFunction{"log2", plain<std::log2>},
    ValueFunction{"minute", date_part<minute_part>, true},
    ValueFunction{"month", date_part<month_part>, true},
    ValueFunction{"rad", [](double v, Args) { return v * std::numbers::pi / 180; }},
    ValueFunction{"round", round_to},
    ValueFunction{"sgn", plain<sign>},
    ValueFunction{"sin", plain<std::sin>},
    ValueFunction{"sinh", plain<std::sinh>},
    ValueFunction{"sqrt", plain<std::sqrt>},
    ValueFunction{"tan", plain<std::tan>},
    ValueFunction{"tanh", plain<std::tanh>},
    ValueFunction{"year", date_part<year_part>, true},
};
// clang-format on

}  // namespace

const ValueFunction* find_value_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(kValueFunctions, name, {}, &ValueFunction::name);
  return found != kValueFunctions.end() && found->name == name ? &*found : nullptr;
}

}  // namespace gpusight::promql
