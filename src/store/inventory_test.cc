#include "store/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpusight::store {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const WallTime kNow{milliseconds(1'767'225'600'000)};

model::Device gpu(std::string uuid) {
  return {.uuid = std::move(uuid), .vendor = "nvidia", .name = "NVIDIA H100 80GB HBM3"};
}

std::vector<std::string> uuids(const Inventory& inventory) {
  std::vector<std::string> uuids;
  for (const Known& known : inventory.known()) uuids.push_back(known.device.uuid);
  return uuids;
}

class InventoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gpusight_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ / "inventory.json";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Inventory load(WallTime now = kNow) const { return Inventory::load(path_.string(), now); }
  void write(std::string_view text) const { std::ofstream(path_) << text; }
  std::string content(const std::filesystem::path& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  // A file that was there and is of no use is kept aside, and a new one can be written.
  void expect_set_aside(std::string_view text, Code code, std::string_view says) {
    write(text);
    Inventory inventory = load();
    EXPECT_THAT(inventory.known(), IsEmpty());
    EXPECT_EQ(inventory.load_status().code(), code);
    EXPECT_THAT(inventory.load_status().message(), HasSubstr(std::string(says)));
    EXPECT_THAT(files(), ElementsAre("inventory.json.bad"));
    EXPECT_EQ(content(path_.string() + ".bad"), text);
    inventory.seen(gpu("GPU-a"), kNow);
    EXPECT_TRUE(inventory.save().ok());
    EXPECT_TRUE(load().load_status().ok());
    std::filesystem::remove(path_);
  }

  std::filesystem::path directory_;
  std::filesystem::path path_;
};

TEST_F(InventoryTest, IsEmptyWhereThereIsNoFileAndWritesNoneUnasked) {
  const Inventory inventory = load();
  EXPECT_TRUE(inventory.load_status().ok());
  EXPECT_THAT(inventory.known(), IsEmpty());
  EXPECT_FALSE(inventory.needs_save());
  EXPECT_THAT(files(), IsEmpty());
}

// FAULT-039
TEST_F(InventoryTest, KnownDevicesSurviveARestartInWhichOneOfThemIsMissing) {
  Inventory before = load();
  for (const char* uuid : {"GPU-a", "GPU-b", "GPU-c", "GPU-d"}) before.seen(gpu(uuid), kNow);
  ASSERT_TRUE(before.save().ok());

  // The machine comes up again without GPU-c: four are expected, three are there.
  Inventory after = load(kNow + hours(1));
  for (const char* uuid : {"GPU-a", "GPU-b", "GPU-d"}) after.seen(gpu(uuid), kNow + hours(1));
  EXPECT_THAT(uuids(after), ElementsAre("GPU-a", "GPU-b", "GPU-c", "GPU-d"));
  EXPECT_EQ(after.known()[2].last_seen, kNow);
  EXPECT_EQ(after.known()[2].device.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(after.known()[3].last_seen, kNow + hours(1));
}

TEST_F(InventoryTest, EveryFactOfADeviceComesBack) {
  const model::Device full{.uuid = "MIG-a",
                           .kind = model::DeviceKind::kMig,
                           .vendor = "nvidia",
                           .name = "MIG 1g.10gb \"é\\",
                           .driver = "580.105.08",
                           .pci = "0000:19:00.0",
                           .serial = "1650123",
                           .vbios = "96.00.74.00.01",
                           .index = 0,
                           .cuda_index = 7,
                           .minor = 4294967295,
                           .parent = "GPU-a",
                           .gpu_instance = 9,
                           .compute_instance = 0,
                           .profile = "1g.10gb"};
  Inventory before = load();
  before.seen(full, kNow + std::chrono::nanoseconds(999'999));
  ASSERT_TRUE(before.save().ok());
  EXPECT_THAT(load().known(), ElementsAre(Known{full, kNow}));
}

TEST_F(InventoryTest, TheFileIsItsOwnersOnlyAndNothingElseIsLeftBehind) {
  Inventory inventory = load();
  inventory.seen(gpu("GPU-a"), kNow);
  const mode_t before = ::umask(0);
  const Status saved = inventory.save();
  ::umask(before);
  ASSERT_TRUE(saved.ok()) << saved.message();
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_TRUE(inventory.save().ok());
  EXPECT_THAT(files(), ElementsAre("inventory.json"));
}

TEST_F(InventoryTest, AsksToBeSavedWhenFactsChangeAndHourlyForTimesOfSight) {
  Inventory inventory = load();
  inventory.seen(gpu("GPU-a"), kNow);
  EXPECT_TRUE(inventory.needs_save());
  ASSERT_TRUE(inventory.save().ok());
  EXPECT_FALSE(inventory.needs_save());
  inventory.seen(gpu("GPU-a"), kNow + minutes(59));
  EXPECT_FALSE(inventory.needs_save());
  EXPECT_EQ(inventory.known()[0].last_seen, kNow + minutes(59));
  inventory.seen(gpu("GPU-a"), kNow + minutes(60));
  EXPECT_TRUE(inventory.needs_save());
  ASSERT_TRUE(inventory.save().ok());
  model::Device updated = gpu("GPU-a");
  updated.driver = "590.1";
  inventory.seen(updated, kNow + minutes(61));
  EXPECT_TRUE(inventory.needs_save());
}

// FAULT-015
TEST_F(InventoryTest, ForgetsMigDevicesThatTheirGpuNoLongerHas) {
  const auto device = [](const model::Device& facts, model::DeviceState state) {
    return model::DeviceSnapshot{.device = std::make_shared<const model::Device>(facts),
                                 .state = state};
  };
  using enum model::DeviceState;
  model::Device mig = gpu("MIG-1");
  mig.kind = model::DeviceKind::kMig;
  mig.parent = "GPU-a";
  Inventory inventory = load();
  inventory.note({.wall = kNow,
                  .devices = {device(gpu("GPU-a"), kActive), device(mig, kActive),
                              device(gpu("PCI-0000:01:00.0"), kAsleep)}});
  EXPECT_THAT(uuids(inventory), ElementsAre("GPU-a", "MIG-1"));
  inventory.note({.wall = kNow, .devices = {device(gpu("GPU-a"), kLost), device(mig, kLost)}});
  inventory.note({.wall = kNow});  // nothing was looked for yet
  EXPECT_THAT(uuids(inventory), ElementsAre("GPU-a", "MIG-1"));
  ASSERT_TRUE(inventory.save().ok());
  inventory.note({.wall = kNow, .devices = {device(gpu("GPU-a"), kActive)}});
  EXPECT_THAT(uuids(inventory), ElementsAre("GPU-a"));
  EXPECT_TRUE(inventory.needs_save());
}

TEST_F(InventoryTest, ADeviceWithoutIdentityIsNotRemembered) {
  Inventory inventory = load();
  inventory.seen({}, kNow);
  EXPECT_FALSE(inventory.needs_save());
  EXPECT_THAT(inventory.known(), IsEmpty());
}

TEST_F(InventoryTest, DevicesNotSeenForNinetyDaysAreDropped) {
  Inventory inventory = load();
  inventory.seen(gpu("GPU-old"), kNow);
  inventory.seen(gpu("GPU-new"), kNow + hours(24));
  ASSERT_TRUE(inventory.save().ok());
  EXPECT_THAT(uuids(load(kNow + hours(24 * 90))), ElementsAre("GPU-new", "GPU-old"));
  const Inventory later = load(kNow + hours(24 * 90) + minutes(1));
  EXPECT_THAT(uuids(later), ElementsAre("GPU-new"));
  EXPECT_TRUE(later.needs_save());
  inventory.seen(gpu("GPU-new"), kNow + hours(24 * 90) + minutes(1));
  EXPECT_THAT(uuids(inventory), ElementsAre("GPU-new"));
}

TEST_F(InventoryTest, AClockThatStartsIn1970DropsNothing) {
  Inventory inventory = load();
  inventory.seen(gpu("GPU-a"), kNow);
  ASSERT_TRUE(inventory.save().ok());
  EXPECT_THAT(uuids(load(WallTime{})), ElementsAre("GPU-a"));
}

TEST_F(InventoryTest, IsBoundedAndKeepsThoseSeenLast) {
  Inventory inventory = load();
  for (int i = 0; i < 1030; ++i) inventory.seen(gpu(std::to_string(i)), kNow + milliseconds(i));
  EXPECT_EQ(inventory.known().size(), kMaxKnownDevices);
  EXPECT_EQ(inventory.crowded_out(), 6u);
  EXPECT_THAT(uuids(inventory), testing::Not(testing::Contains("5")));
  EXPECT_THAT(uuids(inventory), testing::Contains("6"));
}

TEST_F(InventoryTest, AFileWithMoreDevicesThanAllowedIsCutToThoseSeenLast) {
  std::vector<Known> many;
  for (int i = 0; i < 5'000; ++i) many.push_back({gpu(std::to_string(i)), kNow - minutes(i)});
  write(inventory_text(many));
  const Inventory inventory = load();
  EXPECT_TRUE(inventory.load_status().ok());
  EXPECT_EQ(inventory.known().size(), kMaxKnownDevices);
  EXPECT_THAT(uuids(inventory), testing::Contains("1023"));
}

TEST_F(InventoryTest, ACorruptFileIsKeptAsideAndReplaced) {
  expect_set_aside("", Code::kCorrupt, "not a JSON object");
  expect_set_aside(
      "\x7f"
      "ELF",
      Code::kCorrupt, "not a JSON object");
  expect_set_aside("{\"schema\": 1, \"devices\": [", Code::kCorrupt, "not a JSON object");
  expect_set_aside(std::string(200'000, '['), Code::kCorrupt, "not a JSON object");
  expect_set_aside("[]", Code::kCorrupt, "not a JSON object");
  expect_set_aside("{}", Code::kCorrupt, "no schema number");
  expect_set_aside(R"({"schema": 1.5, "devices": []})", Code::kCorrupt, "no schema number");
  expect_set_aside(R"({"schema": 1})", Code::kCorrupt, "no list of devices");
  expect_set_aside(R"({"schema": 1, "devices": [7]})", Code::kCorrupt, "not an object");
  expect_set_aside(R"({"schema": 1, "devices": [{"kind": "gpu", "last_seen_ms": 1}]})",
                   Code::kCorrupt, "\"uuid\"");
  expect_set_aside(R"({"schema": 1, "devices": [{"uuid": 5, "kind": "gpu", "last_seen_ms": 1}]})",
                   Code::kCorrupt, "\"uuid\"");
  expect_set_aside(R"({"schema": 1, "devices": [{"uuid": "a", "kind": "tpu", "last_seen_ms": 1}]})",
                   Code::kCorrupt, "\"kind\"");
  expect_set_aside(
      R"({"schema": 1, "devices": [{"uuid": "a", "kind": "gpu", "last_seen_ms": -1}]})",
      Code::kCorrupt, "\"last_seen_ms\"");
  expect_set_aside(
      R"({"schema": 1, "devices": [{"uuid": "a", "kind": "gpu", "last_seen_ms": 9e99}]})",
      Code::kCorrupt, "\"last_seen_ms\"");
  expect_set_aside(
      R"({"schema": 1, "devices": [{"uuid": "a", "kind": "gpu", "index": 4294967296}]})",
      Code::kCorrupt, "\"index\"");
}

TEST_F(InventoryTest, AFileOfANewerVersionIsKeptAsideToo) {
  expect_set_aside(R"({"schema": 2, "gpus": {}})", Code::kUnsupported, "schema is 2");
}

TEST_F(InventoryTest, HostileTextInTheFileIsCleaned) {
  write(
      "{\"schema\": 1, \"devices\": [{\"uuid\": \"GPU-a\", \"kind\": \"gpu\", \"name\": "
      "\"H100\\u001b[31m\\nX\", \"last_seen_ms\": 1767225600000, \"unknown\": [1]}]}");
  const Inventory inventory = load();
  ASSERT_EQ(inventory.known().size(), 1u) << inventory.load_status().message();
  EXPECT_EQ(inventory.known()[0].device.name, "H100[31mX");
}

TEST_F(InventoryTest, ADirectoryThatCannotBeWrittenIsAStatusAndLosesNothing) {
  for (const std::string& path : {(directory_ / "missing" / "inventory.json").string(),
                                  std::string("/proc/inventory.json")}) {
    Inventory inventory = Inventory::load(path, kNow);
    EXPECT_TRUE(inventory.load_status().ok());
    inventory.seen(gpu("GPU-a"), kNow);
    const Status saved = inventory.save();
    EXPECT_FALSE(saved.ok());
    EXPECT_THAT(saved.message(), HasSubstr(path));
    EXPECT_TRUE(inventory.needs_save());
    EXPECT_THAT(uuids(inventory), ElementsAre("GPU-a"));
  }
}

TEST_F(InventoryTest, BelowARegularFileThereIsNoInventory) {
  write("x");
  Inventory inventory = Inventory::load((path_ / "inventory.json").string(), kNow);
  EXPECT_TRUE(inventory.load_status().ok());
  inventory.seen(gpu("GPU-a"), kNow);
  EXPECT_FALSE(inventory.save().ok());
  EXPECT_EQ(content(path_), "x");
}

TEST_F(InventoryTest, WhatCannotBeReadIsNotOverwritten) {
  std::filesystem::create_directory(path_);
  Inventory inventory = load();
  EXPECT_EQ(inventory.load_status().code(), Code::kIo);
  inventory.seen(gpu("GPU-a"), kNow);
  EXPECT_THAT(inventory.save().message(), HasSubstr("not overwritten"));
  EXPECT_TRUE(std::filesystem::is_directory(path_));
  EXPECT_THAT(files(), ElementsAre("inventory.json"));
}

TEST_F(InventoryTest, ACorruptFileThatCannotBeMovedAsideIsNotOverwritten) {
  write("garbage");
  std::filesystem::create_directories(path_.string() + ".bad/full");
  Inventory inventory = load();
  EXPECT_EQ(inventory.load_status().code(), Code::kCorrupt);
  inventory.seen(gpu("GPU-a"), kNow);
  EXPECT_EQ(inventory.save().code(), Code::kCorrupt);
  EXPECT_EQ(content(path_), "garbage");
}

TEST_F(InventoryTest, AFileLargerThanAnyInventoryIsNotReadToItsEnd) {
  write(std::string((16 << 20) + 1, ' '));
  const Inventory inventory = load();
  EXPECT_EQ(inventory.load_status().code(), Code::kCorrupt);
  EXPECT_THAT(files(), ElementsAre("inventory.json.bad"));
}

}  // namespace
}  // namespace gpusight::store
