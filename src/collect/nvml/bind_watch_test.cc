// Devices that are taken from their driver while the library is open.
#include "collect/nvml/bind_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using model::DeviceState;
using model::SourcePhase;
using std::chrono::seconds;

constexpr Activity kClosed{.is_open = false, .idle_for = {}};

class NvmlUnbinding : public TestMachine {
 protected:
  static constexpr const char* kFirst = "0000:19:00.0";
  static constexpr const char* kSecond = "0000:1a:00.0";
  static constexpr Activity kOpened{.is_open = true, .idle_for = {}};

  void SetUp() override {
    fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x1a});
    for (const char* address : {kFirst, kSecond}) add_to_bus(address, "nvidia", "active", "on");
    open();
    ASSERT_EQ(opened_.generation->devices().size(), 2u);
  }
  std::string link(const char* address) const {
    return root_ + "/sys/bus/pci/devices/" + address + "/driver";
  }
  // As the kernel begins: the link goes first, then it waits for who has the device open.
  void unbind(const char* address) { std::filesystem::remove(link(address)); }
  void bind(const char* address, const std::string& driver) {
    std::filesystem::create_symlink("../../../bus/pci/drivers/" + driver, link(address));
  }
  std::map<std::string, DeviceState> untouched() {
    std::map<std::string, DeviceState> states;
    for (const auto& [device, state] : source().untouched()) states[device.uuid] = state;
    return states;
  }
};

// FAULT-101
TEST_F(NvmlUnbinding, ADeviceThatIsTakenFromItsDriverIsLetGoOfAtOnce) {
  EXPECT_EQ(source().watch(kOpened), Wish::kStay);
  unbind(kFirst);
  EXPECT_EQ(source().watch(kOpened), Wish::kLetGo);
  opened_.generation.reset();
  EXPECT_EQ(fake_.sessions, 0);
  const std::map<std::string, DeviceState> both{{"GPU-0", DeviceState::kReleased},
                                                {"GPU-1", DeviceState::kReleased}};
  EXPECT_EQ(untouched(), both);
  const int calls = fake_.total();
  clock_.advance(seconds(9));
  EXPECT_EQ(source().watch(kClosed), Wish::kStay);
  EXPECT_EQ(fake_.total(), calls);
}

// FAULT-101
TEST_F(NvmlUnbinding, TheOthersAreReadAgainAndTheOneThatIsGoneIsNotMissed) {
  unbind(kFirst);
  EXPECT_EQ(source().watch(kOpened), Wish::kLetGo);
  opened_.generation.reset();
  bind(kFirst, "vfio-pci");
  clock_.advance(seconds(10));
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
  open();
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
  ASSERT_EQ(opened_.generation->devices().size(), 1u);
  EXPECT_EQ(opened_.generation->devices()[0].uuid, "GPU-1");
  EXPECT_EQ(fake_.calls("nvmlDeviceGetHandleByIndex_v2"), 2);  // of the first opening
  EXPECT_EQ(untouched(), (std::map<std::string, DeviceState>{{"GPU-0", DeviceState::kReleased}}));
  EXPECT_EQ(source().watch(kOpened), Wish::kStay);
  // Given back.
  unbind(kFirst);
  bind(kFirst, "nvidia");
  EXPECT_EQ(source().watch(kOpened), Wish::kOpen);
  open();
  EXPECT_EQ(opened_.generation->devices().size(), 2u);
  EXPECT_TRUE(untouched().empty());
}

// FAULT-101
TEST_F(NvmlUnbinding, ADriverThatTakesItsDeviceBackSoonIsFollowedSoon) {
  unbind(kFirst);
  EXPECT_EQ(source().watch(kOpened), Wish::kLetGo);
  opened_.generation.reset();
  bind(kFirst, "nvidia");  // a reset, or a rebinding
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
}

// FAULT-101
TEST_F(NvmlUnbinding, WithoutADeviceTheDriverIsLeftAloneForItsModuleToGo) {
  unbind(kFirst);
  unbind(kSecond);
  EXPECT_EQ(source().watch(kOpened), Wish::kLetGo);
  opened_.generation.reset();
  const int calls = fake_.total();
  for (int i = 0; i < 300; ++i) {
    clock_.advance(seconds(1));
    EXPECT_EQ(source().watch(kClosed), Wish::kStay);
  }
  EXPECT_EQ(fake_.total(), calls);
  bind(kFirst, "nvidia");
  bind(kSecond, "nvidia");
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
}

TEST_F(NvmlUnbinding, WhereTheBusCannotBeSeenNothingIsTakenForUnbound) {
  source_.reset();
  std::filesystem::remove_all(root_ + "/sys");
  open();
  EXPECT_EQ(source().watch(kOpened), Wish::kStay);
  EXPECT_NE(opened_.generation, nullptr);
}

}  // namespace
}  // namespace gpusight::collect::nvml
