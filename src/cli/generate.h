// `gpusight generate FOLDER`: the documents that are made from tables. A test makes them again and
// compares them with the committed ones.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gpusight::cli {

struct Document {
  std::string name;  // below the folder: "metrics.md"
  std::string text;
};
std::vector<Document> generated_documents(const std::string& version);
Status write_documents(const std::string& folder, const std::string& version);

}  // namespace gpusight::cli
