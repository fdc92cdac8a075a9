// Asking the daemon over its local socket.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "model/snapshot.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// kNotFound: no daemon listens at this socket (none there, nobody behind it, not ours to open).
// Everything else is a daemon that is there and does not answer as it should.
Result<model::Snapshot> fetch_from_daemon(const platform::HttpClient& client,
                                          const std::string& socket,
                                          Duration deadline = std::chrono::seconds(3));

// The first of the sockets that a daemon listens at, asked for `target`; kNotFound if none does.
struct DaemonAnswer {
  std::string socket;
  platform::HttpResponse response;
};
Result<DaemonAnswer> ask_daemon(const platform::HttpClient& client,
                                std::span<const std::string> sockets, const std::string& target,
                                Duration deadline = std::chrono::seconds(3));
// The same with POST.
Result<DaemonAnswer> tell_daemon(const platform::HttpClient& client,
                                 std::span<const std::string> sockets, const std::string& target,
                                 Duration deadline = std::chrono::seconds(3));

}  // namespace gpusight::cli
