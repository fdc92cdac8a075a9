// Files below one root; remembers the first error. Shared by the parts of the tree builder.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "machine.h"
#include "scenario.h"

namespace gpusight::sim {

class TreeWriter {
 public:
  explicit TreeWriter(std::filesystem::path root) : root_(std::move(root)) {}

  // `path` is relative to the root. The text is written as it is.
  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path target = root_ / path;
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    const std::filesystem::path beside = target.string() + ".new";
    std::ofstream(beside, std::ios::binary) << text;
    std::filesystem::rename(beside, target, error);
    if (error && error_.empty()) error_ = target.string() + ": " + error.message();
  }
  void line(const std::string& path, const std::string& text) { put(path, text + "\n"); }

  // Text that grows: what is new is added to the file in place, so that one who has it open goes on
  // reading.
  void grow(const std::string& path, const std::string& text) {
    const std::filesystem::path target = root_ / path;
    std::ifstream in(target, std::ios::binary);
    const std::string there((std::istreambuf_iterator<char>(in)), {});
    if (!in.is_open() || !text.starts_with(there)) return put(path, text);
    std::ofstream(target, std::ios::binary | std::ios::app) << text.substr(there.size());
  }

  void link(const std::string& path, const std::string& to) {
    const std::filesystem::path target = root_ / path;
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    std::filesystem::remove(target, error);
    std::filesystem::create_symlink(to, target, error);
    if (error && error_.empty()) error_ = target.string() + ": " + error.message();
  }

  const std::filesystem::path& root() const { return root_; }
  const std::string& error() const { return error_; }

 private:
  std::filesystem::path root_;
  std::string error_;
};

// dev/kmsg: what the driver has told the kernel's log until `at`.
void write_kernel_log(const Scenario& scenario, double at, TreeWriter& out);
void write_host(const Scenario& scenario, double at, TreeWriter& out);
void write_processes(const Scenario& scenario, double at, TreeWriter& out);

}  // namespace gpusight::sim
