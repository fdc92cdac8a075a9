#include "base/display_width.h"

#include <gtest/gtest.h>

namespace gpusight {
namespace {

TEST(DisplayWidth, WideCharactersTakeTwoColumnsAndCombiningMarksNone) {
  EXPECT_EQ(display_width("GPU 0"), 5u);
  EXPECT_EQ(display_width("显存"), 4u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u);
  EXPECT_EQ(display_width("61 °C –"), 7u);
  EXPECT_EQ(display_width("（😀）"), 6u);
  EXPECT_EQ(display_width("\xFF\xC3"), 2u);
}

TEST(DisplayWidth, WhatDoesNotFitIsCutOnACharacterAndSaysSo) {
  EXPECT_EQ(fit_width("NVIDIA H100 80GB", 16), "NVIDIA H100 80GB");
  EXPECT_EQ(fit_width("NVIDIA H100 80GB", 8), "NVIDIA…");
  EXPECT_EQ(fit_width("显存利用率", 6), "显存…");
  EXPECT_EQ(fit_width("abc", 0), "");
  EXPECT_EQ(display_width(pad_left("显存利用率", 4)), 4u);
  EXPECT_EQ(pad_left("7", 3), "  7");
  EXPECT_EQ(pad_right("显存", 5), "显存 ");
}

TEST(DisplayWidth, LinesBreakAtSpacesAndBetweenWideCharacters) {
  EXPECT_EQ(wrap_lines("what the GPUs do now", 9),
            (std::vector<std::string>{"what the", "GPUs do", "now"}));
  EXPECT_EQ(wrap_lines("监听地址，默认回环", 8),
            (std::vector<std::string>{"监听地", "址，默认", "回环"}));
  EXPECT_EQ(wrap_lines("a verylongword b", 4),
            (std::vector<std::string>{"a", "verylongword", "b"}));
  EXPECT_EQ(wrap_lines("", 4), std::vector<std::string>{""});
}

}  // namespace
}  // namespace gpusight
