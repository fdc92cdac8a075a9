#include "promql/literal.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

double number(std::string_view text) {
  const Result<double> value = parse_number(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status().message();
  return value.ok() ? *value : -1;
}

TEST(Number, IsReadInEveryForm) {
  EXPECT_EQ(number("1"), 1);
  EXPECT_EQ(number("12.34e6"), 12340000);
  EXPECT_EQ(number("12.34E-6"), 12.34e-6);
  EXPECT_EQ(number("5e+3"), 5000);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5);
  EXPECT_EQ(number("0x1F"), 31);
  EXPECT_EQ(number("0X_ff"), 255);
  EXPECT_EQ(number("0755"), 493);
  EXPECT_EQ(number("0789"), 789);  // no octal number
  EXPECT_EQ(number("00.5"), 0.5);
  EXPECT_EQ(number("1_000_000"), 1e6);
  EXPECT_EQ(number("1_0.2_5e1_0"), 10.25e10);
  EXPECT_EQ(number("INF"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(number("nAn")));
  EXPECT_EQ(number("9223372036854775808"), 9223372036854775808.0);
}

TEST(Number, TooSmallIsZeroAndTooLargeAnError) {
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("0.000e999"), 0);
  EXPECT_EQ(number("1e-99999999999999999999"), 0);
  EXPECT_EQ(number("5e-324"), 5e-324);
  for (const char* large : {"1e309", "0.1e99999999999999999999", "99e308"}) {
    EXPECT_EQ(parse_number(large).status().message(),
              "error parsing number: \"" + std::string(large) + "\": value out of range");
  }
}

TEST(Number, WithoutSyntaxIsAnError) {
  for (const char* bad : {"", "_1", "1_", "1__0", "1_.5", "0x", "0x_", "1e", "0x1p4", "1a", ".",
                          "-1", "0xffffffffffffffff"}) {
    EXPECT_FALSE(parse_number(bad).ok()) << bad;
  }
}

TEST(Number, IsPrintedShortAndReadsBack) {
  EXPECT_EQ(print_number(0.1), "0.1");
  EXPECT_EQ(print_number(-0.0), "-0");
  EXPECT_EQ(print_number(1e20), "100000000000000000000");
  EXPECT_EQ(print_number(1e21), "1e+21");
  EXPECT_EQ(print_number(0.000001), "0.000001");
  EXPECT_EQ(print_number(1e-7), "1e-07");
  EXPECT_EQ(print_number(std::numeric_limits<double>::infinity()), "Inf");
  EXPECT_EQ(print_number(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(print_number(std::numeric_limits<double>::quiet_NaN()), "NaN");
  for (const double value : {1.0 / 3, 123456789.123, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(number(print_number(value)), value);
  }
}

TEST(Quoting, EscapesWhatDoesNotPrintAndReadsBack) {
  EXPECT_EQ(quote_text("a\"b\\c\n\t'"), R"("a\"b\\c\n\t'")");
  EXPECT_EQ(quote_text(std::string_view("\0\x1b\x7f", 3)), R"("\x00\x1b\x7f")");
  EXPECT_EQ(quote_text("\xff\xc3"), R"("\xff\xc3")");
  EXPECT_EQ(quote_text("\u00e9\u202e\u00a0"), "\"\u00e9\\u202e\u00a0\"");  // the override is shown
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  all += "\u0080\u070f\u20ac\uffff\U0001f600";
  EXPECT_EQ(unquote_text(quote_text(all)).value(), all);
}

TEST(Quoting, ReadsGoEscapesInBothQuotesAndNoneInBackticks) {
  EXPECT_EQ(unquote_text(R"("\a\b\f\n\r\t\v\\\" \xFF\377\u1234\U00010111")").value(),
            "\a\b\f\n\r\t\v\\\" \xFF\377\u1234\U00010111");
  EXPECT_EQ(unquote_text(R"('it\'s "so"')").value(), "it's \"so\"");
  EXPECT_EQ(unquote_text(R"(`\n"'`)").value(), R"(\n"')");
}

TEST(Quoting, RefusesWhatIsNoLiteral) {
  for (const char* bad : {"", "\"", "a", "\"a'", "aba", "\"a\"b\"", "`a`b`", R"("\q")", R"("\x1")",
                          R"("\400")", R"("\ud800")", R"("\U00110000")", R"('\"')", "\"\n\""}) {
    EXPECT_FALSE(unquote_text(bad).ok()) << bad;
  }
}

TEST(Names, ArePlainWithLettersDigitsAndUnderscores) {
  EXPECT_TRUE(is_plain_label_name("_a1"));
  EXPECT_TRUE(is_plain_metric_name(":a:1"));
  for (const char* odd : {"", "1a", "a.b", "a b", "\u00e9"}) {
    EXPECT_FALSE(is_plain_label_name(odd)) << odd;
    EXPECT_FALSE(is_plain_metric_name(odd)) << odd;
  }
  EXPECT_FALSE(is_plain_label_name("a:b"));
}

TEST(Duration, IsReadByUnits) {
  EXPECT_EQ(parse_duration("1h30m").value(), 5'400'000);
  EXPECT_EQ(parse_duration("1y1w1d1h1m1s1ms").value(),
            ((((365 + 7 + 1) * 24LL + 1) * 60 + 1) * 60 + 1) * 1000 + 1);
  EXPECT_EQ(parse_duration("0s").value(), 0);
  EXPECT_EQ(parse_duration("007m").value(), 420'000);
}

TEST(Duration, IsReadAsSecondsWithoutOne) {
  EXPECT_EQ(parse_duration("0").value(), 0);
  EXPECT_EQ(parse_duration("30").value(), 30'000);
  EXPECT_EQ(parse_duration("1.5").value(), 1500);
  EXPECT_EQ(parse_duration("0.0015").value(), 1);  // what is below a millisecond is cut off
}

TEST(Duration, OutOfOrderTwiceOrUnknownIsAnError) {
  const auto message = [](std::string_view text) {
    return parse_duration(text).status().message();
  };
  EXPECT_EQ(message(""), "empty duration string");
  EXPECT_EQ(message("5m1h"), "not a valid duration string: \"5m1h\"");
  EXPECT_EQ(message("5m5m"), "not a valid duration string: \"5m5m\"");
  EXPECT_EQ(message("1.5m"), "not a valid duration string: \"1.5m\"");
  EXPECT_EQ(message("-5m"), "not a valid duration string: \"-5m\"");
  EXPECT_EQ(message("m"), "not a valid duration string: \"m\"");
  EXPECT_EQ(message("5M"), "unknown unit \"M\" in duration \"5M\"");
  EXPECT_EQ(message("293y"), "duration out of range");
  EXPECT_EQ(message("9223372036854775807s"), "duration out of range");
  EXPECT_EQ(message("99999999999999999999s"), "duration out of range");
  EXPECT_EQ(message("1e300"), "duration out of range");
  EXPECT_FALSE(parse_duration("NaN").ok());
}

TEST(Duration, IsPrintedInTheLargestUnitsThatReadWell) {
  EXPECT_EQ(print_duration(0), "0s");
  EXPECT_EQ(print_duration(90 * 86'400'000LL), "90d");  // not 12w6d
  EXPECT_EQ(print_duration(14 * 86'400'000LL), "2w");
  EXPECT_EQ(print_duration(5'400'001), "1h30m1ms");
  EXPECT_EQ(print_duration(-90'000), "-1m30s");
  for (const int64_t ms : {int64_t{1}, int64_t{999}, int64_t{31'536'000'001}}) {
    EXPECT_EQ(parse_duration(print_duration(ms)).value(), ms);
  }
  EXPECT_EQ(print_duration(std::numeric_limits<int64_t>::min()).substr(0, 1), "-");
}

}  // namespace
}  // namespace gpusight::promql
