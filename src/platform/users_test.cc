#include "platform/users.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class UserNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "users." + std::to_string(::getpid());
    std::filesystem::create_directories(root_ + "/etc");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  // As useradd does it: a new file in the old one's place.
  void replace_passwd(std::string_view text) {
    std::ofstream(root_ + "/etc/passwd.new") << text;
    std::filesystem::rename(root_ + "/etc/passwd.new", root_ + "/etc/passwd");
  }

  std::string root_;
};

TEST_F(UserNamesTest, TheFirstLineOfAUidNamesIt) {
  constexpr std::string_view kPasswd =
      "root:x:0:0:root:/root:/bin/bash\ntoor:x:0:0::/:/bin/sh\nada:x:1000:1000:Ada:/home/ada:";
  EXPECT_EQ(find_user_name(kPasswd, 0), "root");
  EXPECT_EQ(find_user_name(kPasswd, 1000), "ada");
  EXPECT_EQ(find_user_name(kPasswd, 1001), std::nullopt);
}

TEST_F(UserNamesTest, LinesThatDoNotParseArePassedOver) {
  constexpr std::string_view kPasswd =
      "\n:\n::\n:x:7:\n+::::::\nno uid:x\nbad:x:seven:\nbig:x:4294967303:\n\x1b:x:7:\nok:x:7\n";
  EXPECT_EQ(find_user_name(kPasswd, 7), "ok");
  EXPECT_EQ(find_user_name("", 7), std::nullopt);
}

TEST_F(UserNamesTest, NamesAreCleaned) {
  EXPECT_EQ(find_user_name("a\x1b[0m\xff:x:7:7:::", 7), "a[0m\xEF\xBF\xBD");
}

TEST_F(UserNamesTest, AMissingFileOrUserIsAnEmptyName) {
  UserNames users{RootFs(root_)};
  users.refresh();
  EXPECT_EQ(users.name_of(1000), "");
  std::filesystem::create_directory(root_ + "/etc/passwd");
  users.refresh();
  EXPECT_EQ(users.name_of(1000), "");
}

TEST_F(UserNamesTest, AChangedFileIsReadAgain) {
  UserNames users{RootFs(root_)};
  replace_passwd("ada:x:1000:1000:::\n");
  users.refresh();
  EXPECT_EQ(users.name_of(1000), "ada");
  EXPECT_EQ(users.name_of(1001), "");
  replace_passwd("bob:x:1000:1000:::\neve:x:1001:1001:::\n");
  EXPECT_EQ(users.name_of(1000), "ada") << "one batch sees one file";
  users.refresh();
  EXPECT_EQ(users.name_of(1000), "bob");
  EXPECT_EQ(users.name_of(1001), "eve");
}

TEST_F(UserNamesTest, ManyUidsDoNotGrowItWithoutBound) {
  UserNames users{RootFs(root_)};
  replace_passwd("last:x:9000:1:::\n");
  users.refresh();
  for (uint32_t uid = 0; uid <= 9000; ++uid) users.name_of(uid);
  EXPECT_EQ(users.name_of(9000), "last");
}

}  // namespace
}  // namespace gpusight::platform
