#include "attribute/container_names.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.h"

namespace gpusight::attribute {
namespace {

const std::string kId(64, 'a');

// Answers each connection with the same text; the empty one never comes.
class SocketServer {
 public:
  SocketServer(const std::string& path, std::string answer)
      : answer_(std::move(answer)), fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~SocketServer() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
  }
  int asked() const { return asked_; }
  std::string request() const { return request_; }  // after the answer has come

 private:
  void serve() {
    while (true) {
      UniqueFd client(::accept(fd_.get(), nullptr, nullptr));
      if (!client.valid()) return;
      ++asked_;
      char buffer[4096];
      const ssize_t got = ::read(client.get(), buffer, sizeof buffer);
      request_.assign(buffer, got > 0 ? got : 0);
      if (answer_.empty()) {
        held_ = std::move(client);
        continue;
      }
      (void)!::write(client.get(), answer_.data(), answer_.size());
    }
  }

  const std::string answer_;
  std::string request_;
  std::atomic<int> asked_ = 0;
  UniqueFd fd_;
  UniqueFd held_;
  std::thread thread_;
};

std::string http_answer(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class ContainerNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    // Short: a socket's path has at most 107 bytes.
    char folder[] = "/tmp/gpusight_names.XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    root_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

  FakeClock clock_;
  std::string root_;
};

const std::string kDockerJson =
    R"({"Id":"x","Name":"/brave_ada","Config":{"Image":"pytorch:2.4","Labels":{}}})";

TEST_F(ContainerNamesTest, DockerIsAskedOnItsSocket) {
  const SocketServer docker(root_ + "/run/docker.sock", http_answer(200, kDockerJson));
  ContainerNames names(platform::RootFs(root_), &clock_);
  EXPECT_EQ(names.find(kId, "docker"),
            (ContainerName{.name = "brave_ada", .image = "pytorch:2.4"}));
  EXPECT_TRUE(docker.request().starts_with("GET /containers/" + kId + "/json HTTP/1.1\r\n"));
}

TEST_F(ContainerNamesTest, PodmanSpeaksTheSame) {
  const SocketServer podman(root_ + "/run/podman/podman.sock", http_answer(200, kDockerJson));
  ContainerNames names(platform::RootFs(root_), &clock_);
  EXPECT_EQ(names.find(kId, "podman").name, "brave_ada");
  EXPECT_EQ(names.find(kId, "").name, "brave_ada");
  EXPECT_EQ(names.find(kId, "docker"), ContainerName{});
}

TEST_F(ContainerNamesTest, ARuntimeThatHangsIsLeftAloneForAWhile) {
  const SocketServer docker(root_ + "/run/docker.sock", "");
  ContainerNames names(platform::RootFs(root_), &clock_);
  EXPECT_EQ(names.find(kId, "docker"), ContainerName{});
  EXPECT_EQ(names.find(kId, "docker"), ContainerName{});
  EXPECT_EQ(docker.asked(), 1);
  clock_.advance(ContainerNames::kPause);
  EXPECT_EQ(names.find(kId, "docker"), ContainerName{});
  EXPECT_EQ(docker.asked(), 2);
}

TEST_F(ContainerNamesTest, ARuntimeThatWasRestartedIsFoundAgain) {
  ContainerNames names(platform::RootFs(root_), &clock_);
  EXPECT_EQ(names.find(kId, "docker"), ContainerName{});
  const SocketServer docker(root_ + "/run/docker.sock", http_answer(200, kDockerJson));
  EXPECT_EQ(names.find(kId, "docker"), ContainerName{});
  clock_.advance(ContainerNames::kPause);
  EXPECT_EQ(names.find(kId, "docker").name, "brave_ada");
}

TEST_F(ContainerNamesTest, NonsenseIsNoName) {
  for (const std::string& answer :
       {http_answer(200, "[1]"), http_answer(200, "{"), http_answer(500, "{}"),
        http_answer(404, R"({"message":"no such container"})"), std::string("\x01\x02\r\n\r\n"),
        http_answer(200, R"({"Name":7,"Config":[]})")}) {
    std::filesystem::remove(root_ + "/run/docker.sock");
    const SocketServer docker(root_ + "/run/docker.sock", answer);
    ContainerNames names(platform::RootFs(root_), &clock_);
    EXPECT_EQ(names.find(kId, "docker"), ContainerName{}) << answer;
  }
}

TEST_F(ContainerNamesTest, WhatIsNoIdGoesNowhere) {
  const SocketServer docker(root_ + "/run/docker.sock", http_answer(200, kDockerJson));
  ContainerNames names(platform::RootFs(root_), &clock_);
  for (const std::string& id : {std::string("../images"), std::string(64, '/'), std::string()}) {
    EXPECT_EQ(names.find(id, "docker"), ContainerName{});
  }
  EXPECT_EQ(docker.asked(), 0);
}

TEST_F(ContainerNamesTest, ContainerdAndCrioNameThePodInTheBundle) {
  write("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json",
        R"({"ociVersion":"1.1","annotations":{"io.kubernetes.cri.container-name":"train",
            "io.kubernetes.cri.image-name":"pytorch:2.4",
            "io.kubernetes.cri.sandbox-name":"train-0",
            "io.kubernetes.cri.sandbox-namespace":"ml"}})");
  const std::string other(64, 'b');
  write("/run/containers/storage/overlay-containers/" + other + "/userdata/config.json",
        R"({"annotations":{"io.kubernetes.container.name":"serve",
            "io.kubernetes.cri-o.ImageName":"vllm:1",
            "io.kubernetes.pod.name":"serve-x","io.kubernetes.pod.namespace":"prod"}})");
  ContainerNames names(platform::RootFs(root_), &clock_);
  EXPECT_EQ(names.find(kId, "containerd"),
            (ContainerName{
                .name = "train", .image = "pytorch:2.4", .pod = "train-0", .pod_namespace = "ml"}));
  EXPECT_EQ(names.find(other, "cri-o"),
            (ContainerName{
                .name = "serve", .image = "vllm:1", .pod = "serve-x", .pod_namespace = "prod"}));
}

TEST_F(ContainerNamesTest, PodmanWithoutItsServiceKeepsAList) {
  write("/var/lib/containers/storage/overlay-containers/containers.json",
        R"([{"id":"other","names":["x"]},7,{"id":")" + kId +
            R"(","names":["notebook"],"metadata":"{\"image-name\":\"quay.io/jupyter:1\"}"}])");
  ContainerNames names(platform::RootFs(root_), &clock_);
  EXPECT_EQ(names.find(kId, "podman"),
            (ContainerName{.name = "notebook", .image = "quay.io/jupyter:1"}));
  EXPECT_EQ(names.find(std::string(64, 'c'), "podman"), ContainerName{});
}

TEST(ContainerNameParsers, AKubeletsContainerOnDockerHasItsShortName) {
  const auto name = parse_docker_container(
      R"({"Name":"/k8s_train_train-0_ml_3f2a_0","Config":{"Image":"sha256:12",
          "Labels":{"io.kubernetes.container.name":"train","io.kubernetes.pod.name":"train-0",
                    "io.kubernetes.pod.namespace":"ml"}}})");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->name, "train");
  EXPECT_EQ(name->pod, "train-0");
  EXPECT_EQ(name->pod_namespace, "ml");
}

// FAULT-130
TEST(ContainerNameParsers, NamesAreCleaned) {
  const auto name = parse_docker_container(R"({"Name":"/a\u001b[2J\u202eb","Config":{}})");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->name, "a[2Jb");
  EXPECT_FALSE(parse_docker_container(std::string(100000, '[')));
  EXPECT_FALSE(parse_bundle("{\"annotations\":{\"x\":1}}"));
  EXPECT_FALSE(parse_storage_list("{}", "x"));
}

}  // namespace
}  // namespace gpusight::attribute
