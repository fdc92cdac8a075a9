#include "serve/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "serve/test_client.h"
#include "serve/test_folder.h"

namespace gpusight::serve {
namespace {

using catalog::Lang;
using testing::HasSubstr;

std::string refusal(const Status& status) { return status.ok() ? "accepted" : status.message(); }

// FAULT-129, FAULT-128
TEST(Listener, RefusesEverythingBeyondLoopback) {
  for (const auto* far : {"0.0.0.0:9780", "192.168.1.2:80", "[::]:9780", "[2001:db8::1]:80",
                          "128.0.0.1:80", "[::ffff:127.0.0.1]:80"}) {
    EXPECT_THAT(refusal(listen_tcp(far, Lang::kEnglish).status()), HasSubstr("TLS and tokens"))
        << far;
  }
  EXPECT_THAT(refusal(listen_tcp("0.0.0.0:1", Lang::kChinese).status()), HasSubstr("回环地址"));
}

TEST(Listener, RefusesAddressesThatAreNone) {
  for (const auto* bad : {"", "9780", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                          "127.0.0.1:-1", "127.0.0.1: 1", "::1:9780", "[::1:9780", "example.org:80",
                          "localhost", ":80", "127.0.0.1:0x10"}) {
    EXPECT_THAT(refusal(listen_tcp(bad, Lang::kEnglish).status()), HasSubstr("--listen cannot be"))
        << bad;
  }
}

TEST(Listener, TellsThePortItGot) {
  const auto listener = listen_tcp("localhost:0", Lang::kEnglish);
  ASSERT_TRUE(listener.ok()) << listener.status().message();
  EXPECT_THAT(listener->address, testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  EXPECT_TRUE(TestClient(listener->address).connected());
}

TEST(Listener, APortInUseIsOneClearSentence) {
  const auto first = listen_tcp("127.0.0.1:0", Lang::kEnglish);
  ASSERT_TRUE(first.ok());
  const auto second = listen_tcp(first->address, Lang::kEnglish);
  EXPECT_EQ(second.status().code(), Code::kUnavailable);
  EXPECT_EQ(refusal(second.status()),
            first->address +
                " is in use by another program; stop it or choose another address with --listen");
}

TEST(UnixListener, MakesItsDirectoryAndAFileThatAllMayOpenAndTidiesUp) {
  const TestFolder folder;
  const std::string path = folder.path() + "/run/gpusight.sock";
  {
    const auto listener = UnixListener::create(path, Lang::kEnglish);
    ASSERT_TRUE(listener.ok()) << listener.status().message();
    struct stat made {};
    ASSERT_EQ(::stat(path.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, 0666u);
    ASSERT_EQ(::stat((folder.path() + "/run").c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, ::geteuid() == 0 ? 0755u : 0700u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(UnixListener, TakesThePlaceOfADeadOne) {
  const TestFolder folder;
  const std::string path = folder.path() + "/gpusight.sock";
  {
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{.sun_family = AF_UNIX};
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  const auto listener = UnixListener::create(path, Lang::kEnglish);
  ASSERT_TRUE(listener.ok()) << listener.status().message();
  EXPECT_TRUE(TestClient(path).connected());
}

TEST(UnixListener, LeavesOneAloneThatAnswersAndWhatIsNoSocket) {
  const TestFolder folder;
  const std::string path = folder.path() + "/gpusight.sock";
  const auto first = UnixListener::create(path, Lang::kEnglish);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(refusal(UnixListener::create(path, Lang::kEnglish).status()),
            "another gpusight answers at " + path);
  EXPECT_TRUE(TestClient(path).connected());

  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "precious";
  EXPECT_THAT(refusal(UnixListener::create(file, Lang::kEnglish).status()),
              HasSubstr("cannot listen on " + file));
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(UnixListener, DoesNotRemoveTheFileOfASuccessor) {
  const TestFolder folder;
  const std::string path = folder.path() + "/gpusight.sock";
  auto first = UnixListener::create(path, Lang::kEnglish);
  ASSERT_TRUE(first.ok());
  std::ofstream(folder.path() + "/keeps-the-inode");  // so that the number is not given out again
  std::filesystem::rename(path, path + ".old");
  const auto second = UnixListener::create(path, Lang::kEnglish);
  ASSERT_TRUE(second.ok());
  { const UnixListener gone = std::move(first).value(); }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(UnixListener, RefusesPathsThatCannotBe) {
  EXPECT_THAT(refusal(UnixListener::create("", Lang::kEnglish).status()), HasSubstr("cannot"));
  const std::string long_path = "/tmp/" + std::string(200, 'x');
  EXPECT_THAT(refusal(UnixListener::create(long_path, Lang::kEnglish).status()),
              HasSubstr("File name too long"));
  EXPECT_THAT(refusal(UnixListener::create("/proc/none/gpusight.sock", Lang::kEnglish).status()),
              HasSubstr("cannot listen on"));
}

// FAULT-135
TEST(UnixPeer, IsWhoTheKernelSays) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const UniqueFd a(pair[0]);
  const UniqueFd b(pair[1]);
  const model::Caller caller = unix_peer(a.get());
  EXPECT_EQ(caller.role, model::Role::kAdmin);  // the daemon's own user
  EXPECT_EQ(std::get<model::LocalUser>(caller.identity).uid, ::geteuid());
  const auto tcp = listen_tcp("127.0.0.1:0", Lang::kEnglish);
  EXPECT_EQ(unix_peer(tcp->fd.get()).role, model::Role::kView);
}

}  // namespace
}  // namespace gpusight::serve
