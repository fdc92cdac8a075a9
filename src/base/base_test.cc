#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <thread>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "base/result.h"
#include "base/text.h"

namespace gpusight {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Status(Code::kInvalidArgument, "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  const int h = TRY(half(n));
  return half(h);
}

TEST(Result, TryPassesValuesOnAndReturnsFailures) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).status().message(), "odd");
  EXPECT_EQ(quarter(7).status().code(), Code::kInvalidArgument);
}

TEST(ResultDeathTest, TakingTheValueOfAFailureIsABug) {
  EXPECT_DEATH(half(1).value(), "BUG: .*odd");
}

// FAULT-071, FAULT-130
TEST(Text, CleaningRemovesEscapesAndReplacesInvalidBytes) {
  EXPECT_EQ(clean_text("NVIDIA \xff\xfe GeForce"), "NVIDIA \xEF\xBF\xBD\xEF\xBF\xBD GeForce");
  EXPECT_EQ(clean_text("a\x1b[31mb\nc\td\x7f"), "a[31mbcd");
  EXPECT_EQ(clean_text("right\xE2\x80\xAEtfel"), "righttfel");
  EXPECT_EQ(clean_text("  padded \r\n"), "padded");
  EXPECT_EQ(clean_text("\xE4\xB8\xAD\xE6\x96\x87", 4), "\xE4\xB8\xAD");
  EXPECT_EQ(clean_text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_text("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_TRUE(is_valid_utf8("\xF0\x9F\x8E\xAE"));
  EXPECT_FALSE(is_valid_utf8("\xF5\x80\x80\x80"));
}

TEST(Text, NumbersKnowNoLocale) {
  const char* before = std::setlocale(LC_ALL, nullptr);
  const std::string saved = before == nullptr ? "C" : before;
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(number_text(612.125), "612.125");
  EXPECT_EQ(parse_double("612.125"), 612.125);
  EXPECT_EQ(parse_double("612,125"), std::nullopt);
  std::setlocale(LC_ALL, saved.c_str());
}

TEST(Text, NumbersAreWrittenShortestAndWholeOnesWritten) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(85899345920.0), "85899345920");
  EXPECT_EQ(number_text(-0.25), "-0.25");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(Text, ParsingTakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_int(" 42\n"), 42);
  EXPECT_EQ(parse_int("42x"), std::nullopt);
  EXPECT_EQ(parse_uint("0x10de", 16), 0x10deu);
  EXPECT_EQ(parse_uint("-1"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
}

TEST(Text, DurationsAreReadAsUsersWriteThem) {
  EXPECT_EQ(parse_duration_seconds("1s"), 1);
  EXPECT_EQ(parse_duration_seconds("250ms"), 0.25);
  EXPECT_EQ(parse_duration_seconds("1h30m"), 5400);
  EXPECT_EQ(parse_duration_seconds("10"), std::nullopt);
  EXPECT_EQ(parse_duration_seconds("-1s"), std::nullopt);
  EXPECT_EQ(parse_duration_seconds("1parsec"), std::nullopt);
}

TEST(Text, TheClosestWordIsSuggestedAndFarOnesAreNot) {
  EXPECT_EQ(closest("listn", {"listen", "lang", "root"}), "listen");
  EXPECT_EQ(closest("jsno", {"lang", "json", "root"}), "json");  // a slip of two fingers
  EXPECT_EQ(closest("zzzzzz", {"listen", "lang", "root"}), "");
}

TEST(JsonWriter, EscapesAndSeparates) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("a\"b").number(0.5).key("c").begin_array().string("x\n\\").null();
  w.boolean(true).end_array().key("d").begin_object().end_object().end_object();
  EXPECT_EQ(out, R"({"a\"b":0.5,"c":["x\u000a\\",null,true],"d":{}})");
  EXPECT_EQ(json_string("\xff"), "\"\xEF\xBF\xBD\"");
}

TEST(BoundedQueue, RefusesAndCountsWhenFull) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push(1));
  EXPECT_FALSE(queue.push(2));
  EXPECT_EQ(queue.dropped(), 1u);
  EXPECT_EQ(queue.try_pop(), 1);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(FakeClock, SleepersWakeWhenTheirDeadlineComesOrWhenStopped) {
  FakeClock clock;
  std::stop_source stop;
  bool reached = false;
  std::thread sleeper([&] {
    reached = clock.sleep_until(clock.mono() + std::chrono::seconds(0), stop.get_token());
  });
  sleeper.join();
  EXPECT_TRUE(reached);
  std::thread stopped(
      [&] { reached = clock.sleep_until(clock.mono() + std::chrono::hours(1), stop.get_token()); });
  stop.request_stop();
  stopped.join();
  EXPECT_FALSE(reached);
}

}  // namespace
}  // namespace gpusight
