// Prometheus's API through real sockets: forms, many queries at once, clients that leave, the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "promql/memory_series.h"
#include "serve/server.h"
#include "serve/test_client.h"
#include "serve/test_folder.h"
#include "serve/test_gunzip.h"
#include "serve/test_machine.h"

namespace gpusight::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// History on a disk that takes as long as the test wants: select() holds on until released, or the
// query is stopped. "deaf" makes it hear no stop, as a disk that hangs does.
class SlowHistory final : public model::Queryable {
 public:
  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override {
    ++begun_;
    while (held_ && (is_deaf_ || !stop.stop_requested())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (stop.stop_requested()) {
      ++stopped_;
      return Status(Code::kCancelled, "stopped");
    }
    return series.select(matchers, hints, std::move(stop));
  }
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher> matchers,
                                               int64_t start_ms, int64_t end_ms,
                                               std::stop_token stop) const override {
    return series.label_names(matchers, start_ms, end_ms, std::move(stop));
  }
  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const model::Matcher> matchers,
                                                int64_t start_ms, int64_t end_ms,
                                                std::stop_token stop) const override {
    return series.label_values(name, matchers, start_ms, end_ms, std::move(stop));
  }

  void hold(bool is_deaf = false) {
    is_deaf_ = is_deaf;
    held_ = true;
  }
  void release() { held_ = false; }
  int begun() const { return begun_; }
  int stopped() const { return stopped_; }

  promql::MemorySeries series;

 private:
  std::atomic<bool> held_ = false;
  std::atomic<bool> is_deaf_ = false;
  mutable std::atomic<int> begun_ = 0;
  mutable std::atomic<int> stopped_ = 0;
};

class PromServerTest : public testing::Test {
 protected:
  PromServerTest() {
    const int64_t times[] = {unix_milliseconds(clock_.wall())};
    const double values[] = {7};
    EXPECT_TRUE(history_.series.add({{"__name__", "m"}, {"uuid", "GPU-0"}}, times, values).ok());
    options_.listen = {"127.0.0.1:0"};
    options_.socket_path = folder_.path() + "/gpusight.sock";
    options_.hub = &hub_;
    options_.head = &head_;
    options_.clock = &clock_;
    options_.version = "0.1.0";
    options_.history = &history_;
    options_.query_threads = {.threads = 2, .waiting = 1};
    options_.sweep_interval = std::chrono::milliseconds(10);
  }
  ~PromServerTest() override {
    history_.release();
    stop();
  }

  void start() {
    auto server = Server::create(options_);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(server).value();
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  std::string address() const { return server_->addresses()[0]; }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }
  static std::string post(std::string_view target, std::string_view form,
                          std::string_view headers = "") {
    std::string text = "POST " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n";
    text.append("Content-Type: application/x-www-form-urlencoded\r\n").append(headers);
    text.append("Content-Length: ").append(std::to_string(form.size())).append("\r\n\r\n");
    return text.append(form);
  }

  const TestFolder folder_;
  FakeClock clock_;
  sample::SnapshotHub hub_;
  store::Head head_;
  SlowHistory history_;
  Server::Options options_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(PromServerTest, AFormAndATargetAskTheSame) {
  start();
  TestClient client(address());
  const auto by_get = client.get("/api/v1/query?query=m");
  client.send(post("/api/v1/query", "query=m"));
  const auto by_post = client.read_reply();
  ASSERT_TRUE(by_get && by_post);
  EXPECT_EQ(by_get->status, 200);
  EXPECT_EQ(by_post->body, by_get->body);
  EXPECT_EQ(json::parse(by_get->body)["data"]["result"][0]["value"][1], "7");
  EXPECT_EQ(by_get->headers.at("content-type"), "application/json");
  // The form counts before the target, and lines may be broken.
  client.send(post("/api/v1/query?query=2&time=5", "query=1%0A%2B%0A1"));
  EXPECT_EQ(json::parse(client.read_reply()->body)["data"]["result"], json::parse("[5,\"2\"]"));
  EXPECT_EQ(client.get("/api/v1/label/uuid/values")->body,
            R"({"status":"success","data":["GPU-0"]})");
}

TEST_F(PromServerTest, WithoutHistoryTheHeadAnswers) {
  options_.history = nullptr;
  const auto snapshot = snapshot_of({});
  head_.append(*snapshot);
  start();
  TestClient client(address());
  const std::string time = std::to_string(unix_milliseconds(snapshot->wall) / 1000);
  const json answer =
      json::parse(client.get("/api/v1/query?query=gpu_power_watts&time=" + time)->body);
  EXPECT_EQ(answer["data"]["result"][0]["value"][1], "100");
}

// FAULT-128
TEST_F(PromServerTest, BodiesThatAreNoFormAndMethodsThatAreNotAreRefused) {
  start();
  TestClient client(address());
  client.send(
      "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\n\r\n{}");
  auto reply = client.read_reply();
  EXPECT_EQ(reply->status, 400);
  EXPECT_EQ(json::parse(reply->body)["errorType"], "bad_data");
  client.send(post("/api/v1/query", "query=%zz"));
  EXPECT_EQ(client.read_reply()->status, 400);
  client.send(post("/api/v1/query", "query=1", "Origin: http://example.org\r\n"));
  EXPECT_EQ(client.read_reply()->status, 403);
  client.send(post("/api/v1/rules", ""));
  reply = client.read_reply();
  EXPECT_EQ(reply->status, 405);
  EXPECT_EQ(reply->headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(client.request("DELETE", "/api/v1/series")->headers.at("allow"), "GET, HEAD, POST");
  EXPECT_EQ(client.get("/api/v1/label/a/b/values")->status, 404);
  client.send(post("/api/v1/query", "query=" + std::string(70'000, '1')));
  EXPECT_EQ(client.read_reply()->status, 413);
}

TEST_F(PromServerTest, LargeAnswersComeCompressed) {
  start();
  TestClient client(address());
  const std::string target = "/api/v1/query_range?query=time()&start=0&end=1000&step=1";
  const std::string plain = client.get(target)->body;
  const auto packed = client.get(target, "Host: localhost\r\nAccept-Encoding: gzip\r\n");
  EXPECT_EQ(packed->headers.at("content-encoding"), "gzip");
  EXPECT_LT(packed->body.size(), plain.size() / 2);
  EXPECT_EQ(gunzip(packed->body), plain);
}

// FAULT-040
TEST_F(PromServerTest, WhileQueriesRunEverythingElseIsAnswered) {
  history_.hold();
  start();
  TestClient one(address());
  TestClient two(address());
  TestClient waiting(address());
  for (TestClient* client : {&one, &two, &waiting}) client->send(post("/api/v1/query", "query=m"));
  ASSERT_TRUE(eventually([&] { return history_.begun() == 2; }));
  TestClient other(address());
  EXPECT_EQ(other.get("/healthz")->body, "ok\n");
  EXPECT_EQ(other.get("/api/v1/status/buildinfo")->status, 200);
  // The third waits; a fourth is one too many.
  std::optional<TestClient::Reply> busy;
  ASSERT_TRUE(eventually([&] {
    busy = other.get("/api/v1/query?query=1&timeout=0.001");
    return busy && busy->headers.contains("retry-after");
  }));
  EXPECT_EQ(busy->status, 503);
  EXPECT_EQ(json::parse(busy->body)["errorType"], "unavailable");
  history_.release();
  for (TestClient* client : {&one, &two, &waiting}) EXPECT_EQ(client->read_reply()->status, 200);
  EXPECT_EQ(other.get("/api/v1/query?query=1")->status, 200);
}

TEST_F(PromServerTest, AClientThatLeavesCancelsItsQuery) {
  history_.hold();
  start();
  {
    TestClient client(address());
    client.send(post("/api/v1/query", "query=m"));
    ASSERT_TRUE(eventually([&] { return history_.begun() == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return history_.stopped() == 1; }));
  EXPECT_TRUE(eventually([&] { return server_->figures().connections == 0; }));
}

TEST_F(PromServerTest, RequestsSentAheadAreAnsweredInOrder) {
  history_.hold();
  start();
  TestClient client(address());
  client.send(post("/api/v1/query", "query=m"));
  ASSERT_TRUE(eventually([&] { return history_.begun() == 1; }));
  client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  history_.release();
  EXPECT_THAT(client.read_reply()->body, HasSubstr("\"7\""));
  EXPECT_EQ(client.read_reply()->body, "ok\n");
}

TEST_F(PromServerTest, StoppingEndsQueriesThatRun) {
  history_.hold();
  start();
  TestClient client(server_->socket_path());
  client.send(post("/api/v1/query", "query=m"));
  ASSERT_TRUE(eventually([&] { return history_.begun() == 1; }));
  stop();
  EXPECT_TRUE(server_->wait_for_queries(std::chrono::seconds(10)));
  EXPECT_EQ(history_.stopped(), 1);
  EXPECT_TRUE(client.at_end());
}

TEST_F(PromServerTest, AQueryThatHangsInTheDiskIsTold) {
  history_.hold(/*is_deaf=*/true);
  start();
  TestClient client(address());
  client.send(post("/api/v1/query", "query=m"));
  ASSERT_TRUE(eventually([&] { return history_.begun() == 1; }));
  stop();
  EXPECT_FALSE(server_->wait_for_queries(std::chrono::milliseconds(5)));
  history_.release();
  EXPECT_TRUE(server_->wait_for_queries(std::chrono::seconds(10)));
}

TEST_F(PromServerTest, WhatIsLeftBehindIsToldToItsClient) {
  options_.answer_time = std::chrono::milliseconds(50);
  history_.hold();
  start();
  TestClient client(address());
  client.send(post("/api/v1/query", "query=m"));
  const auto reply = client.read_reply();
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(json::parse(reply->body)["errorType"], "timeout");
  EXPECT_TRUE(eventually([&] { return history_.stopped() == 1; }));
}

}  // namespace
}  // namespace gpusight::serve
