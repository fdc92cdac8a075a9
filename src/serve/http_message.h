// A request as the handlers see it and the response that they give: no sockets, no parser. Plain
// values.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/caller.h"
#include "serve/http_text.h"

namespace gpusight::serve {

struct Request {
  std::string method;  // "GET"
  Target target;
  model::Caller caller;
  bool is_local_socket = false;  // came by the Unix socket: Host and Origin mean nothing there
  size_t host_count = 0;         // Host headers there were
  std::string host;
  std::string origin;  // empty: none
  bool has_origin = false;
  bool is_upgrade = false;  // asks for a WebSocket
  std::string accept;
  std::string accept_encoding;
  std::string if_none_match;
  std::string content_type;  // of the body
  std::string body;
};

// Bytes that are shared with a cache, or that stand in the program.
struct Body {
  std::shared_ptr<const std::string> owner;
  std::string_view bytes;

  static Body of(std::string text) {
    return shared(std::make_shared<const std::string>(std::move(text)));
  }
  static Body shared(std::shared_ptr<const std::string> text) {
    const std::string_view bytes = *text;
    return {std::move(text), bytes};
  }
  static Body constant(std::string_view bytes) { return {nullptr, bytes}; }
};

struct Response {
  unsigned status = 200;
  std::string_view content_type = "application/json";
  std::vector<std::pair<std::string_view, std::string>> headers;
  Body body;
  // Where it is set the rest says nothing: this makes the response, may take long, and is to be run
  // off the server's thread. It ends soon after it was asked to stop.
  using Work = std::function<Response(const std::stop_token&)>;
  Work work;
};

std::string_view reason_phrase(unsigned status);

// {"error":{"code":…,"message":…}} under the status.
Response error_response(unsigned status, std::string_view code, std::string_view message);

// gzip where the client takes it and the body is worth it: for answers that differ from caller to
// caller and are compressed on the spot.
Response compressed_if_wanted(std::string_view accept_encoding, Response response);

// Status line and headers with those that every response carries. `date`: HTTP's date of now.
enum class AfterResponse : uint8_t { kKeepOpen, kClose };
std::string response_head(const Response& response, std::string_view date, AfterResponse after);
std::string http_date(int64_t unix_seconds);  // "Thu, 01 Jan 2026 00:00:00 GMT"

}  // namespace gpusight::serve
