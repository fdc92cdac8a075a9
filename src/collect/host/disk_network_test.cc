#include <gtest/gtest.h>

#include "collect/host/disk_reader.h"
#include "collect/host/host_test_tree.h"
#include "collect/host/network_reader.h"

namespace gpusight::collect::host {
namespace {

using enum catalog::MetricId;

class DiskReaderTest : public HostTest {
 protected:
  static std::string line(const std::string& numbers, const std::string& name) {
    return numbers + " " + name + " 1 1 8 1 1 1 16 1 0 500 1\n";
  }
};
using NetworkReaderTest = HostTest;

TEST_F(DiskReaderTest, SectorsAre512BytesAndPartitionsAreNoDisks) {
  write_machine();
  poll_fast();
  EXPECT_EQ(number(kHostDiskRead, "sda"), 2048 * 512);
  EXPECT_EQ(number(kHostDiskWritten, "sda"), 4096 * 512);
  EXPECT_EQ(number(kHostDiskBusy, "sda"), 1.234);
  EXPECT_EQ(count(kHostDiskRead), 1u);
}

TEST_F(DiskReaderTest, EachByteIsCountedAtOneDevice) {
  write("/proc/diskstats", line("7 0", "loop0") + line("1 0", "ram0") + line("253 0", "zram0") +
                               line("8 0", "sda") + line("253 1", "dm-0") + line("9 0", "md0") +
                               line("259 0", "nvme0n1") + line("259 1", "nvme0n1p1") +
                               line("259 2", "nvme0c0n1") + line("43 0", "nbd0") +
                               line("104 0", "cciss/c0d0"));
  for (const char* name : {"loop0", "ram0", "zram0", "sda", "dm-0", "md0", "nvme0n1", "nvme0c0n1",
                           "nbd0", "cciss!c0d0"}) {
    write(std::string("/sys/block/") + name + "/size", "100\n");
    std::filesystem::create_directories(at(std::string("/sys/block/") + name + "/slaves"));
  }
  write("/sys/block/dm-0/slaves/sda", "");
  write("/sys/block/md0/slaves/sda", "");
  write("/sys/block/nvme0c0n1/hidden", "1\n");
  write("/sys/block/nbd0/size", "0\n");
  poll_fast();
  EXPECT_EQ(count(kHostDiskRead), 3u);
  for (const char* name : {"sda", "nvme0n1", "cciss/c0d0"}) {
    EXPECT_EQ(number(kHostDiskRead, name), 8 * 512) << name;
    EXPECT_EQ(number(kHostDiskBusy, name), 0.5) << name;
  }
}

TEST_F(DiskReaderTest, DisksComeAndGoWhileWeRead) {
  write("/sys/block/sda/size", "1\n");
  write("/sys/block/sdb/size", "0\n");
  write("/proc/diskstats", line("8 0", "sda") + line("8 16", "sdb"));
  poll_fast();
  EXPECT_EQ(find(kHostDiskRead, "sdb"), nullptr) << "an empty reader";
  write("/sys/block/sdb/size", "9\n");
  clock_.advance(std::chrono::seconds(30));
  poll_fast();
  EXPECT_EQ(number(kHostDiskRead, "sdb"), 4096) << "a medium was put in";
  write("/sys/block/sdc/size", "9\n");
  write("/proc/diskstats", line("8 32", "sdc") + line("8 16", "sdb"));
  poll_again();
  EXPECT_EQ(find(kHostDiskRead, "sda"), nullptr);
  EXPECT_EQ(number(kHostDiskRead, "sdb"), 4096);
  EXPECT_EQ(number(kHostDiskRead, "sdc"), 4096);
}

TEST_F(DiskReaderTest, NoDiskIsNotSupportedOnce) {
  write("/proc/diskstats", "");
  poll_fast();
  EXPECT_EQ(reason(kHostDiskRead), "not_supported");
  EXPECT_EQ(count(kHostDiskBusy), 1u);
  write("/proc/diskstats", line("8 1", "sda1"));
  poll_fast();
  EXPECT_EQ(reason(kHostDiskRead), "not_supported");
}

TEST_F(DiskReaderTest, LinesOfGarbageAreLeftOut) {
  write("/sys/block/sda/size", "1\n");
  write("/proc/diskstats", "x y z\n8 0\n8 0 sdz 1 2 3\n" + line("8 0", "sda") + "8 16 sd");
  poll_fast();
  EXPECT_EQ(count(kHostDiskRead), 1u);
  EXPECT_EQ(number(kHostDiskRead, "sda"), 4096);
}

TEST_F(DiskReaderTest, DisksAreBounded) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "vd" + std::to_string(i);
    write("/sys/block/" + name + "/size", "1\n");
    text += line("254 " + std::to_string(i), name);
  }
  write("/proc/diskstats", text);
  poll_fast();
  EXPECT_EQ(count(kHostDiskRead), DiskReader::kMostDisks);
  EXPECT_EQ(number(kHostDiskRead, "vd0"), 4096);
}

TEST_F(NetworkReaderTest, AllInterfacesButLoopbackAndContainersEnds) {
  write_machine();
  poll_fast();
  EXPECT_EQ(number(kHostNetworkReceive, "eth0"), 1000);
  EXPECT_EQ(number(kHostNetworkTransmit, "eth0"), 2000);
  EXPECT_EQ(count(kHostNetworkReceive), 1u);
  write("/proc/net/dev",
        "a|b|c\na|b|c\nveth12: 1 0 0 0 0 0 0 0 1 0\nib0:5 0 0 0 0 0 0 0 6 0\n"
        " eth0:1: 7 0 0 0 0 0 0 0 8 0\n");
  poll_fast();
  EXPECT_EQ(count(kHostNetworkReceive), 2u);
  EXPECT_EQ(number(kHostNetworkReceive, "ib0"), 5) << "old kernels put no blank behind the colon";
  EXPECT_EQ(number(kHostNetworkTransmit, "eth0:1"), 8);
}

TEST_F(NetworkReaderTest, AMachineWithLoopbackAloneHasNoNetwork) {
  write("/proc/net/dev", "a|b\na|b\nlo: 1 0 0 0 0 0 0 0 1 0\n");
  poll_fast();
  EXPECT_EQ(reason(kHostNetworkReceive), "not_supported");
  EXPECT_EQ(reason(kHostNetworkTransmit), "not_supported");
}

// FAULT-130
TEST_F(NetworkReaderTest, NamesAreCleaned) {
  write("/proc/net/dev", "\x1b[31m\xff: 1 0 0 0 0 0 0 0 2 0\n<b>: 3 0 0 0 0 0 0 0 4 0\n");
  poll_fast();
  EXPECT_EQ(number(kHostNetworkReceive, "[31m\xEF\xBF\xBD"), 1);
  EXPECT_EQ(number(kHostNetworkReceive, "<b>"), 3) << "escaping is each output's business";
}

TEST_F(NetworkReaderTest, InterfacesAreBoundedTheFirstStay) {
  std::string text = "a|b\na|b\n";
  for (int i = 0; i < 500; ++i) text += "cali" + std::to_string(i) + ": 1 0 0 0 0 0 0 0 2 0\n";
  write("/proc/net/dev", text);
  poll_fast();
  EXPECT_EQ(count(kHostNetworkReceive), NetworkReader::kMostInterfaces);
  EXPECT_EQ(number(kHostNetworkReceive, "cali0"), 1);
  EXPECT_EQ(find(kHostNetworkReceive, "cali64"), nullptr);
}

}  // namespace
}  // namespace gpusight::collect::host
