#include "cli/selftest.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "cli/golden.h"
#include "cli/test_machine.h"
#include "cli/test_snapshots.h"

namespace gpusight::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Selftest : public test::CommandTest {
 protected:
  Selftest() : root_(testing::TempDir() + "gpusight.selftest." + std::to_string(::getpid())) {
    fs::create_directories(root_ + "/proc/self/ns");
    fs::create_symlink("pid:[4026531836]", root_ + "/proc/self/ns/pid");
    write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    machine_.paths.state_dir = root_ + "/var/lib/gpusight";
    hooks_.has_page = true;
    hooks_.probe_sources = [this] { return sources_; };
    sources_ = {{.name = "nvml",
                 .phase = model::SourcePhase::kAbsent,
                 .message = catalog::MessageId::kNvmlNothingOnBus},
                {.name = "host",
                 .phase = model::SourcePhase::kRunning,
                 .message = catalog::MessageId::kSourceRunning,
                 .arguments = {"0", "6.1"}}};
  }
  ~Selftest() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  void add_nvidia(bool with_driver) {
    const std::string device = "/sys/bus/pci/devices/0000:19:00.0";
    write(device + "/vendor", "0x10de\n");
    write(device + "/class", "0x030200\n");
    if (with_driver) {
      fs::create_symlink("../../../bus/pci/drivers/nvidia", root_ + device + "/driver");
    }
  }

  // Verdicts by check; runs the command with --json.
  json verdicts(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"selftest", "--json",   "--root",
                                      root_,      "--listen", "127.0.0.1:0"};
    for (std::string& word : more) words.push_back(std::move(word));
    code_ = run(words);
    json by_name;
    const json document = json::parse(out_);
    for (const json& check : document["checks"]) {
      by_name[check["check"].get<std::string>()] = check;
    }
    return by_name;
  }

  std::string root_;
  std::vector<model::SourceStatus> sources_;
  int code_ = -1;
};

TEST_F(Selftest, AMachineWithoutAGpuIsWarnedOfAndNotFailed) {
  const json checks = verdicts();
  EXPECT_EQ(code_, kExitOk);
  EXPECT_EQ(checks["pci"]["verdict"], "warn");
  EXPECT_EQ(checks["source.nvml"]["verdict"], "warn");
  EXPECT_EQ(checks["source.nvml"]["found"], "no NVIDIA device on the PCI bus");
  EXPECT_EQ(checks["clock"]["verdict"], "ok");
  EXPECT_EQ(checks["numbers"]["verdict"], "ok");
  EXPECT_EQ(checks["state_dir"]["verdict"], "ok");
  EXPECT_EQ(checks["simulator"]["verdict"], "warn");
  EXPECT_EQ(checks["process_names"]["verdict"], "ok");
}

// FAULT-125
TEST_F(Selftest, AGpuThatCannotBeReadFailsAndSaysWhatToDo) {
  add_nvidia(false);
  sources_[0].message = catalog::MessageId::kNvmlNoDriver;
  sources_[0].arguments = {"0000:19:00.0"};
  const json checks = verdicts();
  EXPECT_EQ(code_, kExitEnvironment);
  EXPECT_EQ(checks["pci"]["verdict"], "fail");
  EXPECT_EQ(checks["pci"]["found"], "0000:19:00.0 has no driver");
  EXPECT_EQ(checks["source.nvml"]["verdict"], "fail");
}

TEST_F(Selftest, DeviceFilesAreAskedForAndNotOpened) {
  add_nvidia(true);
  sources_[0].phase = model::SourcePhase::kRunning;
  write("/proc/driver/nvidia/version", "NVRM version: 580\n");
  EXPECT_EQ(verdicts()["device_files"]["found"],
            "the NVIDIA driver is loaded, but /dev/nvidiactl is not there");
  EXPECT_EQ(code_, kExitEnvironment);
  write("/dev/nvidiactl", "");
  write("/dev/nvidia0", "");
  write("/dev/nvidia-uvm", "");
  const json checks = verdicts();
  EXPECT_EQ(checks["device_files"]["verdict"], "ok");
  EXPECT_EQ(checks["device_files"]["found"], "/dev/nvidiactl, /dev/nvidia0 can be opened");
  EXPECT_EQ(code_, kExitOk);
}

// FAULT-062
TEST_F(Selftest, AContainerWithItsOwnProcessNumbersIsSaid) {
  fs::remove(root_ + "/proc/self/ns/pid");
  fs::create_symlink("pid:[4026532999]", root_ + "/proc/self/ns/pid");
  const json checks = verdicts();
  EXPECT_EQ(checks["process_names"]["verdict"], "warn");
  EXPECT_NE(checks["process_names"]["advice"].get<std::string>().find("--pid=host"),
            std::string::npos);
}

TEST_F(Selftest, ASlowClockIsWarnedOf) {
  write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  EXPECT_EQ(verdicts()["clock"]["verdict"], "warn");
}

TEST_F(Selftest, ATakenPortFailsUnlessItIsOurDaemons) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  json checks = verdicts({"--listen", "127.0.0.1:" + port});
  EXPECT_EQ(checks["listen"]["verdict"], "fail");
  EXPECT_EQ(code_, kExitEnvironment);
  daemon_.serve("/run/gpusight/gpusight.sock", test::one_gpu());
  checks = verdicts({"--listen", "127.0.0.1:" + port});
  EXPECT_EQ(checks["listen"]["verdict"], "ok");
  EXPECT_EQ(checks["daemon"]["found"], "answers at /run/gpusight/gpusight.sock");
}

TEST_F(Selftest, ABrokenDaemonFails) {
  daemon_.sockets["/run/gpusight/gpusight.sock"] =
      [](const auto&) -> Result<platform::HttpResponse> {
    return Status(Code::kUnavailable, "no answer in time");
  };
  const json checks = verdicts();
  EXPECT_EQ(checks["daemon"]["verdict"], "fail");
  EXPECT_EQ(checks["daemon"]["found"], "/run/gpusight/gpusight.sock: no answer in time");
}

// A home that cannot be written to costs the memory across restarts and nothing else.
TEST_F(Selftest, AStateDirectoryThatCannotBeMadeIsAWarning) {
  write("/file", "");
  const json checks = verdicts({"--state-dir", root_ + "/file/state"});
  EXPECT_EQ(checks["state_dir"]["verdict"], "warn");
  EXPECT_EQ(code_, kExitOk);
  machine_.paths.state_dir.clear();
  EXPECT_EQ(verdicts()["state_dir"]["verdict"], "warn");
}

TEST(SelftestText, LooksAsWhenItWasLastLookedAt) {
  const std::vector<Check> checks = {
      {"clock", "clock source", Verdict::kOk, "tsc", ""},
      {"pci", "GPUs on the PCI bus", Verdict::kOk, "0000:19:00.0 (nvidia), 0000:3b:00.0 (nvidia)",
       ""},
      {"device_files", "device files", Verdict::kFail, "/dev/nvidia0 cannot be opened by this user",
       "add the user to the group that owns it (often video or render), or give the container the "
       "device"},
      {"state_dir", "state directory", Verdict::kWarn,
       "/var/lib/gpusight cannot be written: Permission denied",
       "make it writable, or name another with --state-dir"}};
  test::expect_golden("selftest_80.txt", checks_text(checks, {.width = 80}));
  test::expect_golden("selftest_zh_60.txt",
                      checks_text(checks, {.lang = catalog::Lang::kChinese, .width = 60}));
}

}  // namespace
}  // namespace gpusight::cli
