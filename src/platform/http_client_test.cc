#include "platform/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "base/fd.h"

namespace gpusight::platform {
namespace {

// Answers one caller with fixed bytes, in two pieces, and keeps the line open or closes it.
class OneAnswer {
 public:
  enum class Then { kClose, kHold };

  OneAnswer(std::string answer, Then then) : answer_(std::move(answer)), then_(then) {
    path_ = testing::TempDir() + "http_client." + std::to_string(::getpid());
    ::unlink(path_.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    listener_.reset(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 4), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneAnswer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }
  const std::string& request() const { return request_; }

 private:
  void serve() {
    const UniqueFd caller(::accept(listener_.get(), nullptr, nullptr));
    if (!caller.valid()) return;
    char buffer[4096];
    const ssize_t got = ::recv(caller.get(), buffer, sizeof buffer, 0);
    request_.assign(buffer, std::max<ssize_t>(got, 0));
    const size_t half = answer_.size() / 2;
    ::send(caller.get(), answer_.data(), half, MSG_NOSIGNAL);
    ::send(caller.get(), answer_.data() + half, answer_.size() - half, MSG_NOSIGNAL);
    if (then_ == Then::kHold) ::recv(caller.get(), buffer, sizeof buffer, 0);
  }

  std::string answer_;
  Then then_;
  std::string path_;
  std::string request_;
  UniqueFd listener_;
  std::thread thread_;
};

Result<HttpResponse> get(const std::string& path, HttpRequest request = {}) {
  request.endpoint.unix_socket = path;
  return make_http_client()->ask(request);
}

TEST(HttpClient, AsksOverAUnixSocketAndGivesStatusTypeAndBody) {
  OneAnswer server(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
      OneAnswer::Then::kHold);
  const Result<HttpResponse> response =
      get(server.path(), {.target = "/api?x=1", .headers = {{"Accept", "application/json"}}});
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->content_type, "application/json");
  EXPECT_EQ(response->body, "{\"a\":1}");
}

TEST(HttpClient, AFormIsPosted) {
  OneAnswer server("HTTP/1.1 204 No Content\r\n\r\n", OneAnswer::Then::kClose);
  const Result<HttpResponse> response =
      get(server.path(),
          {.method = HttpMethod::kPost, .target = "/api/v1/query", .form = "query=up&time=1"});
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(server.request(),
            "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            "User-Agent: gpusight\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            "Content-Length: 15\r\n\r\nquery=up&time=1");
}

TEST(HttpClient, TakesChunksAndBodiesThatEndWithTheConnection) {
  {
    OneAnswer server(
        "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n"
        "\r\n",
        OneAnswer::Then::kHold);
    const Result<HttpResponse> response = get(server.path());
    ASSERT_TRUE(response.ok()) << response.status().message();
    EXPECT_EQ(response->status, 404);
    EXPECT_EQ(response->body, "abcde");
  }
  OneAnswer server("HTTP/1.0 200 OK\r\n\r\nuntil the end", OneAnswer::Then::kClose);
  const Result<HttpResponse> response = get(server.path());
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->body, "until the end");
}

TEST(HttpClient, ASilentServerCostsNoMoreThanTheDeadline) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", OneAnswer::Then::kHold);
  const auto begin = std::chrono::steady_clock::now();
  const Result<HttpResponse> response =
      get(server.path(), {.deadline = std::chrono::milliseconds(50)});
  EXPECT_EQ(response.status().code(), Code::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(HttpClient, AnAnswerLongerThanAskedForIsRefused) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890",
                   OneAnswer::Then::kHold);
  EXPECT_EQ(get(server.path(), {.max_body_bytes = 10}).status().code(), Code::kExhausted);
}

TEST(HttpClient, CutOffAndForeignAnswersAreCorrupt) {
  for (const char* answer : {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "SSH-2.0-x\r\n",
                             "HTTP/1.1 200", ""}) {
    OneAnswer server(answer, OneAnswer::Then::kClose);
    EXPECT_EQ(get(server.path()).status().code(), Code::kCorrupt) << answer;
  }
}

TEST(HttpClient, TellsNoSocketFromNobodyListening) {
  EXPECT_EQ(get("/nonexistent/socket").status().code(), Code::kNotFound);
  EXPECT_EQ(get(std::string(200, 'x')).status().code(), Code::kInvalidArgument);
  // A socket file that a dead daemon left.
  std::string path;
  {
    OneAnswer server("", OneAnswer::Then::kClose);
    path = server.path() + ".dead";
    ASSERT_EQ(::rename(server.path().c_str(), path.c_str()), 0);
  }
  EXPECT_EQ(get(path).status().code(), Code::kUnavailable);
  ::unlink(path.c_str());
}

TEST(HttpClient, RefusesRequestsThatWouldBeTwo) {
  EXPECT_EQ(get("/x", {.target = "/a\r\nX: y"}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(get("/x", {.headers = {{"A", "b\nc"}}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(
      make_http_client()->ask({.endpoint = {.host = "example.org", .port = 80}}).status().code(),
      Code::kInvalidArgument);
}

TEST(HttpClient, AsksOverTcpOnLoopback) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::string asked;
  std::thread server([&] {
    const UniqueFd caller(::accept(listener.get(), nullptr, nullptr));
    char buffer[4096];
    asked.assign(buffer, std::max<ssize_t>(::recv(caller.get(), buffer, sizeof buffer, 0), 0));
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    ::send(caller.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
  });
  const uint16_t port = ntohs(address.sin_port);
  const Result<HttpResponse> response =
      make_http_client()->ask({.endpoint = {.host = "localhost", .port = port}});
  server.join();
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->body, "ok");
  EXPECT_NE(asked.find("Host: localhost:" + std::to_string(port)), std::string::npos);
}

}  // namespace
}  // namespace gpusight::platform
