// The one place that knows Beast's WebSocket.
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "serve/connection.h"

namespace gpusight::serve {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::awaitable;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr auto kTooSlow = static_cast<websocket::close_code>(4008);  // our own close code
constexpr size_t kLongestFromClient = 64 * 1024;
constexpr auto kHandshakeTime = std::chrono::seconds(10);
constexpr auto kSilence = std::chrono::seconds(30);  // half of it, then a ping; all of it: gone

class LiveSession {
 public:
  LiveSession(Socket socket, ConnectionContext context, Registry::Entry& entry)
      : stream_(std::move(socket)),
        context_(context),
        entry_(entry),
        wake_(stream_.get_executor(), asio::steady_timer::time_point::max()) {
    entry_.set_close([this] {
      error_code ignored;
      stream_.next_layer().close(ignored);
    });
  }

  awaitable<bool> accept(const HttpRequest& request) {
    entry_.expire_in(context_.limits.write_time);
    const int bytes = context_.limits.live_send_buffer;
    ::setsockopt(stream_.next_layer().native_handle(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    stream_.set_option(websocket::stream_base::timeout{
        .handshake_timeout = kHandshakeTime, .idle_timeout = kSilence, .keep_alive_pings = true});
    stream_.read_message_max(kLongestFromClient);
    stream_.auto_fragment(false);
    const auto [error] = co_await stream_.async_accept(request, kAwait);
    entry_.never_expire();
    co_return !error;
  }

  // Clients have nothing to say; reading answers their pings and hears them leave.
  awaitable<void> read_until_closed() {
    boost::beast::flat_buffer buffer;
    for (;;) {
      const auto [error, count] = co_await stream_.async_read(buffer, kAwait);
      if (error) co_return;
      buffer.consume(buffer.size());
    }
  }

  awaitable<void> write_until_closed(std::shared_ptr<LiveStream::Client> client) {
    while (!over_) {
      if (client->given_up()) {
        entry_.expire_in(context_.limits.write_time);
        co_await stream_.async_close(websocket::close_reason(kTooSlow, "too slow for the stream"),
                                     kAwait);
        break;
      }
      auto message = context_.live.next(*client);
      if (!message) {
        co_await wake_.async_wait(kAwait);
        continue;
      }
      if (!co_await write(*message)) break;
    }
    // Ends the reading side too, if it still waits.
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

  void wake() { wake_.cancel(); }
  void finish() {
    over_ = true;
    wake();
  }

 private:
  awaitable<bool> write(const LiveStream::Message& message) {
    stream_.binary(message.is_binary);
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(message.head),
                                                       asio::buffer(*message.rest)};
    entry_.expire_in(context_.limits.write_time);
    const auto [error, count] = co_await stream_.async_write(buffers, kAwait);
    entry_.never_expire();
    co_return !error;
  }

  websocket::stream<Socket> stream_;
  const ConnectionContext context_;
  Registry::Entry& entry_;
  asio::steady_timer wake_;
  bool over_ = false;
};

}  // namespace

awaitable<void> serve_websocket(Socket socket, HttpRequest request, model::Caller caller,
                                ConnectionContext context, Registry::Entry& entry) {
  LiveSession session(std::move(socket), context, entry);
  if (!co_await session.accept(request)) co_return;
  const auto client = context.live.join(std::move(caller), [&session] { session.wake(); });
  // The writer runs beside the reader; both use the session, so the reader waits for its end.
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer writer_ended(executor, asio::steady_timer::time_point::max());
  bool writing = true;
  asio::co_spawn(executor, session.write_until_closed(client), [&](std::exception_ptr) {
    writing = false;
    writer_ended.cancel();
  });
  co_await session.read_until_closed();
  session.finish();
  while (writing) co_await writer_ended.async_wait(kAwait);
  context.live.leave(client);
}

}  // namespace gpusight::serve
