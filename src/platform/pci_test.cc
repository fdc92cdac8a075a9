#include "platform/pci.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class PciTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& address, const std::string& file, const std::string& text) {
    const std::string path = root_ + "/sys/bus/pci/devices/" + address + "/" + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  void add(const std::string& address, const std::string& vendor, const std::string& pci_class) {
    write(address, "vendor", vendor + "\n");
    write(address, "device", "0x2330\n");
    write(address, "class", pci_class + "\n");
  }
  std::string root_ = testing::TempDir() + "pci." + std::to_string(::getpid());
};

TEST_F(PciTest, FindsDisplayDevicesInBusOrder) {
  add("0000:9a:00.0", "0x10de", "0x030200");
  add("0000:10:00.0", "0x10de", "0x030000");
  add("0000:10:00.1", "0x10de", "0x040300");  // its sound
  add("0000:00:02.0", "0x8086", "0x038000");
  add("10000:01:00.0", "0x10de", "0x030200");
  add("0000:0a:00.0", "0x10de", "0x068000");  // a switch
  std::filesystem::create_symlink("../../../bus/pci/drivers/nouveau",
                                  root_ + "/sys/bus/pci/devices/0000:10:00.0/driver");
  const RootFs fs(root_);
  ASSERT_EQ(display_devices(fs).size(), 4u);
  const auto found = display_devices(fs, kVendorNvidia);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].address, "0000:10:00.0");
  EXPECT_EQ(found[0].driver, "nouveau");
  EXPECT_EQ(found[0].device, 0x2330u);
  EXPECT_EQ(found[1].address, "0000:9a:00.0");
  EXPECT_EQ(found[1].driver, "");
  EXPECT_EQ(found[2].address, "10000:01:00.0");
}

TEST_F(PciTest, WhatUeventSaysServesWhereTheOtherFilesCannotBeRead) {
  write("0000:01:00.0", "uevent",
        "DRIVER=nvidia\nPCI_CLASS=30000\nPCI_ID=10DE:2684\nPCI_SLOT_NAME=0000:01:00.0\n");
  const auto found = display_devices(RootFs(root_), kVendorNvidia);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device, 0x2684u);
  EXPECT_EQ(found[0].driver, "nvidia");
}

TEST_F(PciTest, PowerIsReadAndWhatIsNotManagedNeverSleeps) {
  const RootFs fs(root_);
  write("0000:01:00.0", "power/runtime_status", "suspended\n");
  write("0000:01:00.0", "power/control", "auto\n");
  write("0000:01:00.0", "power/autosuspend_delay_ms", "10000\n");
  const PciPower power = pci_power(fs, "0000:01:00.0");
  EXPECT_TRUE(is_asleep(power.status));
  EXPECT_TRUE(power.may_sleep);
  EXPECT_EQ(power.autosuspend_delay_ms, 10000);
  write("0000:01:00.0", "power/runtime_status", "resuming\n");
  EXPECT_TRUE(is_asleep(runtime_status(fs, "0000:01:00.0")));
  for (const char* status : {"active\n", "unsupported\n", "error\n", ""}) {
    write("0000:01:00.0", "power/runtime_status", status);
    EXPECT_FALSE(is_asleep(runtime_status(fs, "0000:01:00.0"))) << status;
  }
  EXPECT_FALSE(is_asleep(runtime_status(fs, "0000:02:00.0")));
  EXPECT_FALSE(pci_power(fs, "0000:02:00.0").may_sleep);
}

TEST_F(PciTest, AMachineWithoutABusHasNone) {
  EXPECT_TRUE(display_devices(RootFs(root_)).empty());
  EXPECT_EQ(pci_address(0x10000, 0x1, 0x1f, 7), "10000:01:1f.7");
}

class PciTree : public testing::Test {
 protected:
  PciTree() : root_(testing::TempDir() + "pci_tree." + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/sys/bus/pci/devices");
  }
  ~PciTree() override { std::filesystem::remove_all(root_); }
  // A device by its way down from the root complex, as the kernel links it.
  void add(const std::string& way, int node) {
    const std::string address = way.substr(way.rfind('/') + 1);
    const std::string folder = root_ + "/sys/devices/" + way;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/numa_node") << node << "\n";
    std::ofstream(folder + "/local_cpulist") << "0-31,64-95\n";
    std::filesystem::create_symlink("../../../devices/" + way,
                                    root_ + "/sys/bus/pci/devices/" + address);
  }
  void add_card(const std::string& kind, const std::string& name, const std::string& address) {
    const std::string folder = root_ + "/sys/class/" + kind + "/" + name;
    std::filesystem::create_directories(folder);
    if (!address.empty()) {
      std::filesystem::create_symlink("../../../" + address, folder + "/device");
    }
  }
  std::string root_;
};

TEST_F(PciTree, DistanceIsWhatLiesBetweenTwoDevices) {
  add("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:19:00.0", 0);
  add("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:1a:00.0", 0);
  add("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:1b:00.0/0000:1c:00.0/0000:1d:00.0",
      0);
  add("pci0000:15/0000:15:05.0/0000:20:00.0", 0);
  add("pci0000:30/0000:30:01.0/0000:31:00.0", 0);
  add("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
  add("pci0000:90/0000:90:01.0/0000:91:00.0", -1);
  const RootFs fs(root_);
  const std::string gpu = "0000:19:00.0";
  EXPECT_EQ(pci_distance(fs, gpu, "0000:1a:00.0"), PciDistance::kOneSwitch);
  EXPECT_EQ(pci_distance(fs, gpu, "0000:1d:00.0"), PciDistance::kSwitches);
  EXPECT_EQ(pci_distance(fs, gpu, "0000:20:00.0"), PciDistance::kHostBridge);
  EXPECT_EQ(pci_distance(fs, gpu, "0000:31:00.0"), PciDistance::kSameNode);
  EXPECT_EQ(pci_distance(fs, gpu, "0000:81:00.0"), PciDistance::kAcrossNodes);
  EXPECT_EQ(pci_distance(fs, gpu, "0000:91:00.0"), PciDistance::kUnknown);
  EXPECT_EQ(pci_distance(fs, gpu, "0000:ff:00.0"), PciDistance::kUnknown);
  EXPECT_EQ(pci_place(fs, gpu).numa_node, 0u);
  EXPECT_EQ(pci_place(fs, gpu).cpu_list, "0-31,64-95");
  EXPECT_EQ(pci_place(fs, "0000:91:00.0").numa_node, std::nullopt);
}

TEST_F(PciTree, NetworkCardsAreThoseOnTheBusEachOnce) {
  add_card("infiniband", "mlx5_0", "0000:1a:00.0");
  add_card("net", "ib0", "0000:1a:00.0");
  add_card("net", "eth0", "0000:20:00.0");
  add_card("net", "lo", "");
  add_card("net", "usb0", "1-1:1.0");
  const auto cards = network_cards(RootFs(root_));
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].name, "mlx5_0");
  EXPECT_EQ(cards[1].name, "eth0");
  EXPECT_EQ(cards[1].address, "0000:20:00.0");
}

}  // namespace
}  // namespace gpusight::platform
