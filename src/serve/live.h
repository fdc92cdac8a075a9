// The live stream: what each client is sent, and when. Knows no sockets.
//
// One thread: the server's. What is the same for clients with the same rights is made once a tick
// and shared. Clients are owned by whoever serves their connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "model/caller.h"
#include "sample/hub.h"
#include "serve/gzip.h"
#include "serve/live_queue.h"
#include "store/event_log.h"
#include "store/head.h"

namespace gpusight::serve {

class LiveStream {
 public:
  // All pointers outlive the stream; head and events may be nullptr.
  struct Options {
    const sample::SnapshotHub* hub = nullptr;
    const store::Head* head = nullptr;
    const store::EventLog* events = nullptr;
    const Clock* clock = nullptr;
    std::string version;
    LiveLimits limits;
  };

  class Client {
   public:
    bool given_up() const { return queue_.given_up(); }

   private:
    friend class LiveStream;
    Client(model::Caller caller, std::function<void()> wake, const LiveLimits& limits);

    const model::Caller caller_;
    const std::string rights_;          // equal for callers who are shown the same
    const std::function<void()> wake_;  // there is something to send
    LiveQueue queue_;
    uint64_t next_n_ = 0;
  };

  struct Message {
    bool is_binary = false;
    std::string head;  // this client's own, sent before the rest
    std::shared_ptr<const std::string> rest;
  };

  explicit LiveStream(Options options) : options_(std::move(options)) {}

  std::shared_ptr<Client> join(model::Caller caller, std::function<void()> wake);
  void leave(const std::shared_ptr<Client>& client);
  // The next message, numbered; nullopt when there is none yet.
  std::optional<Message> next(Client& client);

  // The hub, or the log, has something new.
  void on_snapshot();
  void on_events();

  // Of these three any thread may ask.
  uint64_t client_count() const { return client_count_; }
  uint64_t clearings() const { return clearings_; }
  uint64_t given_up() const { return given_up_; }

 private:
  using SharedText = std::shared_ptr<const std::string>;

  void push(Client& client, LiveQueue::Item item, MonoTime now);
  SharedText snapshot_message(Client& client);
  const GzipPiece& snapshot_piece(const Client& client);
  const GzipPiece& head_piece();

  const Options options_;
  std::set<std::shared_ptr<Client>> clients_;
  model::SnapshotPtr current_ = std::make_shared<const model::Snapshot>();
  uint64_t last_event_ = 0;
  std::atomic<uint64_t> client_count_{0};
  std::atomic<uint64_t> clearings_{0};
  std::atomic<uint64_t> given_up_{0};
  // Made of `current_`, for the next client that begins at this tick.
  std::map<std::string, GzipPiece> snapshot_pieces_;  // by rights
  std::optional<GzipPiece> head_piece_;
};

}  // namespace gpusight::serve
