#include "serve/gzip.h"

#include <gtest/gtest.h>

#include <array>

#include "serve/test_gunzip.h"

namespace gpusight::serve {
namespace {

TEST(Gzip, PacksAndUnpacks) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919) + ",";
  EXPECT_EQ(gunzip(gzip(text)), text);
  EXPECT_LT(gzip(text).size(), text.size());
  EXPECT_EQ(gunzip(gzip("")), "");
}

TEST(Gzip, PiecesJoinToOneMemberInAnyOrder) {
  const GzipPiece head = stored_piece("{\"n\":7,");
  const GzipPiece a = compressed_piece(std::string(5000, 'a'));
  const GzipPiece b = compressed_piece("abcabcabc}");
  const GzipPiece empty = compressed_piece("");
  const std::array<const GzipPiece*, 4> forward = {&head, &a, &empty, &b};
  EXPECT_EQ(gunzip(join_gzip(forward)), "{\"n\":7," + std::string(5000, 'a') + "abcabcabc}");
  const std::array<const GzipPiece*, 3> backward = {&b, &a, &head};
  EXPECT_EQ(gunzip(join_gzip(backward)), "abcabcabc}" + std::string(5000, 'a') + "{\"n\":7,");
}

}  // namespace
}  // namespace gpusight::serve
