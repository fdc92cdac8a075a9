// Plain non-blocking sockets with Beast's parser: the parser is the part that must stand hostile
// bytes, an event loop would only be in the way of one request.
#include "platform/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "base/fd.h"
#include "base/text.h"

namespace gpusight::platform {
namespace {

namespace http = boost::beast::http;

using Deadline = std::chrono::steady_clock::time_point;

constexpr size_t kMaxHeaderBytes = 16 << 10;

std::string error_text(int error) { return std::generic_category().message(error); }

Status failure(std::string_view what, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::kNotFound
                    : error == EACCES || error == EPERM ? Code::kPermissionDenied
                    : error == ECONNREFUSED             ? Code::kUnavailable
                                                        : Code::kIo;
  return {code, std::string(what) + ": " + error_text(error)};
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

Result<SocketAddress> unix_address(const std::string& path) {
  SocketAddress address;
  auto* un = reinterpret_cast<sockaddr_un*>(&address.storage);
  un->sun_family = AF_UNIX;
  if (path.size() >= sizeof un->sun_path || path.find('\0') != std::string::npos) {
    return Status(Code::kInvalidArgument, "a socket's path has at most " +
                                              std::to_string(sizeof un->sun_path - 1) +
                                              " bytes and no NUL");
  }
  std::memcpy(un->sun_path, path.data(), path.size());
  address.length = sizeof(sockaddr_un);
  return address;
}

Result<SocketAddress> tcp_address(const std::string& host, uint16_t port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  const char* numbers = host == "localhost" ? "127.0.0.1" : host.c_str();
  if (::inet_pton(AF_INET, numbers, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof(sockaddr_in);
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET6, numbers, &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof(sockaddr_in6);
    return address;
  }
  return Status(Code::kInvalidArgument, clean_text(host) + " is not an address in numbers");
}

// Waits until the descriptor is ready for `events`, at most until the deadline.
Status wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {Code::kUnavailable, "no answer in time"};
    pollfd waiting{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left.count(), 60000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return failure("poll", errno);
  }
}

Result<UniqueFd> connect_to(const HttpEndpoint& endpoint, Deadline deadline) {
  const bool is_unix = !endpoint.unix_socket.empty();
  const SocketAddress address =
      TRY(is_unix ? unix_address(endpoint.unix_socket) : tcp_address(endpoint.host, endpoint.port));
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return failure("socket", errno);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address.storage);
  while (::connect(fd.get(), generic, address.length) != 0) {
    if (errno == EINTR) continue;
    // A Unix socket whose queue of callers is full says EAGAIN and cannot be waited for.
    if (errno == EAGAIN) {
      pollfd nothing{.fd = -1, .events = 0, .revents = 0};
      ::poll(&nothing, 1, 10);
      if (std::chrono::steady_clock::now() < deadline) continue;
      return Status(Code::kUnavailable, "no answer in time");
    }
    if (errno != EINPROGRESS) return failure("connect", errno);
    TRY(wait_for(fd.get(), POLLOUT, deadline));
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return failure("connect", error);
    break;
  }
  return fd;
}

Status send_all(int fd, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(sent);
    } else if (errno == EAGAIN) {
      TRY(wait_for(fd, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return failure("send", errno);
    }
  }
  return {};
}

bool is_header_safe(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

Result<std::string> request_text(const HttpRequest& request) {
  const bool is_unix = !request.endpoint.unix_socket.empty();
  const bool is_v6 = request.endpoint.host.find(':') != std::string::npos;
  const std::string host =
      is_unix ? "localhost"
              : (is_v6 ? "[" + request.endpoint.host + "]" : request.endpoint.host) + ":" +
                    std::to_string(request.endpoint.port);
  const bool is_post = request.method == HttpMethod::kPost;
  std::string text = (is_post ? "POST " : "GET ") + request.target + " HTTP/1.1\r\nHost: " + host +
                     "\r\nConnection: close\r\nUser-Agent: gpusight\r\n";
  bool safe = is_header_safe(request.target) && is_header_safe(host) &&
              request.target.starts_with('/') && request.target.find(' ') == std::string::npos;
  for (const auto& [name, value] : request.headers) {
    safe = safe && is_header_safe(name) && is_header_safe(value);
    text.append(name).append(": ").append(value).append("\r\n");
  }
  if (!safe) return Status(Code::kInvalidArgument, "a request has a line break or no path");
  if (!is_post) return text + "\r\n";
  if (!request.form.empty()) text += "Content-Type: application/x-www-form-urlencoded\r\n";
  text += "Content-Length: " + std::to_string(request.form.size()) + "\r\n\r\n";
  return text + request.form;
}

Status parse_failure(const boost::system::error_code& error) {
  if (error == http::error::body_limit) return {Code::kExhausted, "the answer is too long"};
  return {Code::kCorrupt, "the answer is not HTTP: " + error.message()};
}

using Parser = http::response_parser<http::string_body>;

// Hands over what the parser can use of `pending` and keeps the rest.
Status feed(Parser& parser, std::string& pending) {
  while (!pending.empty() && !parser.is_done()) {
    boost::system::error_code error;
    const size_t used =
        parser.put(boost::asio::const_buffer(pending.data(), pending.size()), error);
    pending.erase(0, used);
    if (error == http::error::need_more) return {};
    if (error) return parse_failure(error);
    if (used == 0) return {};
  }
  return {};
}

Result<HttpResponse> receive(int fd, size_t max_body_bytes, Deadline deadline) {
  Parser parser;
  parser.header_limit(kMaxHeaderBytes);
  parser.body_limit(max_body_bytes);
  parser.eager(true);
  std::string pending;
  std::array<char, 65536> buffer;
  while (!parser.is_done()) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      pending.append(buffer.data(), got);
      TRY(feed(parser, pending));
    } else if (got == 0) {
      boost::system::error_code error;
      if (parser.got_some()) parser.put_eof(error);
      if (error || !parser.is_done()) return Status(Code::kCorrupt, "the answer was cut off");
    } else if (errno == EAGAIN) {
      TRY(wait_for(fd, POLLIN, deadline));
    } else if (errno != EINTR) {
      return failure("receive", errno);
    }
  }
  auto& message = parser.get();
  const auto type = message[http::field::content_type];
  return HttpResponse{.status = static_cast<int>(message.result_int()),
                      .content_type = std::string(type.data(), type.size()),
                      .body = std::move(message.body())};
}

class SocketHttpClient final : public HttpClient {
 public:
  Result<HttpResponse> ask(const HttpRequest& request) const override {
    const Deadline deadline = std::chrono::steady_clock::now() + request.deadline;
    const std::string text = TRY(request_text(request));
    const UniqueFd fd = TRY(connect_to(request.endpoint, deadline));
    TRY(send_all(fd.get(), text, deadline));
    return receive(fd.get(), request.max_body_bytes, deadline);
  }
};

}  // namespace

std::unique_ptr<HttpClient> make_http_client() { return std::make_unique<SocketHttpClient>(); }

}  // namespace gpusight::platform
