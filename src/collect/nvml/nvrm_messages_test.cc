// The kernel module's messages, and how they meet the driver's events.
#include "collect/nvml/nvrm_messages.h"

#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;

// FAULT-013
TEST(NvrmParser, ReadsXidsOfDriversOfAllAges) {
  NvrmParser parser;
  auto message =
      parser.parse("NVRM: Xid (PCI:0000:9b:00): 31, pid=4711, name=python3.10, Ch 00000008, MMU");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->pci, "0000:9b:00.0");
  EXPECT_EQ(message->code, 31);
  EXPECT_EQ(message->pid, 4711);
  EXPECT_EQ(message->process, "python3.10");
  EXPECT_EQ(message->text, "Ch 00000008, MMU");
  message = parser.parse(
      "NVRM: Xid (PCI:0000:19:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->code, 63);
  EXPECT_EQ(message->pid, std::nullopt);
  EXPECT_EQ(message->process, "");
  EXPECT_EQ(message->text, "Row Remapper: New row");
  message = parser.parse("NVRM: Xid (0000:03:00): 79, GPU has fallen off the bus.");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->pci, "0000:03:00.0");
  EXPECT_EQ(message->code, 79);
  EXPECT_EQ(parser.parse("NVRM: Xid (PCI:0000:9b:00): 62")->code, 62);
}

TEST(NvrmParser, ReadsAGpuOffTheBusThatHasNoNumber) {
  NvrmParser parser;
  EXPECT_FALSE(parser.parse("NVRM: The NVIDIA GPU 0000:b3:00.0"));
  EXPECT_FALSE(parser.parse("NVRM: (PCI ID: 10de:2330) installed in this system has"));
  const auto message = parser.parse("NVRM: fallen off the bus and is not responding to commands.");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->pci, "0000:b3:00.0");
  EXPECT_EQ(message->code, 79);
  EXPECT_FALSE(parser.parse("NVRM: fallen off the bus and is not responding to commands."));
}

TEST(NvrmParser, ReadsErrorsOfSwitches) {
  NvrmParser parser;
  const auto message = parser.parse(
      "nvidia-nvswitch3: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 46 egress packet error");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, NvrmMessage::Kind::kNvswitch);
  EXPECT_EQ(message->pci, "0000:84:00.0");
  EXPECT_EQ(message->code, 12028);
}

TEST(NvrmParser, LeavesEverythingElseAlone) {
  NvrmParser parser;
  for (const char* line :
       {"", "NVRM: ", "NVRM: GPU at PCI:0000:9b:00: GPU-34d822ca",
        "usb 1-1: Xid (PCI:0000:9b:00): 5", "NVRM: Xid (PCI:zz:9b:00): 31, x",
        "NVRM: Xid (PCI:0000:9b:00): many, x", "NVRM: Xid (", "NVRM: Xid (PCI:0000:9b:00)",
        "NVRM: Xid (PCI:0000:9b:00): -5, x", "NVRM: Xid (PCI:0000:9b:00): 4294967295, x",
        "nvidia-nvswitch3: SXid (PCI:0000:84): 1, x"}) {
    EXPECT_FALSE(parser.parse(line)) << line;
  }
}

// FAULT-012
TEST(XidMerge, TheSameErrorByTwoWaysIsOneAndTwiceByOneWayIsTwo) {
  XidMerge merge;
  const MonoTime now(std::chrono::hours(1));
  const auto soon = now + std::chrono::milliseconds(300);
  using enum XidWay;
  EXPECT_TRUE(merge.is_news("GPU-0", 94, kNumber, now));
  EXPECT_TRUE(merge.is_news("GPU-0", 94, kNumber, now));
  EXPECT_FALSE(merge.is_news("GPU-0", 94, kDriver, soon));
  EXPECT_FALSE(merge.is_news("GPU-0", 94, kDriver, soon));
  EXPECT_TRUE(merge.is_news("GPU-0", 94, kDriver, soon));
  EXPECT_TRUE(merge.is_news("GPU-1", 94, kNumber, soon));
  EXPECT_TRUE(merge.is_news("GPU-0", 31, kNumber, soon));
  EXPECT_TRUE(merge.is_news("GPU-0", 31, kDriver, soon + std::chrono::seconds(6)));
}

// FAULT-012
TEST(XidMerge, HearingOfItByThreeWaysIsStillOne) {
  using enum XidWay;
  const MonoTime now(std::chrono::hours(1));
  XidMerge merge;
  EXPECT_TRUE(merge.is_news("GPU-0", 79, kWords, now));
  EXPECT_FALSE(merge.is_news("GPU-0", 79, kDriver, now));
  EXPECT_FALSE(merge.is_news("GPU-0", 79, kNumber, now));
  EXPECT_TRUE(merge.is_news("GPU-0", 79, kNumber, now));
}

class NvmlKernelLog : public TestMachine {
 protected:
  NvmlKernelLog() { write("/dev/kmsg", "3,1,1,-;NVRM: Xid (PCI:0000:19:00): 13, long ago\n"); }
  void log(const std::string& text) {
    std::ofstream(root_ + "/dev/kmsg", std::ios::app)
        << "3," << ++sequence_ << ",5,-;" << text << "\n";
  }
  int sequence_ = 1;
};

// FAULT-013
TEST_F(NvmlKernelLog, XidsThatTheDriverDoesNotDeliverAreEvents) {
  open();
  log("NVRM: Xid (PCI:0000:19:00): 119, pid=4711, name=nvidia-smi, Timeout after 6s");
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 1u);
  const model::Event& event = report_->events()[0];
  EXPECT_EQ(event.kind, EventKind::kXid);
  EXPECT_EQ(event.uuid, "GPU-0");
  EXPECT_EQ(event.code, 119);
  EXPECT_EQ(event.arguments, (std::vector<std::string>{"119", "gsp rpc timeout"}));
  EXPECT_EQ(event.fields[1], (std::pair<std::string, std::string>{"pid", "4711"}));
  poll("nvml/events");
  EXPECT_TRUE(report_->events().empty());
}

// FAULT-012
TEST_F(NvmlKernelLog, AGpuOffTheBusIsToldOnceHoweverTheModuleSaysIt) {
  open();
  log("NVRM: Xid (PCI:0000:19:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
      "bus.");
  log("NVRM: The NVIDIA GPU 0000:19:00.0");
  log("NVRM: (PCI ID: 10de:2330) installed in this system has");
  log("NVRM: fallen off the bus and is not responding to commands.");
  fake_.events = {{gpu_handle(0), kEventXid, 79, kNotAMigInstance, kNotAMigInstance}};
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].code, 79);
}

TEST_F(NvmlKernelLog, LinesThatWereOverwrittenUnreadAreAnEvent) {
  open();
  log("NVRM: Xid (PCI:0000:19:00): 31, pid=4711, name=python, Ch 00000008");
  sequence_ += 250;
  log("NVRM: Xid (PCI:0000:19:00): 31, pid=4711, name=python, Ch 00000008");
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 3u);
  const model::Event& event = report_->events()[2];
  EXPECT_EQ(event.kind, EventKind::kEventsLeftOut);
  EXPECT_EQ(event.arguments, (std::vector<std::string>{"250", "kernel_log"}));
  poll("nvml/events");
  EXPECT_TRUE(report_->events().empty());
}

// FAULT-013
TEST_F(NvmlKernelLog, WhatBothTellIsToldOnce) {
  open();
  log("NVRM: Xid (PCI:0000:19:00): 31, pid=4711, name=python, Ch 00000008");
  fake_.events = {{gpu_handle(0), kEventXid, 31, kNotAMigInstance, kNotAMigInstance}};
  poll("nvml/events");
  EXPECT_EQ(report_->events().size(), 1u);
  // The next one comes by the driver first.
  fake_.events = {{gpu_handle(0), kEventXid, 31, kNotAMigInstance, kNotAMigInstance}};
  poll("nvml/events");
  EXPECT_EQ(report_->events().size(), 1u);
  log("NVRM: Xid (PCI:0000:19:00): 31, pid=4711, name=python, Ch 00000008");
  poll("nvml/events");
  EXPECT_TRUE(report_->events().empty());
}

TEST_F(NvmlKernelLog, StandsInWhereTheDriverHasNoEvents) {
  fake_.registering[kEventXid] = Return::kNotSupported;
  open();
  ASSERT_NE(find_lane("nvml/events"), nullptr);
  log("NVRM: Xid (PCI:0000:19:00): 79, GPU has fallen off the bus.");
  log("nvidia-nvswitch0: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 46");
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 2u);
  EXPECT_EQ(report_->events()[0].code, 79);
  EXPECT_EQ(report_->events()[1].kind, EventKind::kNvswitchError);
  EXPECT_EQ(report_->events()[1].uuid, "");
  fast();
  EXPECT_EQ(value(catalog::MetricId::kGpuXidErrors), nullptr);  // they can be counted
}

TEST_F(NvmlKernelLog, ErrorsWhileTheDriverWasAwayAreNotLost) {
  open();
  opened_.generation.reset();
  log("NVRM: Xid (PCI:0000:19:00): 79, GPU has fallen off the bus.");
  open();
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].uuid, "GPU-0");
}

}  // namespace
}  // namespace gpusight::collect::nvml
