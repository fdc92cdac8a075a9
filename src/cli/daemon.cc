#include "cli/daemon.h"

#include "base/text.h"
#include "model/snapshot_json.h"

namespace gpusight::cli {
namespace {

using platform::HttpMethod;

// One request, with a socket that nobody listens at told as kNotFound.
Result<platform::HttpResponse> exchange(const platform::HttpClient& client, HttpMethod method,
                                        const std::string& socket, const std::string& target,
                                        Duration deadline) {
  Result<platform::HttpResponse> response =
      client.exchange(method, {.endpoint = {.unix_socket = socket},
                               .target = target,
                               .headers = {{"Accept", "application/json"}},
                               .deadline = deadline});
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
      TRY(exchange(client, HttpMethod::kGet, socket, "/api/gpusight/v1/snapshot", deadline));
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
    Result<platform::HttpResponse> response = exchange(client, method, socket, target, deadline);
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
