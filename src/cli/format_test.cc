#include "cli/format.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

#include "cli/table.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
constexpr double kGiB = 1073741824.0;

TEST(Format, NumbersCarryTheUnitsThatPeopleRead) {
  EXPECT_EQ(percent_text(0.974), "97 %");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(celsius_text(-0.2), "0 °C");
  EXPECT_EQ(celsius_text(61), "61 °C");
  EXPECT_EQ(megahertz_text(1.98e9), "1980 MHz");
  EXPECT_EQ(memory_text(61.24 * kGiB, 79.6 * kGiB), "61.2/79.6 GiB");
  EXPECT_EQ(memory_text(412.4 * kGiB, 1008 * kGiB), "412/1008 GiB");
  EXPECT_EQ(memory_text(0, 24 * kGiB), "0.0/24.0 GiB");
  EXPECT_EQ(memory_text({}, 24 * kGiB), "–/24.0 GiB");
  EXPECT_EQ(memory_text({}, {}), "–");
  EXPECT_EQ(bytes_text(512 << 20), "512 MiB");
  EXPECT_EQ(bytes_text(12), "12 B");
  EXPECT_EQ(power_text(612.4, 700), "612/700 W");
  EXPECT_EQ(power_text(3.24, {}), "3.2 W");
  EXPECT_EQ(power_text({}, 700), "–");
  EXPECT_EQ(fixed(std::numeric_limits<double>::max(), 0).size(), 309u);
}

TEST(Format, AgesAndUptimes) {
  EXPECT_EQ(age_text(4.2), "4 s");
  EXPECT_EQ(age_text(600), "10 min");
  EXPECT_EQ(age_text(90000), "25 h");
  EXPECT_EQ(uptime_text(3 * 3600 + 120, Lang::kEnglish), "3 h 2 min");
  EXPECT_EQ(uptime_text(3 * 86400 + 3600, Lang::kChinese), "3 天 1 小时");
}

TEST(Format, TheDateStandsBeforeAClockTimeOfAnotherDay) {
  const WallTime now{std::chrono::seconds(1767225600)};
  EXPECT_EQ(date_time_text(now, TimeZone::kUtc), "2026-01-01 00:00:00");
  EXPECT_EQ(clock_text(now, now, TimeZone::kUtc), "00:00");
  EXPECT_EQ(clock_text(now - std::chrono::minutes(1), now, TimeZone::kUtc), "12-31 23:59");
  EXPECT_EQ(clock_text(now - std::chrono::hours(24 * 400), now, TimeZone::kUtc),
            "2024-11-27 00:00");
}

// A decimal-comma locale changes what the C library prints; nothing of ours goes through it.
TEST(Format, KnowsNoLocale) {
  const char* const old = std::setlocale(LC_ALL, nullptr);
  const std::string before = old == nullptr ? "C" : old;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, name);
    EXPECT_EQ(memory_text(61.24 * kGiB, 1008 * kGiB), "61.2/1008 GiB");
    EXPECT_EQ(fixed(0.5, 2), "0.50");
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Table, TheLastCellOfAShortRowReachesOverTheRest) {
  Table table({{"A"}, {"Bb", Align::kRight}, {"C"}});
  table.add({{"1"}, {"22"}, {"three"}});
  table.add({{"1"}, {"a long text over both"}});
  EXPECT_EQ(table.render(80, false), "A  Bb  C\n1  22  three\n1  a long text over both\n");
  EXPECT_EQ(table.render(10, false), "A  Bb  C\n1  22  th…\n1  a long…\n");
}

}  // namespace
}  // namespace gpusight::cli
