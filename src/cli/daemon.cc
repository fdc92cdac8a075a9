#include "cli/daemon.h"

#include "base/text.h"
#include "model/snapshot_json.h"

namespace gpusight::cli {
namespace {

// Servers bound the length of a request's head, our own at 16 KiB.
constexpr size_t kLongestTarget = 4096;

using platform::HttpMethod;
using platform::HttpRequest;

// A question that is too long for the address goes as a form.
HttpRequest request_for(HttpMethod method, const std::string& target) {
  const size_t mark = target.find('?');
  if (target.size() <= kLongestTarget || mark == std::string::npos) {
    return {.method = method, .target = target};
  }
  return {.method = HttpMethod::kPost,
          .target = target.substr(0, mark),
          .form = target.substr(mark + 1)};
}

// One request, with a socket that nobody listens at told as kNotFound.
Result<platform::HttpResponse> ask(const platform::HttpClient& client, HttpMethod method,
                                   const std::string& socket, const std::string& target,
                                   Duration deadline) {
  HttpRequest request = request_for(method, target);
  request.endpoint.unix_socket = socket;
  request.headers = {{"Accept", "application/json"}};
  request.deadline = deadline;
  Result<platform::HttpResponse> response = client.ask(request);
  if (response.ok()) return response;
  const Code code = response.status().code();
  // A file left by a daemon that is gone refuses; a socket that is not ours to open is as good as
  // none for us. "No answer in time" is also kUnavailable but means that somebody is there.
  const bool refused =
      code == Code::kUnavailable && response.status().message().starts_with("connect");
  if (refused || code == Code::kNotFound || code == Code::kPermissionDenied) {
    return Status(Code::kNotFound, response.status().message());
  }
  return response;
}

}  // namespace

Result<model::Snapshot> fetch_from_daemon(const platform::HttpClient& client,
                                          const std::string& socket, Duration deadline) {
  const platform::HttpResponse response =
      TRY(ask(client, HttpMethod::kGet, socket, "/api/gpusight/v1/snapshot", deadline));
  if (response.status != 200) {
    return Status(Code::kUnavailable, "it answers " + std::to_string(response.status) + " " +
                                          clean_text(response.body.substr(0, 200), 200));
  }
  return model::parse_snapshot_json(response.body);
}

namespace {

Result<DaemonAnswer> first_answer(const platform::HttpClient& client, HttpMethod method,
                                  std::span<const std::string> sockets, const std::string& target,
                                  Duration deadline) {
  for (const std::string& socket : sockets) {
    Result<platform::HttpResponse> response = ask(client, method, socket, target, deadline);
    if (response.ok()) return DaemonAnswer{socket, std::move(response).value()};
    if (response.status().code() != Code::kNotFound) {
      return Status(response.status().code(), socket + ": " + response.status().message());
    }
  }
  return Status(Code::kNotFound, "no daemon");
}

}  // namespace

Result<DaemonAnswer> ask_daemon(const platform::HttpClient& client,
                                std::span<const std::string> sockets, const std::string& target,
                                Duration deadline) {
  return first_answer(client, HttpMethod::kGet, sockets, target, deadline);
}

Result<DaemonAnswer> tell_daemon(const platform::HttpClient& client,
                                 std::span<const std::string> sockets, const std::string& target,
                                 Duration deadline) {
  return first_answer(client, HttpMethod::kPost, sockets, target, deadline);
}

}  // namespace gpusight::cli
