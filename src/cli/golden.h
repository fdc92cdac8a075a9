// Compares a text with a file of testdata/. With GPUSIGHT_UPDATE_GOLDEN set in the environment the
// file is written instead: look at the difference before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace gpusight::cli::test {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(GPUSIGHT_SOURCE_DIR) + "/src/cli/testdata/" + name;
  if (std::getenv("GPUSIGHT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace gpusight::cli::test
