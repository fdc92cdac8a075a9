// A folder that goes with the test. Short, so that socket paths below it are allowed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace gpusight::serve {

class TestFolder {
 public:
  TestFolder() {
    const std::string pattern = (std::filesystem::temp_directory_path() / "gs-XXXXXX").string();
    path_ = pattern;
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gpusight::serve
