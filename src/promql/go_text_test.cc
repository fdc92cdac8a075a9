#include "promql/go_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpusight::promql {
namespace {

TEST(GoText, FixedNumbersHaveTheFewestDigitsAndNoExponent) {
  EXPECT_EQ(go_fixed(6), "6");
  EXPECT_EQ(go_fixed(0.1), "0.1");
  EXPECT_EQ(go_fixed(-0.0), "-0");
  EXPECT_EQ(go_fixed(1e-7), "0.0000001");
  EXPECT_EQ(go_fixed(1e21), "1000000000000000000000");
  EXPECT_EQ(go_fixed(1e23), "100000000000000000000000");
  EXPECT_EQ(go_fixed(-12345678901234567890.0), "-12345678901234567000");
  EXPECT_EQ(go_fixed(9007199254740991), "9007199254740991");
  EXPECT_EQ(go_fixed(9007199254740993), "9007199254740992");
  EXPECT_EQ(go_fixed(1.5e300), "15" + std::string(299, '0'));
  EXPECT_EQ(go_fixed(HUGE_VAL), "+Inf");
  EXPECT_EQ(go_fixed(-HUGE_VAL), "-Inf");
  EXPECT_EQ(go_fixed(std::nan("")), "NaN");
  EXPECT_EQ(go_fixed(5e-324).size(), 326u);
}

TEST(GoText, GeneralNumbersGetAnExponentFromAMillionOn) {
  EXPECT_EQ(go_general(0), "0");
  EXPECT_EQ(go_general(1.5), "1.5");
  EXPECT_EQ(go_general(100000), "100000");
  EXPECT_EQ(go_general(1000000), "1e+06");
  EXPECT_EQ(go_general(123456789), "1.23456789e+08");
  EXPECT_EQ(go_general(0.0001), "0.0001");
  EXPECT_EQ(go_general(0.00001), "1e-05");
  EXPECT_EQ(go_general(-HUGE_VAL), "-Inf");
}

TEST(GoText, QuotedTextShowsWhatIsNotPrintable) {
  EXPECT_EQ(go_quoted(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(go_quoted("a\n\t\x01\x7f"), R"("a\n\t\x01\x7f")");
  EXPECT_EQ(go_quoted("a\xc5z"), R"("a\xc5z")");
  EXPECT_EQ(go_quoted("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  EXPECT_EQ(go_quoted("\xe2\x82"), R"("\xe2\x82")");
  EXPECT_EQ(go_quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");
  EXPECT_EQ(go_quoted(""), R"("")");
}

TEST(GoText, ReadsNumbersAndRefusesWhatIsTooLarge) {
  EXPECT_EQ(go_parse_number("+Inf"), HUGE_VAL);
  EXPECT_EQ(go_parse_number("-.5e1"), -5);
  EXPECT_EQ(go_parse_number("0x1p-2"), 0.25);
  EXPECT_EQ(go_parse_number("017"), 17);
  EXPECT_EQ(go_parse_number("1e-400"), 0);
  EXPECT_EQ(go_parse_number("1e400"), std::nullopt);
  EXPECT_EQ(go_parse_number("-1e400"), std::nullopt);
  for (const char* none : {"", "+", "--1", "1_0", "1e", "0x", "one", "1 "}) {
    EXPECT_EQ(go_parse_number(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace gpusight::promql
