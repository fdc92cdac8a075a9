#include "platform/kernel_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class KernelLogTest : public testing::Test {
 protected:
  KernelLogTest() : root_(testing::TempDir() + "kmsg." + std::to_string(::getpid())) {
    std::filesystem::create_directories(root_ + "/dev");
  }
  ~KernelLogTest() override { std::filesystem::remove_all(root_); }
  void append(const std::string& text) {
    std::ofstream(root_ + "/dev/kmsg", std::ios::app) << text;
  }
  std::string root_;
};

TEST(KernelMessages, AreHeadAndText) {
  const auto message = parse_kernel_message("3,812,98765,-;NVRM: Xid (PCI:0000:9b:00): 79; gone");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sequence, 812u);
  EXPECT_EQ(message->at, std::chrono::microseconds(98765));
  EXPECT_EQ(message->text, "NVRM: Xid (PCI:0000:9b:00): 79; gone");
  for (const char* none : {"", " SUBSYSTEM=pci", "text", "3,x,5,-;text", "3,5;text", ";",
                           "3,1,-2,-;t", "3,1,99999999999999999999,-;t"}) {
    EXPECT_FALSE(parse_kernel_message(none)) << none;
  }
}

TEST_F(KernelLogTest, BeginsWithWhatComesAfterOpening) {
  append("6,1,1,-;old\n");
  auto log = KernelLog::open(RootFs(root_));
  ASSERT_TRUE(log.ok()) << log.status().message();
  EXPECT_TRUE(log->read(10).empty());
  append("6,2,2,-;new\n DEVICE=+pci:0000:9b:00.0\n6,3,3,-;half a");
  auto messages = log->read(10);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].text, "new");
  append(" line\n");
  messages = log->read(10);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].text, "half a line");
}

TEST_F(KernelLogTest, GivesNoMoreThanAskedForAndTheRestNextTime) {
  append("");
  auto log = KernelLog::open(RootFs(root_));
  ASSERT_TRUE(log.ok());
  for (int i = 0; i < 25; ++i) append("6," + std::to_string(i) + ",1,-;line\n");
  EXPECT_EQ(log->read(10).size(), 10u);
  EXPECT_EQ(log->read(100).size(), 15u);
}

TEST_F(KernelLogTest, GapsInTheNumbersAreMessagesThatWereLost) {
  append("");
  auto log = KernelLog::open(RootFs(root_));
  ASSERT_TRUE(log.ok());
  append("6,900,1,-;first\n6,901,1,-;second\n");
  EXPECT_EQ(log->read(10).size(), 2u);
  EXPECT_EQ(log->lost(), 0u);
  append("6,1000,1,-;after the kernel's buffer was full\n6,1001,1,-;next\n6,1003,1,-;last\n");
  EXPECT_EQ(log->read(10).size(), 3u);
  EXPECT_EQ(log->lost(), 99u);
}

TEST_F(KernelLogTest, GarbageDoesNotHoldItUp) {
  append("");
  auto log = KernelLog::open(RootFs(root_));
  ASSERT_TRUE(log.ok());
  append(std::string(1000, '\n') + "6,2,2,-;good\n");
  for (int i = 0; i < 60; ++i) {
    if (!log->read(10).empty()) return;
  }
  FAIL() << "the good line was never found";
}

TEST_F(KernelLogTest, WithoutTheFileItSaysSo) {
  EXPECT_EQ(KernelLog::open(RootFs(root_)).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace gpusight::platform
