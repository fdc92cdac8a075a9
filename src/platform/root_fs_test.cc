#include "platform/root_fs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class RootFsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "root_fs." + std::to_string(::getpid());
    std::filesystem::create_directories(root_ + "/sys/class/drm");
    std::ofstream(root_ + "/sys/value") << " 42 \n";
    std::ofstream(root_ + "/sys/vendor") << "0x10de\n";
    std::ofstream(root_ + "/sys/empty");
    for (const char* name : {"card10", "card2", "card0-DP-1", "card0"}) {
      std::filesystem::create_directory(root_ + "/sys/class/drm/" + name);
    }
    std::filesystem::create_symlink("../../bus/pci/drivers/nvidia", root_ + "/sys/driver");
    std::filesystem::create_symlink("nowhere", root_ + "/sys/dangling");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_;
};

// FAULT-047
TEST_F(RootFsTest, EveryKindOfBrokenFileIsAnErrorValue) {
  const RootFs fs(root_);
  EXPECT_EQ(fs.read("/sys/gone").status().code(), Code::kNotFound);
  EXPECT_EQ(fs.read("/sys/dangling").status().code(), Code::kNotFound);
  EXPECT_EQ(fs.read("/sys/class").status().code(), Code::kIo);  // a directory
  EXPECT_EQ(fs.read_int("/sys/empty"), std::nullopt);
  EXPECT_EQ(fs.read_int("/sys/vendor"), std::nullopt);
  EXPECT_EQ(fs.read("/sys/gone").status().message(), "/sys/gone: No such file or directory");
}

TEST_F(RootFsTest, ReadsNumbersAndLinks) {
  const RootFs fs(root_);
  EXPECT_EQ(fs.read_int("/sys/value"), 42);
  EXPECT_EQ(fs.read_hex("/sys/vendor"), 0x10deu);
  EXPECT_EQ(fs.link_name("/sys/driver"), "nvidia");
  EXPECT_EQ(fs.link_name("/sys/value"), std::nullopt);
  EXPECT_EQ(fs.read("/sys/value", 3).value(), " 42");
}

// FAULT-037
TEST_F(RootFsTest, NamesAreSortedAsPeopleCount) {
  const RootFs fs(root_);
  EXPECT_EQ(fs.list("/sys/class/drm"),
            (std::vector<std::string>{"card0", "card0-DP-1", "card2", "card10"}));
  EXPECT_TRUE(fs.list("/sys/nothing").empty());
  EXPECT_TRUE(natural_less("hwmon9", "hwmon12"));
  EXPECT_FALSE(natural_less("hwmon12", "hwmon9"));
  EXPECT_FALSE(natural_less("a", "a"));
}

}  // namespace
}  // namespace gpusight::platform
