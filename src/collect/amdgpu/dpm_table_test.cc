#include "collect/amdgpu/dpm_table.h"

#include <gtest/gtest.h>

#include "collect/amdgpu/ras_counts.h"
#include "collect/amdgpu/throttle_classes.h"

namespace gpusight::collect::amdgpu {
namespace {

// FAULT-048
TEST(DpmTable, TheLevelInUseHasAStar) {
  const DpmTable table = parse_dpm_table("0: 300Mhz \n1: 600Mhz \n2: 900Mhz *\n3: 1366Mhz \n");
  EXPECT_EQ(table.current, 900e6);
  EXPECT_EQ(table.highest, 1366e6);
}

// FAULT-048
TEST(DpmTable, OddLinesAreReadOrPassedOver) {
  EXPECT_EQ(parse_dpm_table("S: 19Mhz *\n0: 615Mhz\n1: 800Mhz\n").current, 19e6) << "deep sleep";
  EXPECT_EQ(parse_dpm_table("0: 400Mhz\n1: 1200.5 Mhz *\n").current, 1200.5e6);
  EXPECT_EQ(parse_dpm_table("0: 0Mhz *\n1: 0Mhz *\n").current, 0) << "an engine that is off";
  EXPECT_EQ(parse_dpm_table("0: 8.0GT/s, x16 78Mhz *\n").current, 78e6);
  const DpmTable none = parse_dpm_table("0: 400Mhz \n1: 800Mhz \n");
  EXPECT_EQ(none.current, std::nullopt) << "no star";
  EXPECT_EQ(none.highest, 800e6);
  const DpmTable all = parse_dpm_table("0: 400Mhz *\n1: 800Mhz *\n");
  EXPECT_EQ(all.current, std::nullopt) << "stars behind different levels";
  EXPECT_EQ(all.highest, 800e6);
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("Mhz *"), std::string(4096, 'x'),
        std::string("0: Mhz *\n"), std::string("0: -5Mhz *\n"), std::string("0: 1e300Mhz *\n"),
        std::string("0: nanMhz *\n")}) {
    EXPECT_EQ(parse_dpm_table(text).current, std::nullopt) << text.substr(0, 20);
    EXPECT_EQ(parse_dpm_table(text).highest, std::nullopt) << text.substr(0, 20);
  }
}

TEST(RasCount, LinesThatAreNotThereAreNotTold) {
  const RasCount count = parse_ras_count("ue: 1\nce: 12\nde: 3\n");
  EXPECT_EQ(count.uncorrected, 1u);
  EXPECT_EQ(count.corrected, 12u);
  EXPECT_EQ(count.deferred, 3u);
  EXPECT_EQ(parse_ras_count("ue: 0\nce: 0\n").deferred, std::nullopt);
  const RasCount none = parse_ras_count("Query currently inaccessible\n");
  EXPECT_FALSE(none.corrected || none.uncorrected || none.deferred);
  EXPECT_EQ(parse_ras_count("ce: -1\nue: many\n").corrected, std::nullopt);
}

TEST(BadPages, AreRetiredOrToBe) {
  const BadPages pages = parse_bad_pages(
      "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n0x00000003 : 0x00001000 : F\n"
      "0x4 : 0x1000 : R\nrubbish\nx : y : R\n");
  EXPECT_EQ(pages.retired, 2u);
  EXPECT_EQ(pages.pending, 2u);
}

TEST(ThrottleClasses, HoldEveryBitAtMostOnce) {
  uint64_t seen = 0;
  for (const ThrottleClass& row : kThrottleClasses) {
    EXPECT_NE(row.bits, 0u) << row.reason;
    EXPECT_EQ(seen & row.bits, 0u) << row.reason;
    seen |= row.bits;
  }
  EXPECT_EQ(throttle_bits(0, 15), 0xffffu);
  EXPECT_EQ(throttle_bits(57, 57), uint64_t{1} << 57);
}

}  // namespace
}  // namespace gpusight::collect::amdgpu
