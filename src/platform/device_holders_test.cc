#include "platform/device_holders.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class DeviceHoldersTest : public testing::Test {
 protected:
  DeviceHoldersTest() : root_(testing::TempDir() + "holders." + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/proc/1/fd");
    std::filesystem::create_directory_symlink("50", root_ + "/proc/self");
  }
  ~DeviceHoldersTest() override {
    std::error_code ignored;
    std::filesystem::permissions(root_ + "/proc/30/fd", std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(root_);
  }
  void open(int pid, int descriptor, const std::string& target) {
    const std::string folder = root_ + "/proc/" + std::to_string(pid) + "/fd";
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink(target, folder + "/" + std::to_string(descriptor));
  }

  std::string root_;
};

// FAULT-080
TEST_F(DeviceHoldersTest, AreThoseWithADeviceFileOpen) {
  open(10, 0, "/dev/null");
  open(20, 3, "/dev/nvidia0");
  open(20, 4, "/dev/nvidia0");
  open(21, 7, "/dev/dri/renderD128");
  open(22, 1, "/home/me/nvidia0");
  open(22, 2, "socket:[1]");
  open(50, 9, "/dev/nvidia0");  // this process
  DeviceHolders holders{RootFs(root_)};
  EXPECT_TRUE(holders.is_partial());  // nobody has looked
  holders.look();
  EXPECT_EQ(holders.of({"/dev/nvidia0"}), std::vector<int64_t>{20});
  EXPECT_EQ(holders.of({"/dev/nvidia0", "/dev/dri/renderD128"}), (std::vector<int64_t>{20, 21}));
  EXPECT_TRUE(holders.of({"/dev/nvidia1"}).empty());
  EXPECT_FALSE(holders.is_partial());
  std::filesystem::remove_all(root_ + "/proc/20");
  std::filesystem::remove(root_ + "/proc/21/fd/7");
  holders.look();
  EXPECT_TRUE(holders.of({"/dev/nvidia0", "/dev/dri/renderD128"}).empty());
}

// FAULT-080
TEST_F(DeviceHoldersTest, ManyAreLookedAtInPartsWithinTheBound) {
  for (int pid = 100; pid < 140; ++pid) {
    for (int i = 0; i < 50; ++i) open(pid, i, pid == 139 ? "/dev/nvidia3" : "/dev/null");
  }
  DeviceHolders holders{RootFs(root_)};
  int looks = 0;
  do {
    holders.look(500);
    ++looks;
  } while (holders.is_partial() && looks < 100);
  EXPECT_EQ(looks, 4);  // ten processes at a time
  EXPECT_EQ(holders.of({"/dev/nvidia3"}), std::vector<int64_t>{139});
}

// FAULT-080
TEST_F(DeviceHoldersTest, WhatMayNotBeLookedAtIsSaid) {
  if (::geteuid() != 0) {
    open(30, 0, "/dev/nvidia0");
    std::filesystem::permissions(root_ + "/proc/30/fd", std::filesystem::perms::none);
    DeviceHolders refused{RootFs(root_)};
    refused.look();
    EXPECT_TRUE(refused.is_partial());
  }
  std::filesystem::remove_all(root_ + "/proc/1");  // hidepid: others are not even listed
  DeviceHolders hidden{RootFs(root_)};
  hidden.look();
  EXPECT_TRUE(hidden.is_partial());
  DeviceHolders nothing{RootFs(root_ + "/none")};
  nothing.look();
  EXPECT_TRUE(nothing.is_partial());
}

}  // namespace
}  // namespace gpusight::platform
