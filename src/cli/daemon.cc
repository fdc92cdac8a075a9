#include "cli/daemon.h"

#include "base/text.h"
#include "model/snapshot_json.h"

namespace gpusight::cli {
namespace {

// Servers bound the length of a request's head, our own at 16 KiB.
constexpr size_t kLongestTarget = 4096;

// A question that is too long for the address goes as a form.
platform::HttpRequest request_for(const std::string& target) {
  const size_t mark = target.find('?');
  if (target.size() <= kLongestTarget || mark == std::string::npos) return {.target = target};
  return {.target = target.substr(0, mark), .form = target.substr(mark + 1)};
}

// One question, with a socket that nobody listens at told as kNotFound.
Result<platform::HttpResponse> ask(const platform::HttpClient& client, const std::string& socket,
                                   const std::string& target, Duration deadline) {
  platform::HttpRequest request = request_for(target);
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
      TRY(ask(client, socket, "/api/gpusight/v1/snapshot", deadline));
  if (response.status != 200) {
    return Status(Code::kUnavailable, "it answers " + std::to_string(response.status) + " " +
                                          clean_text(response.body.substr(0, 200), 200));
  }
  return model::parse_snapshot_json(response.body);
}

Result<DaemonAnswer> ask_daemon(const platform::HttpClient& client,
                                std::span<const std::string> sockets, const std::string& target,
                                Duration deadline) {
  for (const std::string& socket : sockets) {
    Result<platform::HttpResponse> response = ask(client, socket, target, deadline);
    if (response.ok()) return DaemonAnswer{socket, std::move(response).value()};
    if (response.status().code() != Code::kNotFound) {
      return Status(response.status().code(), socket + ": " + response.status().message());
    }
  }
  return Status(Code::kNotFound, "no daemon");
}

}  // namespace gpusight::cli
