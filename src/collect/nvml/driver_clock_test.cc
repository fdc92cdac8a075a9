// Versions and time stamps of the driver.
#include "collect/nvml/driver_clock.h"

#include <gtest/gtest.h>

#include "collect/nvml/driver_version.h"

namespace gpusight::collect::nvml {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DriverVersions, AreComparedByTheirNumbers) {
  EXPECT_EQ(parse_driver_version("580.105.08"), (DriverVersion{580, 105, 8}));
  EXPECT_EQ(parse_driver_version("470.42"), (DriverVersion{470, 42, 0}));
  EXPECT_LT(*parse_driver_version("580.82.07"), *parse_driver_version("580.105.08"));
  EXPECT_LT(*parse_driver_version("580.82"), *parse_driver_version("580.82.07"));
  for (const char* none : {"", "580", "580.x.1", "1.2.3.4", "-1.2", "4294967296.1"}) {
    EXPECT_EQ(parse_driver_version(none), std::nullopt) << none;
  }
}

TEST(DriverVersions, AnUnknownDriverHasOnlyWhatAllHave) {
  EXPECT_TRUE(DriverAges{}.holds(std::nullopt));
  EXPECT_FALSE((DriverAges{.first = {580, 82, 7}}.holds(std::nullopt)));
  EXPECT_TRUE((DriverAges{{575, 51, 2}, {580, 82, 7}}.holds(DriverVersion{580, 65, 6})));
  EXPECT_FALSE((DriverAges{{575, 51, 2}, {580, 82, 7}}.holds(DriverVersion{580, 82, 7})));
}

class DriverClocks : public testing::Test {
 protected:
  int64_t wall_us() const { return clock_.wall().time_since_epoch() / microseconds(1); }
  FakeClock clock_;
  DriverClock driver_;
};

TEST_F(DriverClocks, UntilAStampWasSeenTheWallClockStands) {
  EXPECT_EQ(driver_.now_us(clock_), static_cast<uint64_t>(wall_us()));
}

TEST_F(DriverClocks, TheOffsetIsMeasuredAndAgesWithTheMonotonicClock) {
  const MonoTime now = clock_.mono();
  driver_.observe(wall_us() - 3'000'000, now - milliseconds(2), now, clock_.wall());
  clock_.advance(seconds(10));
  EXPECT_NEAR(static_cast<double>(driver_.now_us(clock_)), wall_us() - 3e6, 1100);
  EXPECT_NEAR(
      std::chrono::duration<double>(driver_.mono_of(driver_.now_us(clock_), clock_) - clock_.mono())
          .count(),
      0, 1e-6);
}

TEST_F(DriverClocks, StampsThatAgreeWithWhatIsKnownDoNotMoveIt) {
  const MonoTime now = clock_.mono();
  driver_.observe(wall_us(), now, now, clock_.wall());
  const uint64_t before = driver_.now_us(clock_);
  driver_.observe(wall_us() + 300, now, now + milliseconds(1), clock_.wall());
  EXPECT_EQ(driver_.now_us(clock_), before);
  driver_.observe(wall_us() + 2'000'000, now, now, clock_.wall());
  EXPECT_EQ(driver_.now_us(clock_), before + 2'000'000);
}

TEST_F(DriverClocks, AClockThatIsSetTakesTheDriversStampsWithIt) {
  const MonoTime now = clock_.mono();
  driver_.observe(wall_us() - 1000, now, now, clock_.wall());
  clock_.set_wall(clock_.wall() - std::chrono::hours(2));
  EXPECT_NEAR(static_cast<double>(driver_.now_us(clock_)), wall_us() - 1000, 2);
}

TEST_F(DriverClocks, AStampFromAnotherDayIsNoTime) {
  driver_.observe(1, clock_.mono(), clock_.mono(), clock_.wall());
  EXPECT_EQ(driver_.now_us(clock_), static_cast<uint64_t>(wall_us()));
}

}  // namespace
}  // namespace gpusight::collect::nvml
