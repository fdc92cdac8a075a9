#include "platform/drm.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "platform/pci_names.h"

namespace gpusight::platform {
namespace {

namespace fs = std::filesystem;

class DrmTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void link(const std::string& path, const std::string& target) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    fs::create_symlink(target, root_ + path);
  }
  // A card as kernels show it: its files in /sys/devices, links from the class and the bus.
  void add_card(const std::string& way, const std::string& card, const std::string& uevent) {
    const std::string folder = "/sys/devices/" + way;
    const std::string address = way.substr(way.rfind('/') + 1);
    write(folder + "/uevent", uevent);
    write(folder + "/drm/" + card + "/dev", "226:0\n");
    link(folder + "/drm/" + card + "/device", "../../../" + address);
    link("/sys/class/drm/" + card, "../../devices/" + way + "/drm/" + card);
    link("/sys/bus/pci/devices/" + address, "../../../devices/" + way);
  }
  RootFs root() const { return RootFs(root_); }

  std::string root_ = testing::TempDir() + "drm." + std::to_string(::getpid());
};

constexpr const char* kUevent =
    "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:150E\nPCI_SUBSYS_ID=17AA:3801\n"
    "PCI_SLOT_NAME=0000:C1:00.0\n";

TEST_F(DrmTest, ReadsWhoItIsFromTheUeventFileOfACopiedTree) {
  write("/sys/class/drm/card1/device/uevent", kUevent);
  write("/sys/class/drm/card1/device/drm/card1/dev", "226:1\n");
  write("/sys/class/drm/card1/device/drm/renderD129/dev", "226:129\n");
  write("/sys/class/drm/version", "drm 1.1.0 20060810\n");
  const auto found = drm_devices(root());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], (DrmDevice{.node = "card1",
                                 .render_node = "renderD129",
                                 .folder = "/sys/class/drm/card1/device",
                                 .driver = "amdgpu",
                                 .address = "0000:c1:00.0",
                                 .class_code = 0x38000,
                                 .vendor = 0x1002,
                                 .device = 0x150e,
                                 .subsystem_vendor = 0x17aa,
                                 .subsystem_device = 0x3801}));
}

// FAULT-037
TEST_F(DrmTest, FindsFilesByTheAddressWhereTheKernelShowsIt) {
  add_card("pci0000:00/0000:00:03.1/0000:0b:00.0", "card12",
           "DRIVER=xe\nPCI_SLOT_NAME=0000:0b:00.0\n");
  link("/sys/class/drm/card12-DP-1", "../../devices/pci0000:00/0000:00:03.1/0000:0b:00.0/drm");
  const auto found = drm_devices(root());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].folder, "/sys/bus/pci/devices/0000:0b:00.0");
}

TEST_F(DrmTest, ListsADeviceOnceHoweverManyNodesItHas) {
  write("/sys/class/drm/card0/device/uevent", kUevent);
  write("/sys/class/drm/renderD128/device/uevent", kUevent);
  write("/sys/class/drm/card2/device/uevent", "DRIVER=panthor\nOF_COMPATIBLE_0=arm,mali-g610\n");
  write("/sys/class/drm/renderD129/device/uevent", "DRIVER=panthor\n");
  write("/sys/class/accel/accel0/device/uevent",
        "DRIVER=amdxdna\nPCI_CLASS=118000\nPCI_SLOT_NAME=0000:c2:00.1\n");
  const auto found = drm_devices(root());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].compatible, "arm,mali-g610");
  EXPECT_EQ(found[1].address, "");
  EXPECT_EQ(found[2].node, "accel0");
}

// FAULT-047
TEST_F(DrmTest, BadUeventFilesGiveNoAddressThatLeadsAstray) {
  write("/sys/class/drm/card0/device/uevent",
        "DRIVER=\x1b[2Jamdgpu\nPCI_SLOT_NAME=../../../etc\nPCI_ID=zz\nPCI_CLASS\n=\n");
  write("/sys/class/drm/card1/device/uevent", "");
  fs::create_directories(root_ + "/sys/class/drm/card2/device/uevent");
  const auto found = drm_devices(root());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].address, "");
  EXPECT_EQ(found[0].vendor, 0u);
  EXPECT_EQ(found[1].driver, "");
}

TEST_F(DrmTest, AScreenIsSeenOnTheConnectorsOfTheCard) {
  const DrmDevice card{.node = "card1"};
  write("/sys/class/drm/card1-DP-1/enabled", "disabled\n");
  write("/sys/class/drm/card10-DP-1/enabled", "enabled\n");
  EXPECT_FALSE(drives_a_screen(root(), card));
  write("/sys/class/drm/card1-HDMI-A-1/enabled", "enabled\n");
  EXPECT_TRUE(drives_a_screen(root(), card));
}

// FAULT-037
TEST_F(DrmTest, SensorsAreFoundByLabelWhateverTheirNumbers) {
  write("/d/hwmon/hwmon3/name", "other\n");
  write("/d/hwmon/hwmon12/name", "amdgpu\n");
  write("/d/hwmon/hwmon12/temp3_input", "1000\n");
  write("/d/hwmon/hwmon12/temp3_label", "edge\n");
  write("/d/hwmon/hwmon12/temp1_label", "ghost\n");
  write("/d/hwmon/hwmon12/temp1_crit", "100000\n");
  const auto chip = find_hwmon(root(), "/d", "amdgpu");
  ASSERT_EQ(chip, "/d/hwmon/hwmon12");
  const auto sensors = hwmon_sensors(root(), *chip, "temp");
  ASSERT_EQ(sensors.size(), 1u);
  EXPECT_EQ(sensors[0].label, "edge");
  EXPECT_EQ(sensors[0].path, "/d/hwmon/hwmon12/temp3");
  EXPECT_EQ(find_hwmon(root(), "/d", "xe"), std::nullopt);
}

TEST_F(DrmTest, TheSlotIsAboveTheTopmostBridgeOfTheBoard) {
  const std::string way = "pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:00.0";
  add_card(way, "card0", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
  const std::string top = "/sys/devices/pci0000:00/0000:00:01.1";
  write(top + "/class", "0x060400\n");
  write(top + "/vendor", "0x1022\n");  // the processor's root port
  write(top + "/0000:01:00.0/class", "0x060400\n");
  write(top + "/0000:01:00.0/vendor", "0x1002\n");
  write(top + "/0000:01:00.0/0000:02:00.0/class", "0x060400\n");
  write(top + "/0000:01:00.0/0000:02:00.0/vendor", "0x1002\n");
  const auto found = drm_devices(root());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(slot_link_folder(root(), found[0].folder, 0x1002), top + "/0000:01:00.0");
  EXPECT_EQ(slot_link_folder(root(), found[0].folder, 0x8086), found[0].folder);
  EXPECT_EQ(slot_link_folder(root(), "/nowhere", 0x1002), "/nowhere");
}

TEST(PcieGeneration, IsThatOfTheSpeed) {
  EXPECT_EQ(pcie_generation("2.5 GT/s PCIe"), 1u);
  EXPECT_EQ(pcie_generation("16.0 GT/s PCIe"), 4u);
  EXPECT_EQ(pcie_generation("64.0 GT/s"), 6u);
  EXPECT_EQ(pcie_generation("Unknown"), std::nullopt);
  EXPECT_EQ(pcie_generation(""), std::nullopt);
}

constexpr std::string_view kAmdgpuList =
    "# List of AMDGPU IDs\n\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n"
    "744C,\tCC,\tAMD Radeon RX 7900 XT\n15BF,\t00,\tAMD Radeon 780M\n15BF,\tC1,\tAMD Radeon 780M\n"
    "broken,line\n744C\n";

TEST(AmdgpuIds, NamesAreKeyedByDeviceAndRevision) {
  EXPECT_EQ(amdgpu_ids_name(kAmdgpuList, {.device = 0x744c, .revision = 0xcc}),
            "AMD Radeon RX 7900 XT");
  EXPECT_EQ(amdgpu_ids_name(kAmdgpuList, {.device = 0x744c, .revision = 0x01}), "");
  EXPECT_EQ(amdgpu_ids_name(kAmdgpuList, {.device = 0x744c}), "") << "two names: neither is known";
  EXPECT_EQ(amdgpu_ids_name(kAmdgpuList, {.device = 0x15bf}), "AMD Radeon 780M");
  EXPECT_EQ(amdgpu_ids_name("", {.device = 0x15bf}), "");
}

constexpr std::string_view kPciList =
    "# comment\n1001  Someone\n\t744c  Not this\n1002  Advanced Micro Devices, Inc. [AMD/ATI]\n"
    "\t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]\n\t\t1002 0e3b  Reference Board\n"
    "\t7550  Navi 48\n\t\t1002 0e3b  Not this\n8086  Intel Corporation\n\t744c  Not this\n";

TEST(PciIdsList, PrefersTheBoardThenTheNameInBrackets) {
  PciIds ids{.vendor = 0x1002, .device = 0x744c};
  EXPECT_EQ(pci_ids_name(kPciList, ids), "Radeon RX 7900 XT/7900 XTX");
  ids.subsystem_vendor = 0x1002;
  ids.subsystem_device = 0x0e3b;
  EXPECT_EQ(pci_ids_name(kPciList, ids), "Reference Board");
  ids.device = 0x7550;
  ids.subsystem_device = 1;
  EXPECT_EQ(pci_ids_name(kPciList, ids), "Navi 48");
  ids.device = 0x1234;
  EXPECT_EQ(pci_ids_name(kPciList, ids), "");
  EXPECT_EQ(pci_ids_name("1002  A\n\t7550  []\n", {.vendor = 0x1002, .device = 0x7550}), "[]");
}

TEST_F(DrmTest, AGpuAlwaysHasAName) {
  const PciIds ids{.vendor = 0x1002, .device = 0x744c, .revision = 0xc8};
  EXPECT_EQ(gpu_name(root(), ids), "AMD 1002:744c");
  write("/usr/share/misc/pci.ids", std::string(kPciList));
  EXPECT_EQ(gpu_name(root(), ids), "AMD Radeon RX 7900 XT/7900 XTX");
  write("/usr/share/libdrm/amdgpu.ids", std::string(kAmdgpuList));
  EXPECT_EQ(gpu_name(root(), ids), "AMD Radeon RX 7900 XTX");
  EXPECT_EQ(gpu_name(root(), {.vendor = 0x5353, .device = 1}), "GPU 5353:0001");
}

}  // namespace
}  // namespace gpusight::platform
