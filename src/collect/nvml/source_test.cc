// Opening, sleeping and saying why nothing is seen, on files and a fake library.
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "collect/nvml/descriptor_limit.h"
#include "collect/nvml/nvml_source.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MessageId;
using model::DeviceState;
using model::SourcePhase;
using std::chrono::seconds;

constexpr Activity kOpenAndBusy{.is_open = true};
constexpr Activity kClosed{};

class NvmlOpening : public TestMachine {
 protected:
  void expect_absent(MessageId message, const std::vector<std::string>& arguments = {}) {
    EXPECT_EQ(status().phase, SourcePhase::kAbsent);
    EXPECT_EQ(catalog::message(status().message).key, catalog::message(message).key);
    EXPECT_EQ(status().arguments, arguments);
    EXPECT_EQ(opened_.generation, nullptr);
    EXPECT_EQ(fake_.sessions, 0);
  }
  void library_is_missing() {
    nvml_path_.clear();
    load_ = [] { return Problem{MessageId::kNvmlLibraryMissing, {"the usual folders"}}; };
  }
};

// FAULT-072
TEST_F(NvmlOpening, WithoutALibraryTheBusSaysWhatIsWrong) {
  library_is_missing();
  open();
  expect_absent(MessageId::kNvmlNothingOnBus);
  add_to_bus("0000:19:00.0", "");
  open();
  expect_absent(MessageId::kNvmlNoDriver, {"0000:19:00.0"});
  add_to_bus("0000:3b:00.0", "nouveau");
  open();
  expect_absent(MessageId::kNvmlOtherDriver, {"0000:3b:00.0", "nouveau"});
  add_to_bus("0000:5d:00.0", "nvidia");
  open();
  expect_absent(MessageId::kNvmlLibraryMissing, {"the usual folders"});
}

TEST_F(NvmlOpening, WhereTheBusIsHiddenAndTheDriverIsNotTheLibraryIsWhatIsMissing) {
  library_is_missing();
  write(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\n");
  open();
  expect_absent(MessageId::kNvmlLibraryMissing, {"the usual folders"});
}

TEST_F(NvmlOpening, AnEmptyBusIsNoObstacleToALibraryThatWorks) {
  open();
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
  EXPECT_EQ(opened_.generation->devices().size(), 1u);
}

// FAULT-043
TEST_F(NvmlOpening, AnUpgradedDriverIsNamedWithBothVersions) {
  write("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build\n");
  fake_.driver = "550.107.02";
  fake_.forced["nvmlInit_v2"] = Return::kVersionMismatch;
  open();
  expect_absent(MessageId::kNvmlVersionMismatch, {"550.90.07", "550.107.02"});
  fake_.forced["nvmlSystemGetNVMLVersion"] = Return::kUninitialized;
  fake_.path = "/usr/lib/libnvidia-ml.so.550.107.03";
  open();
  expect_absent(MessageId::kNvmlVersionMismatch, {"550.90.07", "550.107.03"});
  // The module is loaded anew: noticed, and the library is loaded afresh.
  write("/proc/driver/nvidia/version", "NVRM version: Kernel Module  550.107.03  Release Build\n");
  clock_.advance(seconds(64));
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
  fake_.forced.clear();
  const int loads = fake_.loads;
  open();
  EXPECT_EQ(fake_.loads, loads + 1);
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
}

// FAULT-073
TEST_F(NvmlOpening, AccessTakenFromAContainerIsToldFromAnUnknownError) {
  fake_.forced["nvmlInit_v2"] = Return::kUnknown;
  environment_.device_files.open_error = [this](const std::string& path) {
    EXPECT_EQ(path, root_ + "/dev/nvidiactl");
    return EPERM;
  };
  open();
  expect_absent(MessageId::kNvmlAccessRevoked);
  source_.reset();
  environment_.device_files.open_error = [](const std::string&) { return ENOENT; };
  open();
  expect_absent(MessageId::kNvmlInitFailed, {"unknown error of the driver (999)"});
}

TEST_F(NvmlOpening, WhichDeviceFileIsClosedToUsIsSaid) {
  write("/dev/nvidiactl", "");
  write("/dev/nvidia0", "");
  write("/dev/nvidia-uvm", "");
  ::chmod((root_ + "/dev/nvidia0").c_str(), 0600);
  environment_.device_files.may_open = [](const std::string& path) {
    return !path.ends_with("/nvidia0");
  };
  const std::string node = "/dev/nvidia0 (owner " + std::to_string(::getuid()) + ", group " +
                           std::to_string(::getgid()) + ", mode 0600)";
  for (const Return code : {Return::kNoPermission, Return::kOperatingSystem}) {
    fake_.forced["nvmlInit_v2"] = code;
    open();
    expect_absent(MessageId::kNvmlNoPermission, {node});
  }
  fake_.forced = {{"nvmlDeviceGetHandleByIndex_v2", Return::kNoPermission}};
  open();
  expect_absent(MessageId::kNvmlNoPermission, {node});
}

TEST_F(NvmlOpening, EveryOtherWayOfNotStartingIsToldApart) {
  fake_.forced["nvmlInit_v2"] = Return::kDriverNotLoaded;
  open();
  expect_absent(MessageId::kNvmlNothingOnBus);
  add_to_bus("0000:19:00.0", "vfio-pci");
  open();
  expect_absent(MessageId::kNvmlOtherDriver, {"0000:19:00.0", "vfio-pci"});
  fake_.forced["nvmlInit_v2"] = Return::kGpuNotFound;
  open();
  expect_absent(MessageId::kNvmlNoDevices);
  fake_.forced["nvmlInit_v2"] = Return::kLibraryNotFound;
  open();
  expect_absent(MessageId::kNvmlStubLibrary, {fake_.path});
  fake_.forced["nvmlInit_v2"] = Return::kInsufficientPower;
  open();
  expect_absent(MessageId::kNvmlInitFailed, {"power cable not connected (8)"});
  fake_.forced.clear();
  fake_.gpus.clear();
  open();
  expect_absent(MessageId::kNvmlNoDevices);
}

TEST_F(NvmlOpening, ASimulatedLibraryIsMarked) {
  fake_.simulated = true;
  open();
  EXPECT_TRUE(status().simulated);
  EXPECT_EQ(status().message, MessageId::kSourceSimulated);
}

// FAULT-038
TEST_F(NvmlOpening, ALostGpuIsListedUnderItsKnownNameAndTheOthersGoOn) {
  for (unsigned i = 1; i < 4; ++i) {
    fake_.gpus.push_back({.uuid = "GPU-" + std::to_string(i), .bus = 0x19 + i});
  }
  for (const FakeGpu& gpu : fake_.gpus) add_to_bus(gpu.pci(), "nvidia", "active", "on");
  open();
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
  fake_.gpus[2].lost = true;
  EXPECT_EQ(fast(2), Verdict::kDeviceLost);
  open();
  EXPECT_EQ(status().phase, SourcePhase::kDegraded);
  EXPECT_EQ(status().arguments, (std::vector<std::string>{"3", "4", "10"}));
  EXPECT_EQ(opened_.generation->devices().size(), 3u);
  ASSERT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(opened_.untouched[0].second, DeviceState::kLost);
  EXPECT_EQ(opened_.untouched[0].first.uuid, "GPU-2");
  EXPECT_EQ(opened_.untouched[0].first.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(fast(3), Verdict::kGood);
  EXPECT_EQ(source().watch(kOpenAndBusy), Wish::kStay);
  clock_.advance(seconds(11));
  EXPECT_EQ(source().watch(kOpenAndBusy), Wish::kOpen);
  fake_.gpus[2].lost = false;
  open();
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
  EXPECT_TRUE(source().untouched().empty());
}

TEST_F(NvmlOpening, AGpuThatWasLostFromTheStartGoesByItsAddress) {
  fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
  for (const FakeGpu& gpu : fake_.gpus) add_to_bus(gpu.pci());
  fake_.gpus[0].lost = true;
  open();
  ASSERT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(opened_.untouched[0].first.uuid, "PCI-0000:19:00.0");
  EXPECT_EQ(opened_.untouched[0].first.index, 0u);
}

TEST_F(NvmlOpening, AGpuThatIsSilentForAnotherReasonIsShownAsLostToo) {
  fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
  for (const FakeGpu& gpu : fake_.gpus) add_to_bus(gpu.pci());
  open();
  fake_.forced_on[{"nvmlDeviceGetHandleByIndex_v2", 1}] = Return::kResetRequired;
  open();
  EXPECT_EQ(status().phase, SourcePhase::kDegraded);
  ASSERT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(opened_.untouched[0].first.uuid, "GPU-1");
  fake_.forced_on[{"nvmlDeviceGetHandleByIndex_v2", 0}] = Return::kResetRequired;
  open();
  expect_absent(MessageId::kNvmlInitFailed, {"GPU needs a reset (16)"});
}

TEST_F(NvmlOpening, AllLostIsNotNone) {
  fake_.gpus[0].lost = true;
  add_to_bus("0000:19:00.0");
  open();
  EXPECT_EQ(status().phase, SourcePhase::kDegraded);
  EXPECT_EQ(opened_.generation, nullptr);
  EXPECT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(fake_.sessions, 0);
  clock_.advance(seconds(11));
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
}

// FAULT-052
TEST_F(NvmlOpening, TheWorkGrowsWithTheDevicesAndNoFasterAndTheirNumberHasABound) {
  const auto calls_of = [&](size_t devices) {
    fake_.gpus.assign(devices, FakeGpu{});
    for (size_t i = 0; i < devices; ++i) {
      fake_.gpus[i].uuid = "GPU-" + std::to_string(i);
      fake_.gpus[i].bus = static_cast<unsigned>(i);
    }
    const int before = fake_.total();
    open();
    return fake_.total() - before;
  };
  const int calls_of_one = calls_of(1);
  for (const size_t devices : {8u, 64u, 200u}) {
    const int calls = calls_of(devices);
    EXPECT_EQ(opened_.generation->devices().size(), devices);
    EXPECT_EQ(std::ranges::count_if(
                  opened_.generation->lanes(),
                  [](const auto& lane) { return lane->info().cadence == LaneCadence::kFast; }),
              static_cast<long>(devices));
    // Pairs are asked about on a small machine only.
    EXPECT_LE(calls, static_cast<int>(devices) * (calls_of_one + 16)) << devices;
  }
}

// FAULT-085
TEST(DescriptorLimit, IsLoweredWhenItIsHugeAndLeftAloneOtherwise) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(lower_descriptor_limit(before.rlim_cur), std::nullopt);
  EXPECT_EQ(lower_descriptor_limit(before.rlim_cur - 1), before.rlim_cur);
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur - 1);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(NvmlOpening, ADriverThatAppearsIsNoticedByLookingLessAndLessOften) {
  library_is_missing();
  add_to_bus("0000:19:00.0", "");
  open();
  int looks = 0;
  for (int i = 0; i < 300; ++i) {
    clock_.advance(seconds(1));
    looks += source().watch(kClosed) == Wish::kOpen ? 1 : 0;
  }
  EXPECT_EQ(looks, 0);
  std::filesystem::create_symlink("../../../bus/pci/drivers/nvidia",
                                  root_ + "/sys/bus/pci/devices/0000:19:00.0/driver");
  int waited = 0;
  while (source().watch(kClosed) != Wish::kOpen && waited < 100) {
    clock_.advance(seconds(1));
    ++waited;
  }
  EXPECT_LE(waited, 60);
}

class NvmlSleep : public TestMachine {
 protected:
  static constexpr const char* kAddress = "0000:19:00.0";
  static constexpr Activity idle(int idle_seconds) {
    return {.is_open = true, .idle_for = seconds(idle_seconds)};
  }
};

// FAULT-079
TEST_F(NvmlSleep, NothingOfTheLibraryIsTouchedWhileEveryDeviceSleeps) {
  add_to_bus(kAddress, "nvidia", "suspended");
  open();
  EXPECT_EQ(status().phase, SourcePhase::kAsleep);
  EXPECT_EQ(status().message, MessageId::kNvmlAllAsleep);
  ASSERT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(opened_.untouched[0].first.uuid, "PCI-0000:19:00.0");
  EXPECT_EQ(opened_.untouched[0].second, DeviceState::kAsleep);
  for (int i = 0; i < 100; ++i) {
    clock_.advance(seconds(1));
    EXPECT_EQ(source().watch(kClosed), Wish::kStay);
  }
  EXPECT_EQ(fake_.total(), 0);
  EXPECT_EQ(fake_.loads, 0);
  set_status(kAddress, "resuming");
  EXPECT_EQ(source().watch(kClosed), Wish::kStay);
  set_status(kAddress, "active");
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
  open();
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
}

// FAULT-079
TEST_F(NvmlSleep, AnIdleDeviceIsLetGoAndLeftAloneUntilItHasSlept) {
  add_to_bus(kAddress);
  open();
  EXPECT_EQ(source().watch(idle(10)), Wish::kStay);
  EXPECT_EQ(source().watch(idle(12)), Wish::kClose);
  opened_.generation.reset();
  EXPECT_EQ(fake_.sessions, 0);
  const auto untouched = source().untouched();
  ASSERT_EQ(untouched.size(), 1u);
  EXPECT_EQ(untouched[0].first.uuid, "GPU-0");
  EXPECT_EQ(untouched[0].first.name, "NVIDIA H100 80GB HBM3");
  const int calls = fake_.total();
  clock_.advance(seconds(5));
  EXPECT_EQ(source().watch(kClosed), Wish::kStay);  // still active: on its way
  set_status(kAddress, "suspended");
  clock_.advance(seconds(120));
  EXPECT_EQ(source().watch(kClosed), Wish::kStay);
  // Opened by mistake, it is still known by its name.
  open();
  EXPECT_EQ(opened_.untouched[0].first.uuid, "GPU-0");
  EXPECT_EQ(fake_.total(), calls);
  set_status(kAddress, "active");
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
}

TEST_F(NvmlSleep, AReleasedDeviceThatDoesNotSleepIsLookedAtAgainAfterAMinute) {
  add_to_bus(kAddress);
  open();
  EXPECT_EQ(source().watch(idle(12)), Wish::kClose);
  opened_.generation.reset();
  clock_.advance(seconds(59));
  EXPECT_EQ(source().watch(kClosed), Wish::kStay);
  clock_.advance(seconds(1));
  EXPECT_EQ(source().watch(kClosed), Wish::kOpen);
}

TEST_F(NvmlSleep, DevicesThatMayNotSleepAreKept) {
  add_to_bus(kAddress, "nvidia", "active", "on");
  open();
  EXPECT_EQ(source().watch(idle(100'000)), Wish::kStay);
  // One that may does not help while another may not.
  fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
  add_to_bus("0000:3b:00.0");
  open();
  EXPECT_EQ(source().watch(idle(100'000)), Wish::kStay);
}

TEST_F(NvmlSleep, ANegativeDelayAndAnUnmanagedDeviceAreKept) {
  add_to_bus(kAddress);
  write("/sys/bus/pci/devices/0000:19:00.0/power/autosuspend_delay_ms", "-1\n");
  open();
  EXPECT_EQ(source().watch(idle(100'000)), Wish::kStay);
  write("/sys/bus/pci/devices/0000:19:00.0/power/autosuspend_delay_ms", "5000\n");
  set_status(kAddress, "unsupported");
  EXPECT_EQ(source().watch(idle(100'000)), Wish::kStay);
  set_status(kAddress, "active");
  EXPECT_EQ(source().watch(idle(7)), Wish::kClose);
}

// FAULT-079
TEST_F(NvmlSleep, BesideASleeperOnlyTheAwakeOnesAreAskedByAddress) {
  fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
  add_to_bus(kAddress, "nvidia", "active", "on");
  add_to_bus("0000:3b:00.0", "nvidia", "suspended");
  open();
  EXPECT_EQ(status().phase, SourcePhase::kRunning);
  ASSERT_EQ(opened_.generation->devices().size(), 1u);
  EXPECT_EQ(opened_.generation->devices()[0].uuid, "GPU-0");
  EXPECT_EQ(opened_.generation->devices()[0].index, 0u);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetHandleByIndex_v2"), 0);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetHandleByPciBusId_v2"), 1);
  ASSERT_EQ(opened_.untouched.size(), 1u);
  EXPECT_EQ(opened_.untouched[0].first.uuid, "PCI-0000:3b:00.0");
  EXPECT_EQ(source().watch(kOpenAndBusy), Wish::kStay);
  set_status("0000:3b:00.0", "active");
  EXPECT_EQ(source().watch(kOpenAndBusy), Wish::kOpen);
  open();
  EXPECT_EQ(opened_.generation->devices().size(), 2u);
}

TEST_F(NvmlSleep, ASleeperOfAnotherDriverIsNotOurs) {
  add_to_bus(kAddress, "vfio-pci", "suspended");
  fake_.forced["nvmlInit_v2"] = Return::kDriverNotLoaded;
  open();
  EXPECT_EQ(status().message, MessageId::kNvmlOtherDriver);
}

// The real search, with files in place of libraries.
// FAULT-080
TEST_F(NvmlSleep, WhoHasAnAwakeDeviceOpenIsToldWhereItCouldSleep) {
  add_to_bus(kAddress);
  std::filesystem::create_directories(root_ + "/sys/bus/pci/devices/0000:19:00.0/drm/card1");
  for (const char* pid : {"1", "700", "800", "900"}) {
    write("/proc/" + std::string(pid) + "/stat",
          std::string(pid) + " (prog" + pid +
              ") S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n");
    std::filesystem::create_directories(root_ + "/proc/" + pid + "/fd");
  }
  std::filesystem::create_symlink("/dev/dri/card1", root_ + "/proc/700/fd/5");
  std::filesystem::create_symlink("/dev/dri/card0", root_ + "/proc/800/fd/5");
  open();
  slow();
  ASSERT_TRUE(subject("GPU-0")->holders.has_value());
  const model::Holders& holders = *subject("GPU-0")->holders;
  ASSERT_EQ(holders.processes.size(), 1u);
  EXPECT_EQ(holders.processes[0].pid, 700);
  EXPECT_EQ(holders.processes[0].owner.command, "prog700");
  EXPECT_FALSE(holders.is_partial);
  // Looked at once a minute.
  std::filesystem::create_symlink("/dev/dri/card1", root_ + "/proc/900/fd/1");
  clock_.advance(seconds(10));
  slow();
  EXPECT_EQ(subject("GPU-0")->holders->processes.size(), 1u);
  clock_.advance(seconds(50));
  slow();
  EXPECT_EQ(subject("GPU-0")->holders->processes.size(), 2u);
  write("/sys/bus/pci/devices/0000:19:00.0/power/control", "on\n");
  slow();
  EXPECT_FALSE(subject("GPU-0")->holders.has_value());
}

class NvmlSearch : public TestMachine {
 protected:
  SourceOptions options(const std::string& named = {}) {
    return {.clock = &clock_, .root = platform::RootFs(root_), .nvml_path = named};
  }
  MessageId message(const SourceOptions& given) {
    const Loaded loaded = load_library(given);
    const Problem* problem = std::get_if<Problem>(&loaded);
    return problem == nullptr ? MessageId::kNone : problem->message;
  }
};

// FAULT-071
TEST_F(NvmlSearch, TheKnownPlacesAreLookedAtAndTheLoudestFailureIsSaid) {
  EXPECT_EQ(message(options()), MessageId::kNvmlLibraryMissing);
  write("/usr/lib/wsl/lib/libnvidia-ml.so.1", "no library at all");
  EXPECT_EQ(message(options()), MessageId::kNvmlLibraryUnusable);
  // Never by the name without a version.
  std::filesystem::remove(root_ + "/usr/lib/wsl/lib/libnvidia-ml.so.1");
  write("/usr/lib/wsl/lib/libnvidia-ml.so", "no library at all");
  EXPECT_EQ(message(options()), MessageId::kNvmlLibraryMissing);
}

// FAULT-071
TEST_F(NvmlSearch, EveryPlaceWhereDriversPutTheLibraryIsLookedAt) {
  for (const std::string& place : known_places(platform::RootFs(root_))) {
    SCOPED_TRACE(place);
    write(place.substr(root_.size()), "no library at all");
    EXPECT_EQ(message(options()), MessageId::kNvmlLibraryUnusable);
    std::filesystem::remove(place);
    EXPECT_EQ(message(options()), MessageId::kNvmlLibraryMissing);
  }
}

TEST_F(NvmlSearch, ANamedLibraryIsTheOnlyOneLookedAt) {
  write("/usr/lib/wsl/lib/libnvidia-ml.so.1", "no library at all");
  EXPECT_EQ(message(options(root_ + "/nowhere.so")), MessageId::kNvmlLibraryMissing);
  write("/cuda/lib64/stubs/libnvidia-ml.so", "anything");
  ::chmod((root_ + "/cuda/lib64/stubs/libnvidia-ml.so").c_str(), 0644);
  EXPECT_EQ(message(options(root_ + "/cuda/lib64/stubs/libnvidia-ml.so")),
            MessageId::kNvmlStubLibrary);
}

// FAULT-134
TEST_F(NvmlSearch, AsRootALibraryThatOthersCanWriteIsRefused) {
  write("/opt/libnvidia-ml.so.1", "anything");
  ::chmod((root_ + "/opt/libnvidia-ml.so.1").c_str(), 0666);
  EXPECT_EQ(message(options(root_ + "/opt/libnvidia-ml.so.1")),
            ::geteuid() == 0 ? MessageId::kNvmlLibraryUntrusted : MessageId::kNvmlLibraryUnusable);
}

TEST_F(NvmlSearch, ALibraryThatIsSomethingElseIsUnusable) {
  const auto other = platform::DynamicLibrary::open("libm.so.6");
  ASSERT_TRUE(other.ok());
  const Loaded loaded = load_library(options(other->path()));
  const Problem* problem = std::get_if<Problem>(&loaded);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->message, MessageId::kNvmlLibraryUnusable);
  EXPECT_EQ(problem->arguments[1], "it has no nvmlInit_v2");
}

}  // namespace
}  // namespace gpusight::collect::nvml
