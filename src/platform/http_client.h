// One HTTP request, a GET or a POST: over a Unix socket to our own daemon, or over TCP
// to an address given in numbers.
//
// ask() blocks the calling thread, never longer than the deadline, and holds no state: one client
// may be used from several threads at once. What the server sends is bounded and not trusted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpusight::platform {

struct HttpEndpoint {
  std::string unix_socket;  // if set, host and port are not used
  std::string host;         // an IPv4 or IPv6 address in numbers, or "localhost"
  uint16_t port = 0;
};

enum class HttpMethod : uint8_t { kGet, kPost };

struct HttpRequest {
  HttpEndpoint endpoint;
  HttpMethod method = HttpMethod::kGet;
  std::string target = "/";  // path and query
  std::string form;  // what a POST brings, as application/x-www-form-urlencoded; may be empty
  std::vector<std::pair<std::string, std::string>> headers;
  Duration deadline = std::chrono::seconds(5);  // for the whole exchange
  size_t max_body_bytes = 64U << 20;
};

struct HttpResponse {
  int status = 0;  // any the server gave: 404 is an answer, not an error
  std::string content_type;
  std::string body;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // kNotFound: no such socket. kPermissionDenied: not allowed to connect. kUnavailable: refused, or
  // no answer within the deadline. kExhausted: the body is longer than asked for. kCorrupt: not
  // HTTP, or cut off.
  virtual Result<HttpResponse> ask(const HttpRequest& request) const = 0;
};

std::unique_ptr<HttpClient> make_http_client();

}  // namespace gpusight::platform
