// The daemon's door: HTTP on this machine's loopback and on a Unix socket, one thread for all of
// it.
//
// create() opens every socket or says what is in the way; run() serves on the calling thread until
// stop(). stop() and the figures may be asked for from any thread. Answers come from the published
// Snapshot: nothing here waits for a driver, and a slow client only hurts itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "catalog/metric.h"
#include "export/prometheus/name_set.h"
#include "sample/hub.h"
#include "serve/assets.h"
#include "serve/live_queue.h"
#include "serve/prom_api.h"
#include "serve/work_pool.h"
#include "store/event_log.h"
#include "store/head.h"

namespace gpusight::serve {

// Since the start, but what is open now.
struct ServerFigures {
  uint64_t connections = 0;          // open now
  uint64_t live_clients = 0;         // of these
  uint64_t refused_connections = 0;  // over the bound
  uint64_t live_clearings = 0;       // queues of clients that fell behind
  uint64_t live_given_up = 0;        // clients closed with 4008
};

class Server {
 public:
  // Everything pointed to outlives the server.
  struct Options {
    std::vector<std::string> listen = {"127.0.0.1:9780"};  // loopback only; port 0: any free one
    std::string socket_path;                               // empty: no Unix socket
    // Whether the server does without a socket whose place cannot be written. One that somebody
    // else answers at is a refusal in any case.
    enum class Socket : uint8_t { kNeeded, kIfPossible } socket = Socket::kNeeded;
    sample::SnapshotHub* hub = nullptr;
    const store::Head* head = nullptr;  // nullptr: the live stream begins without the past
    store::EventLog* events = nullptr;  // nullptr: there are no events
    const Clock* clock = nullptr;
    std::string version;
    catalog::Lang lang = catalog::Lang::kEnglish;  // of the refusals of create()
    std::span<const Asset> assets = web_assets();
    prometheus::NameSets metrics_names = {};  // of /metrics when a request names none
    // What /api/v1 answers from; nullptr: from the head. A query gets so much of the machine.
    const model::Queryable* history = nullptr;
    promql::QueryLimits query_limits = PromApi::Options{}.limits;
    WorkPool::Options query_threads;
    std::function<WallTime(Duration)> release = {};  // as the Api has them
    std::function<Status(const model::LocalUser&, std::string_view lines)> tell = {};
    Duration answer_time = std::chrono::seconds(125);  // then nobody waits for a query any more

    size_t max_connections = 256;  // by TCP, and as many by the Unix socket
    LiveLimits live;
    int live_send_buffer = 256 * 1024;
    Duration request_time = std::chrono::seconds(10);
    Duration sweep_interval = std::chrono::seconds(1);
  };

  static Result<std::unique_ptr<Server>> create(Options options);
  ~Server();

  void run();
  void stop();
  // Whether no query runs any more, after at most `patience`: after stop(). Where it is false one
  // hangs in the disk and still uses the server, so the process must leave by _exit.
  bool wait_for_queries(Duration patience);

  const std::vector<std::string>& addresses() const;  // as bound: "127.0.0.1:9780"
  const std::string& socket_path() const;             // empty: there is none
  const std::string& no_socket_because() const;       // empty: there is one, or none was asked for
  ServerFigures figures() const;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpusight::serve
