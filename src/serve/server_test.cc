// The server whole: real sockets, a thread of its own, snapshots made by hand.
#include "serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "serve/test_client.h"
#include "serve/test_folder.h"
#include "serve/test_gunzip.h"
#include "serve/test_machine.h"

namespace gpusight::serve {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr Asset kAssets[] = {{"/index.html", "\"bb\"", "<!doctype html>", "", ""}};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    options_.listen = {"127.0.0.1:0"};
    options_.socket_path = folder_.path() + "/gpusight.sock";
    options_.hub = &hub_;
    options_.head = &head_;
    options_.events = &events_;
    options_.clock = &clock_;
    options_.version = "0.1.0";
    options_.assets = kAssets;
    options_.sweep_interval = milliseconds(10);
  }
  ~ServerTest() override { stop(); }

  void start() {
    auto server = Server::create(options_);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(server).value();
    address_ = server_->addresses()[0];
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }
  void publish(Machine machine = {}) {
    machine.sequence = ++sequence_;
    const auto snapshot = snapshot_of(machine);
    head_.append(*snapshot);
    hub_.publish(snapshot);
  }
  // The server counts on its own thread.
  template <typename Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
    return condition();
  }

  const TestFolder folder_;
  uint64_t sequence_ = 0;
  FakeClock clock_;
  sample::SnapshotHub hub_;
  store::Head head_;
  store::EventLog events_;
  Server::Options options_;
  std::unique_ptr<Server> server_;
  std::string address_;
  std::thread thread_;
};

TEST_F(ServerTest, AnswersManyRequestsOnOneConnection) {
  start();
  publish();
  TestClient client(address_);
  for (const auto* path : {"/", "/healthz", "/metrics", "/api/gpusight/v1/snapshot"}) {
    const auto reply = client.get(path);
    ASSERT_TRUE(reply.has_value()) << path;
    EXPECT_EQ(reply->status, 200) << path;
    EXPECT_EQ(reply->headers.at("x-content-type-options"), "nosniff");
    EXPECT_FALSE(reply->body.empty());
  }
  EXPECT_EQ(client.get("/nothing")->status, 404);
}

TEST_F(ServerTest, HeadHasTheLengthAndNoBody) {
  start();
  TestClient client(address_);
  const auto reply = client.request("HEAD", "/healthz");
  EXPECT_EQ(reply->headers.at("content-length"), "3");
  EXPECT_EQ(client.get("/healthz")->body, "ok\n");  // nothing stood in between
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  TestClient client(address_);
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /readyz HTTP/1.1\r\nHost: ");
  client.send("localhost\r\n\r\n");
  EXPECT_EQ(client.read_reply()->body, "ok\n");
  EXPECT_EQ(client.read_reply()->status, 503);
}

TEST_F(ServerTest, EmptyLinesBeforeARequestArePassedOver) {
  start();
  TestClient client(address_);
  client.send("\r\nPOST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi\r\n");
  EXPECT_EQ(client.read_reply()->status, 405);
  client.send("\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read_reply()->body, "ok\n");
}

TEST_F(ServerTest, OldClientsAndThoseWhoSaySoAreClosedAfterTheAnswer) {
  start();
  TestClient old(address_);
  old.send("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(old.read_reply()->headers.at("connection"), "close");
  EXPECT_TRUE(old.at_end());
  TestClient polite(address_);
  EXPECT_EQ(polite.get("/healthz", "Host: localhost\r\nConnection: close\r\n")->status, 200);
  EXPECT_TRUE(polite.at_end());
}

// FAULT-135
TEST_F(ServerTest, TheSocketKnowsItsCallerAndTcpDoesNot) {
  start();
  publish({.processes = {process_of(4242, "train")}});
  TestClient by_socket(server_->socket_path());
  TestClient by_tcp(address_);
  EXPECT_THAT(by_socket.get("/api/gpusight/v1/snapshot", "")->body, HasSubstr("train"));
  EXPECT_THAT(by_tcp.get("/api/gpusight/v1/snapshot")->body, testing::Not(HasSubstr("train")));
}

// FAULT-128
TEST_F(ServerTest, AForeignHostIsMisdirected) {
  start();
  TestClient client(address_);
  EXPECT_EQ(client.get("/metrics", "Host: rebound.example.org\r\n")->status, 421);
}

TEST_F(ServerTest, MalformedRequestsAreRefusedAndClosed) {
  start();
  const auto status_of = [this](const std::string& text) {
    TestClient client(address_);
    client.send(text);
    const auto reply = client.read_reply();
    EXPECT_TRUE(client.at_end()) << text.substr(0, 40);
    return reply ? reply->status : 0;
  };
  EXPECT_EQ(status_of("\x16\x03\x01\x02\x01\x01\xfc\r\n\r\n"), 400);  // TLS on a plain port
  EXPECT_EQ(status_of("GET /\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/9.9\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost localhost\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /" + std::string(13'000, 'a') + " HTTP/1.1\r\n\r\n"), 414);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(20000, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na"), 400);
}

TEST_F(ServerTest, ABadTargetIsRefusedAndTheConnectionGoesOn) {
  start();
  TestClient client(address_);
  EXPECT_EQ(client.get("/%zz")->status, 400);
  EXPECT_EQ(client.get("http://localhost/")->status, 400);
  EXPECT_EQ(client.get("/healthz")->status, 200);
}

TEST_F(ServerTest, ABodyIsTakenAndTheMethodRefused) {
  start();
  TestClient client(address_);
  client.send(
      "POST /metrics HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(client.read_reply()->status, 100);
  client.send("hello");
  EXPECT_EQ(client.read_reply()->status, 405);
  EXPECT_EQ(client.get("/healthz")->status, 200);
}

TEST_F(ServerTest, ARequestThatNeverEndsIsCutOff) {
  start();
  TestClient silent(address_);
  TestClient slow(address_);
  slow.send("GET / HTTP/1.1\r\nHost: loc");
  ASSERT_TRUE(eventually([this] { return server_->figures().connections == 2; }));
  clock_.advance(std::chrono::seconds(9));
  EXPECT_EQ(TestClient(address_).get("/healthz")->status, 200);
  EXPECT_GE(server_->figures().connections, 2u);
  // A byte now and then does not help.
  EXPECT_TRUE(eventually([&] {
    slow.send("a");
    clock_.advance(std::chrono::seconds(2));
    return server_->figures().connections == 0;
  }));
  EXPECT_TRUE(slow.at_end());
  EXPECT_TRUE(silent.at_end());
}

TEST_F(ServerTest, AnIdleConnectionStandsLongerThanAScrapeInterval) {
  start();
  TestClient client(address_);
  EXPECT_EQ(client.get("/healthz")->status, 200);
  clock_.advance(std::chrono::seconds(60));
  EXPECT_EQ(client.get("/healthz")->status, 200);
  EXPECT_TRUE(eventually([&] {
    clock_.advance(std::chrono::seconds(80));
    return server_->figures().connections == 0;
  }));
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, ConnectionsOverTheBoundAreToldSoAndTheSocketKeepsItsOwn) {
  options_.max_connections = 2;
  start();
  TestClient first(address_);
  TestClient second(address_);
  EXPECT_EQ(first.get("/healthz")->status, 200);
  EXPECT_EQ(second.get("/healthz")->status, 200);
  TestClient third(address_);
  EXPECT_EQ(third.read_reply()->status, 503);
  EXPECT_TRUE(third.at_end());
  EXPECT_EQ(TestClient(server_->socket_path()).get("/healthz", "")->status, 200);
  EXPECT_EQ(server_->figures().refused_connections, 1u);
}

TEST_F(ServerTest, TwoServersDoNotShareAnAddress) {
  start();
  Server::Options other = options_;
  other.socket_path.clear();
  other.listen = {address_};
  EXPECT_THAT(Server::create(other).status().message(), HasSubstr("is in use"));
  other.listen = {"127.0.0.1:0"};
  other.socket_path = options_.socket_path;
  EXPECT_THAT(Server::create(other).status().message(), HasSubstr("another gpusight answers"));
  EXPECT_EQ(TestClient(server_->socket_path()).get("/healthz", "")->status, 200);
  const std::string path = server_->socket_path();
  stop();
  start();  // and what was left is free again
  EXPECT_EQ(TestClient(path).get("/healthz", "")->status, 200);
}

// FAULT-127
TEST_F(ServerTest, ASocketWhosePlaceCannotBeWrittenIsDoneWithoutUnlessItIsNeeded) {
  options_.socket_path = "/proc/none/gpusight.sock";
  EXPECT_THAT(Server::create(options_).status().message(),
              HasSubstr("cannot listen on /proc/none"));
  options_.socket = Server::Options::Socket::kIfPossible;
  start();
  EXPECT_EQ(server_->socket_path(), "");
  EXPECT_THAT(server_->no_socket_because(), HasSubstr("cannot listen on /proc/none"));
  EXPECT_EQ(TestClient(address_).get("/healthz")->status, 200);
}

TEST_F(ServerTest, ASocketThatIsDoneWithoutIsNotTakenFromAnother) {
  start();
  Server::Options other = options_;
  other.listen = {"127.0.0.1:0"};
  other.socket = Server::Options::Socket::kIfPossible;
  EXPECT_THAT(Server::create(other).status().message(), HasSubstr("another gpusight answers"));
}

json message_of(const std::optional<TestClient::Frame>& frame) {
  if (!frame) return nullptr;
  return json::parse(frame->opcode == 2 ? gunzip(frame->payload) : frame->payload);
}

TEST_F(ServerTest, TheLiveStreamBeginsWithASnapshotAndGoesOnWithDeltas) {
  start();
  publish({.power = 100});
  std::optional<TestClient> client(address_);
  const auto reply = client->upgrade();
  ASSERT_EQ(reply->status, 101);
  EXPECT_EQ(reply->headers.at("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const json first = message_of(client->read_frame());
  EXPECT_EQ(first["type"], "snapshot");
  EXPECT_EQ(first["snapshot"]["devices"][0]["metrics"]["gpu_power_watts"], 100);
  publish({.power = 150});
  const json delta = message_of(client->read_frame());
  EXPECT_EQ(delta["n"], 1);
  EXPECT_EQ(delta["devices"]["GPU-0"]["metrics"]["gpu_power_watts"], 150);
  events_.append({.kind = catalog::EventKind::kDeviceLost, .uuid = "GPU-0"});
  EXPECT_EQ(message_of(client->read_frame())["event"]["kind"], "device_lost");
  EXPECT_EQ(server_->figures().live_clients, 1u);
  client->send_frame(1, "what clients say is passed over");
  client->send_frame(9, "ping");
  EXPECT_EQ(client->read_frame()->payload, "ping");
  client->send_frame(8, std::string("\x03\xe8", 2));
  EXPECT_EQ(close_code(*client->read_frame()), 1000);
  EXPECT_TRUE(client->at_end());
  client.reset();
  EXPECT_TRUE(eventually([this] { return server_->figures().live_clients == 0; }));
}

TEST_F(ServerTest, TheLiveStreamAlsoRunsOverTheSocket) {
  start();
  publish({.processes = {process_of(4242, "train")}});
  TestClient client(server_->socket_path());
  ASSERT_EQ(client.upgrade("Host: anything\r\n")->status, 101);
  EXPECT_THAT(message_of(client.read_frame()).dump(), HasSubstr("train"));
}

TEST_F(ServerTest, PagesOfOtherSitesGetNoStream) {
  start();
  TestClient foreign(address_);
  EXPECT_EQ(foreign.upgrade("Host: localhost\r\nOrigin: http://example.org\r\n")->status, 403);
  TestClient own(address_);
  EXPECT_EQ(own.upgrade("Host: localhost\r\nOrigin: http://localhost\r\n")->status, 101);
}

TEST_F(ServerTest, AClientThatFallsBehindIsClearedAndThenClosedWith4008) {
  options_.live = {.messages = 4, .clearings = 3, .window = std::chrono::seconds(60)};
  options_.live_send_buffer = 4096;
  start();
  publish({.gpus = 64});
  TestClient client(address_, 4096);
  ASSERT_EQ(client.upgrade()->status, 101);
  const auto cleared = [this](uint64_t times) {
    return eventually([this, times] {
      publish({.power = static_cast<double>(sequence_), .gpus = 64});
      return server_->figures().live_clearings >= times;
    });
  };
  uint64_t snapshots = 0;
  for (uint64_t round = 1; round <= 3; ++round) {
    // Reading on until the fresh snapshot is there lets the client fall behind again.
    json message;
    do {
      message = message_of(client.read_frame());
    } while (message.is_object() && message["type"] != "snapshot");
    ASSERT_TRUE(message.is_object());
    ++snapshots;
    ASSERT_TRUE(cleared(round)) << round;
  }
  EXPECT_EQ(snapshots, 3u);
  auto frame = client.read_frame();
  while (frame && frame->opcode != 8) frame = client.read_frame();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(close_code(*frame), 4008);
  EXPECT_EQ(server_->figures().live_given_up, 1u);
}

TEST_F(ServerTest, AClientThatLeavesWithoutAWordIsForgotten) {
  start();
  publish();
  {
    TestClient client(address_);
    ASSERT_EQ(client.upgrade()->status, 101);
    ASSERT_TRUE(eventually([this] { return server_->figures().live_clients == 1; }) ||
                message_of(client.read_frame()).is_object());
  }
  EXPECT_TRUE(eventually([this] {
    publish();
    return server_->figures().connections == 0;
  }));
}

TEST_F(ServerTest, StopsWithClientsConnectedWhilePublishingGoesOn) {
  start();
  publish();
  TestClient idle(address_);
  TestClient live(address_);
  ASSERT_EQ(live.upgrade()->status, 101);
  std::jthread publisher([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) publish();
  });
  for (int i = 0; i < 20; ++i) (void)live.read_frame();
  stop();
  EXPECT_TRUE(idle.at_end());
  EXPECT_TRUE(live.at_end());
}

}  // namespace
}  // namespace gpusight::serve
