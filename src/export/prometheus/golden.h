// Files of testdata that a text must equal.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace gpusight::prometheus {

// GPUSIGHT_UPDATE_GOLDEN=1 writes the files anew.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path =
      std::string(GPUSIGHT_SOURCE_DIR) + "/src/export/prometheus/testdata/" + name;
  if (std::getenv("GPUSIGHT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << "GPUSIGHT_UPDATE_GOLDEN=1 writes " << name << " anew";
}

}  // namespace gpusight::prometheus
