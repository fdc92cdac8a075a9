#include "collect/amdgpu/amdgpu_source.h"

#include <algorithm>

#include "collect/amdgpu/amd_test_tree.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MessageId;
using catalog::MetricId;
using model::DeviceState;
using model::SourcePhase;
using std::chrono::seconds;

class AmdSource : public AmdTest {
 protected:
  Wish watch() {
    opened_files_.clear();
    return source_->watch({.is_open = generation_ != nullptr});
  }
  void set_status(int card, const std::string& text) {
    write(folder(card) + "/power/runtime_status", text + "\n");
  }
  // Files of this device that the kernel may have to wake it for.
  std::vector<std::string> touched(int card) const {
    std::vector<std::string> files;
    const std::string own = folder(card) + "/";
    for (const std::string& path : opened_files_) {
      if (!path.starts_with(own)) continue;
      const std::string file = path.substr(own.size());
      if (file != "uevent" && !file.starts_with("power/")) files.push_back(file);
    }
    return files;
  }
};

TEST_F(AmdSource, SaysThatThereIsNone) {
  open();
  EXPECT_EQ(result_.status.phase, SourcePhase::kAbsent);
  EXPECT_EQ(result_.status.message, MessageId::kAmdgpuNone);
  EXPECT_EQ(generation_, nullptr);
  EXPECT_EQ(watch(), Wish::kStay);
  add_board();
  EXPECT_EQ(watch(), Wish::kOpen) << "one was plugged in";
}

TEST_F(AmdSource, SaysWhoHoldsAnAmdGpuThatItCannotRead) {
  write(folder(0) + "/uevent", "DRIVER=radeon\nPCI_ID=1002:6818\nPCI_SLOT_NAME=0000:01:00.0\n");
  open();
  EXPECT_EQ(result_.status.message, MessageId::kAmdgpuOtherDriver);
  EXPECT_EQ(result_.status.arguments, (std::vector<std::string>{"0000:01:00.0", "radeon"}));
  remove("/sys/class/drm");
  write("/sys/bus/pci/devices/0000:05:00.0/class", "0x030000\n");
  write("/sys/bus/pci/devices/0000:05:00.0/vendor", "0x1002\n");
  open();
  EXPECT_EQ(result_.status.message, MessageId::kAmdgpuNoDriver);
  EXPECT_EQ(result_.status.arguments, std::vector<std::string>{"0000:05:00.0"});
}

TEST_F(AmdSource, KnowsWhoADeviceIs) {
  add_board();
  write("/usr/share/libdrm/amdgpu.ids", "744C,\tC8,\tAMD Radeon RX 7900 XTX\n");
  open();
  ASSERT_EQ(generation_->devices().size(), 1u);
  const model::Device& device = generation_->devices()[0];
  EXPECT_EQ(device.uuid, "GPU-00c0ffee00000000");
  EXPECT_EQ(device.vendor, "amd");
  EXPECT_EQ(device.name, "AMD Radeon RX 7900 XTX");
  EXPECT_EQ(device.pci, "0000:03:00.0");
  EXPECT_EQ(device.serial, "fedcba");
  EXPECT_EQ(device.vbios, "113-D70401XT");
  EXPECT_EQ(*model::find_fact(device, "render_node"), "renderD128");
  EXPECT_EQ(*model::find_fact(device, "memory_kind"), "dedicated");
  EXPECT_EQ(result_.status.phase, SourcePhase::kRunning);
}

// FAULT-037
TEST_F(AmdSource, WithoutANumberOfItsOwnADeviceIsItsPlaceOnTheBus) {
  add_board(0);
  add_board(1);
  add_board(2);
  write(folder(0) + "/unique_id", "\n");
  write(folder(1) + "/unique_id", "0000000000000001\n");
  write(folder(2) + "/unique_id", "0000000000000001\n");
  open();
  ASSERT_EQ(generation_->devices().size(), 3u);
  EXPECT_EQ(generation_->devices()[0].uuid, "PCI-0000:03:00.0");
  EXPECT_EQ(generation_->devices()[1].uuid, "GPU-0000000000000001");
  EXPECT_EQ(generation_->devices()[2].uuid, "PCI-0000:05:00.0") << "one number for two boards";
}

TEST_F(AmdSource, PartitionsThatHangOnNoBusAreNoDevices) {
  add_board(0);
  write("/sys/class/drm/card9/device/uevent", "DRIVER=amdgpu_xcp_drv\nMODALIAS=platform:x\n");
  write("/sys/class/drm/card10/device/uevent", "DRIVER=amdgpu\n");
  open();
  EXPECT_EQ(generation_->devices().size(), 1u);
}

// FAULT-079, FAULT-087
TEST_F(AmdSource, ASleepingDeviceIsListedAndNothingOfItIsRead) {
  add_board(0);
  add_board(1);
  set_status(1, "suspended");
  open();
  EXPECT_EQ(touched(1), std::vector<std::string>{});
  ASSERT_EQ(generation_->devices().size(), 1u);
  ASSERT_EQ(result_.untouched.size(), 1u);
  EXPECT_EQ(result_.untouched[0].first.pci, "0000:04:00.0");
  EXPECT_EQ(result_.untouched[0].second, DeviceState::kAsleep);
  EXPECT_EQ(watch(), Wish::kStay);
  EXPECT_EQ(touched(1), std::vector<std::string>{});
  EXPECT_EQ(touched(0), std::vector<std::string>{}) << "looking for changes touches nothing";
  // It is opened once somebody else woke it.
  set_status(1, "active");
  EXPECT_EQ(watch(), Wish::kOpen);
  open();
  EXPECT_EQ(generation_->devices().size(), 2u);
}

// FAULT-079, FAULT-087
TEST_F(AmdSource, ADeviceThatFallsAsleepIsNotReadAgain) {
  add_board();
  open();
  for (const std::string status : {"suspending", "suspended", "resuming"}) {
    set_status(0, status);
    for (const size_t lane : {0, 1}) {
      EXPECT_EQ(poll(lane), Verdict::kGood);
      EXPECT_EQ(opened_files_, std::vector<std::string>{folder(0) + "/power/runtime_status"});
      EXPECT_EQ(report_->subjects()[0].state, DeviceState::kAsleep);
      EXPECT_TRUE(report_->samples().empty());
    }
  }
  EXPECT_EQ(watch(), Wish::kOpen);
  open();
  EXPECT_EQ(generation_, nullptr);
  EXPECT_EQ(result_.status.phase, SourcePhase::kAsleep);
  EXPECT_EQ(result_.status.message, MessageId::kAmdgpuAllAsleep);
  // It is still known who it is.
  ASSERT_EQ(source_->untouched().size(), 1u);
  EXPECT_EQ(source_->untouched()[0].first.uuid, "GPU-00c0ffee00000000");
}

// FAULT-087
TEST_F(AmdSource, ARefusalOfADeviceThatJustFellAsleepIsSleep) {
  add_board();
  open();
  poll(0);
  fs_.intercept_for_testing({});
  // The driver refuses while the status says suspended, but not yet at the first look.
  int looks = 0;
  platform::RootFs fs(root_);
  fs.intercept_for_testing([&](std::string_view path) -> std::optional<Result<std::string>> {
    if (path.ends_with("runtime_status")) return std::string(looks++ == 0 ? "active" : "suspended");
    if (path.ends_with("temp1_input")) return Status(Code::kPermissionDenied, "refused");
    return std::nullopt;
  });
  source_ = create_amdgpu_source({.clock = &clock_, .root = fs, .number = 2});
  open();
  looks = 0;
  poll(0);
  EXPECT_EQ(report_->subjects()[0].state, DeviceState::kAsleep);
}

// FAULT-079
TEST_F(AmdSource, AnIdleDeviceIsLetGoOfSoThatItCanSleep) {
  add_board();
  write(folder(0) + "/power/control", "auto\n");
  write(folder(0) + "/gpu_busy_percent", "0\n");
  open();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(watch(), Wish::kStay) << i;
    poll(0);
    clock_.advance(seconds(1));
  }
  clock_.advance(seconds(1));
  EXPECT_EQ(watch(), Wish::kOpen) << "idle for longer than the kernel waits for";
  open();
  EXPECT_EQ(generation_, nullptr);
  EXPECT_EQ(touched(0), std::vector<std::string>{});
  clock_.advance(seconds(5));
  set_status(0, "suspended");
  EXPECT_EQ(watch(), Wish::kStay);
  clock_.advance(seconds(3600));
  EXPECT_EQ(watch(), Wish::kStay) << "for as long as it sleeps";
  set_status(0, "active");
  EXPECT_EQ(watch(), Wish::kOpen);
  open();
  EXPECT_NE(generation_, nullptr);
}

TEST_F(AmdSource, ADeviceThatOthersKeepAwakeIsReadAgainAndSeldomLetGoOf) {
  add_board();
  write(folder(0) + "/power/control", "auto\n");
  write(folder(0) + "/gpu_busy_percent", "0\n");
  open();
  clock_.advance(seconds(7));
  ASSERT_EQ(watch(), Wish::kOpen);
  open();
  ASSERT_EQ(generation_, nullptr);
  clock_.advance(seconds(11));
  EXPECT_EQ(watch(), Wish::kStay);
  clock_.advance(seconds(1));
  EXPECT_EQ(watch(), Wish::kOpen);
  open();
  ASSERT_NE(generation_, nullptr);
  clock_.advance(seconds(590));
  EXPECT_EQ(watch(), Wish::kStay) << "ten minutes without another attempt";
  clock_.advance(seconds(11));
  EXPECT_EQ(watch(), Wish::kOpen);
}

TEST_F(AmdSource, ADeviceAtWorkOrWithAScreenOrThatNeverSleepsIsKept) {
  add_board();
  open();
  clock_.advance(seconds(60));
  EXPECT_EQ(watch(), Wish::kStay) << "control says on";
  write(folder(0) + "/power/control", "auto\n");
  for (int i = 0; i < 30; ++i) {
    poll(0);
    clock_.advance(seconds(1));
    EXPECT_EQ(watch(), Wish::kStay) << "at work";
  }
  write("/sys/class/drm/card0-DP-1/enabled", "enabled\n");
  write(folder(0) + "/gpu_busy_percent", "0\n");
  open();
  clock_.advance(seconds(60));
  EXPECT_EQ(watch(), Wish::kStay) << "a screen";
}

// FAULT-038
TEST_F(AmdSource, ADeviceThatIsGoneIsLostAndTheOthersGoOn) {
  add_board(0);
  add_board(1);
  open();
  remove("/sys/class/drm/card0");
  EXPECT_EQ(poll(0), Verdict::kDeviceLost);
  EXPECT_EQ(report_->subjects()[0].state, DeviceState::kLost);
  EXPECT_EQ(poll(2), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.65);
  EXPECT_EQ(watch(), Wish::kOpen);
  open();
  EXPECT_EQ(generation_->devices().size(), 1u);
}

// FAULT-037
TEST_F(AmdSource, ANodeThatChangedItsNumberIsOpenedAgain) {
  add_board(0);
  open();
  std::filesystem::rename(root_ + "/sys/class/drm/card0", root_ + "/sys/class/drm/card3");
  EXPECT_EQ(watch(), Wish::kOpen);
  open();
  EXPECT_EQ(poll(0), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.65);
}

}  // namespace
}  // namespace gpusight::collect::amdgpu
