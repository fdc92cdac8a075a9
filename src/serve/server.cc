#include "serve/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>

#include "base/log.h"
#include "serve/connection.h"
#include "serve/info_series.h"
#include "serve/listener.h"

namespace gpusight::serve {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr auto kPauseWithoutDescriptors = std::chrono::milliseconds(200);

// A socket that accepts, and how many of its connections are open.
struct Door {
  Door(asio::io_context& io, UniqueFd fd, int family_in, bool is_local)
      : descriptor(io, fd.release()), family(family_in), is_local_socket(is_local) {}

  asio::posix::stream_descriptor descriptor;
  const int family;
  const bool is_local_socket;
};

// Nobody waits for this client: what it sent is taken in so that closing does not wipe out the
// answer.
void refuse_connection(int fd) {
  constexpr std::string_view kAnswer =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\n"
      "Connection: close\r\n\r\n";
  std::array<char, 4096> ignored{};
  for (int i = 0; i < 16; ++i) {
    if (::recv(fd, ignored.data(), ignored.size(), MSG_DONTWAIT) <= 0) break;
  }
  (void)::send(fd, kAnswer.data(), kAnswer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(fd, SHUT_WR);
}

std::vector<model::Device> devices_of(const model::Snapshot& snapshot) {
  std::vector<model::Device> devices;
  for (const model::DeviceSnapshot& of : snapshot.devices) devices.push_back(*of.device);
  return devices;
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        series_(options_.history != nullptr ? options_.history : options_.head,
                [hub = options_.hub] { return devices_of(*hub->latest()); }),
        api_(
            {.hub = options_.hub,
             .events = options_.events,
             .clock = options_.clock,
             .version = options_.version,
             .assets = options_.assets,
             .metrics_names = options_.metrics_names,
             .series = options_.history != nullptr || options_.head != nullptr ? &series_ : nullptr,
             .query_limits = options_.query_limits,
             .release = options_.release,
             .tell = options_.tell}),
        live_({.hub = options_.hub,
               .head = options_.head,
               .events = options_.events,
               .clock = options_.clock,
               .version = options_.version,
               .limits = options_.live}),
        registry_(*options_.clock),
        pool_(options_.query_threads) {
    limits_.request_time = options_.request_time;
    limits_.answer_time = options_.answer_time;
    limits_.live_send_buffer = options_.live_send_buffer;
  }

  ~Impl() {
    options_.hub->unsubscribe(hub_subscription_);
    if (options_.events != nullptr) options_.events->unsubscribe(event_subscription_);
  }

  Status open() {
    for (const std::string& address : options_.listen) {
      TcpListener listener = TRY(listen_tcp(address, options_.lang));
      const int family = listener.address.starts_with('[') ? AF_INET6 : AF_INET;
      addresses_.push_back(listener.address);
      doors_.emplace_back(io_, std::move(listener.fd), family, false);
    }
    if (!options_.socket_path.empty()) TRY(open_socket());
    subscribe();
    return {};
  }

  void run() {
    for (Door& door : doors_) asio::co_spawn(io_, accept(door), asio::detached);
    asio::co_spawn(io_, sweep(), asio::detached);
    io_.run();
  }

  // The listeners close at once, so that another daemon may start; what is under way is cut off.
  void stop() {
    pool_.stop();
    asio::post(io_, [this] {
      for (Door& door : doors_) {
        error_code ignored;
        door.descriptor.close(ignored);
      }
      registry_.close_all();
      io_.stop();
    });
  }

  bool wait_for_queries(Duration patience) { return pool_.wait_until_idle(patience); }

  const std::vector<std::string>& addresses() const { return addresses_; }
  const std::string& socket_path() const { return socket_path_; }
  const std::string& no_socket_because() const { return no_socket_because_; }

  ServerFigures figures() const {
    return {.connections = open_by_tcp_ + open_by_socket_,
            .live_clients = live_.client_count(),
            .refused_connections = refused_,
            .live_clearings = live_.clearings(),
            .live_given_up = live_.given_up()};
  }

 private:
  Status open_socket() {
    auto socket = UnixListener::create(options_.socket_path, options_.lang);
    if (socket.ok()) {
      socket_.emplace(std::move(socket).value());
      socket_path_ = options_.socket_path;
      doors_.emplace_back(io_, socket_->take_fd(), AF_UNIX, true);
      return {};
    }
    const bool is_place_bad = socket.status().code() == Code::kIo;
    if (!is_place_bad || options_.socket == Options::Socket::kNeeded) return socket.status();
    no_socket_because_ = socket.status().message();
    return {};
  }

  // Publishers only leave word; a burst of it is one call on our thread, for the newest.
  void subscribe() {
    hub_subscription_ = options_.hub->subscribe([this](const model::SnapshotPtr&) {
      if (snapshot_waits_.exchange(true)) return;
      asio::post(io_, [this] {
        snapshot_waits_ = false;
        live_.on_snapshot();
      });
    });
    if (options_.events == nullptr) return;
    event_subscription_ = options_.events->subscribe([this](const model::Event&) {
      if (event_waits_.exchange(true)) return;
      asio::post(io_, [this] {
        event_waits_ = false;
        live_.on_events();
      });
    });
  }

  awaitable<void> accept(Door& door) {
    for (;;) {
      const auto [error] =
          co_await door.descriptor.async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
      if (error) co_return;
      const int last_error = take_waiting(door);
      if (last_error != EMFILE && last_error != ENFILE && last_error != ENOMEM) continue;
      faults_.report("accept", "no descriptors are left for connections");
      asio::steady_timer pause(io_, kPauseWithoutDescriptors);
      co_await pause.async_wait(kAwait);
    }
  }

  // Accepts what waits; the error that ended it.
  int take_waiting(Door& door) {
    for (;;) {
      UniqueFd fd(::accept4(door.descriptor.native_handle(), nullptr, nullptr,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd.valid()) return errno;
      std::atomic<uint64_t>& open = door.is_local_socket ? open_by_socket_ : open_by_tcp_;
      if (open >= options_.max_connections) {
        ++refused_;
        faults_.report("connections", "the bound of open connections is reached");
        refuse_connection(fd.get());
        continue;
      }
      start(door, std::move(fd), open);
    }
  }

  void start(const Door& door, UniqueFd fd, std::atomic<uint64_t>& open) {
    Peer peer{.is_local_socket = door.is_local_socket};
    if (door.is_local_socket) {
      peer.caller = unix_peer(fd.get());
    } else {
      const int on = 1;
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    error_code error;
    Socket socket(io_);
    const asio::generic::stream_protocol protocol(door.family,
                                                  door.is_local_socket ? 0 : IPPROTO_TCP);
    socket.assign(protocol, fd.get(), error);
    if (error) return;
    fd.release();  // the socket's now
    ++open;
    const ConnectionContext context{api_, pool_, live_, registry_, *options_.clock, limits_};
    asio::co_spawn(io_, serve_connection(std::move(socket), std::move(peer), context),
                   [this, &open](const std::exception_ptr& failure) {
                     --open;
                     if (failure) report(failure);
                   });
  }

  // Out of memory, mostly: one connection is lost, the others go on.
  void report(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      faults_.report("connection", e.what());
    }
  }

  awaitable<void> sweep() {
    asio::steady_timer timer(io_);
    for (;;) {
      timer.expires_after(options_.sweep_interval);
      co_await timer.async_wait(kAwait);
      registry_.sweep();
      if (open_by_tcp_ < options_.max_connections) faults_.clear("connections");
    }
  }

  const Options options_;
  const InfoSeries series_;
  ConnectionLimits limits_;
  Api api_;
  LiveStream live_;
  Registry registry_;
  log::FaultLog faults_;
  std::vector<std::string> addresses_;
  std::optional<UnixListener> socket_;
  std::string socket_path_;
  std::string no_socket_because_;

  std::atomic<bool> snapshot_waits_{false};
  std::atomic<bool> event_waits_{false};
  std::atomic<uint64_t> open_by_tcp_{0};
  std::atomic<uint64_t> open_by_socket_{0};
  std::atomic<uint64_t> refused_{0};
  uint64_t hub_subscription_ = 0;
  uint64_t event_subscription_ = 0;

  // After all that connections use: destroying it ends those that still stand.
  asio::io_context io_{1};
  std::list<Door> doors_;
  WorkPool pool_;  // posts to io_, and is joined before that goes
};

Result<std::unique_ptr<Server>> Server::create(Options options) {
  CHECK(options.hub != nullptr && options.clock != nullptr, "a server needs a hub and a clock");
  auto impl = std::make_unique<Impl>(std::move(options));
  TRY(impl->open());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

void Server::run() { impl_->run(); }
void Server::stop() { impl_->stop(); }
bool Server::wait_for_queries(Duration patience) { return impl_->wait_for_queries(patience); }
const std::vector<std::string>& Server::addresses() const { return impl_->addresses(); }
const std::string& Server::socket_path() const { return impl_->socket_path(); }
const std::string& Server::no_socket_because() const { return impl_->no_socket_because(); }
ServerFigures Server::figures() const { return impl_->figures(); }

}  // namespace gpusight::serve
