#include "serve/connection.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "serve/offload.h"

namespace gpusight::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::awaitable;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr size_t kReadBytes = 4096;
constexpr unsigned kClosed = 0;  // instead of a status: there is nobody to answer

using Parser = http::request_parser<http::string_body>;

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

unsigned status_of(error_code error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

std::string_view complaint(unsigned status) {
  switch (status) {
    case 413: return "the body of the request is too long";
    case 414: return "the target of the request is too long";
    case 431: return "the headers of the request are too long";
    default: return "the request is not HTTP";
  }
}

// Appends what arrives to `buffer`; false when the connection is over.
awaitable<bool> read_some(Socket& socket, std::string& buffer) {
  const size_t before = buffer.size();
  buffer.resize(before + kReadBytes);
  const auto [error, count] =
      co_await socket.async_read_some(asio::buffer(buffer.data() + before, kReadBytes), kAwait);
  buffer.resize(before + (error ? 0 : count));
  co_return !error;
}

awaitable<bool> write_all(Socket& socket, std::string_view head, std::string_view body) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head), asio::buffer(body)};
  const auto [error, count] = co_await asio::async_write(socket, buffers, kAwait);
  co_return !error;
}

bool waits_for_continue(const Parser& parser) {
  return parser.is_header_done() &&
         boost::beast::iequals(parser.get()[http::field::expect], "100-continue");
}

class Session {
 public:
  Session(Socket socket, Peer peer, ConnectionContext context)
      : socket_(std::move(socket)),
        peer_(std::move(peer)),
        context_(context),
        entry_(context.registry, [this] { close(); }) {}

  awaitable<void> run() {
    entry_.expire_in(context_.limits.request_time);
    for (;;) {
      Parser parser;
      parser.eager(true);
      parser.header_limit(context_.limits.header_bytes);
      parser.body_limit(context_.limits.body_bytes);
      const unsigned status = co_await read_request(parser);
      if (status == kClosed) co_return;
      if (status != 200) {
        co_await refuse(status);
        co_return;
      }
      HttpRequest http_request = parser.release();
      Request request = translate(http_request);
      auto target = parse_target(text_of(http_request.target()));
      if (target.ok()) request.target = std::move(*target);
      Response response = target.ok()
                              ? context_.api.handle(request)
                              : error_response(400, "bad_request", target.status().message());
      if (response.work) {
        entry_.never_expire();  // the query has a time limit of its own
        auto made = co_await answer_elsewhere(
            socket_, buffer_, context_.pool, std::move(response.work), context_.limits.answer_time);
        if (!made) co_return;
        response = std::move(*made);
      }
      if (response.status == 101) {
        if (!buffer_.empty()) co_return;  // nobody may speak before the handshake is answered
        co_await serve_websocket(std::move(socket_), std::move(http_request), peer_.caller,
                                 context_, entry_);
        co_return;
      }
      const bool goes_on = http_request.keep_alive();
      if (!co_await write(response, request.method == "HEAD", goes_on)) co_return;
      if (!goes_on) {
        co_await linger();
        co_return;
      }
      entry_.expire_in(buffer_.empty() ? context_.limits.idle_time : context_.limits.request_time);
    }
  }

 private:
  void close() {
    error_code ignored;
    socket_.close(ignored);
  }

  // 200 and a whole request, another status to refuse it with, or kClosed.
  awaitable<unsigned> read_request(Parser& parser) {
    bool told_to_continue = false;
    while (!parser.is_done()) {
      if (!parser.got_some()) skip_empty_lines();
      if (!buffer_.empty()) {
        error_code error;
        const size_t used = parser.put(asio::buffer(buffer_), error);
        buffer_.erase(0, used);
        if (error && error != http::error::need_more) co_return status_of(error);
        if (parser.is_done()) break;
        if (waits_for_continue(parser) && !std::exchange(told_to_continue, true)) {
          if (!co_await write_all(socket_, "HTTP/1.1 100 Continue\r\n\r\n", "")) co_return kClosed;
        }
      }
      const bool is_first = buffer_.empty() && !parser.got_some();
      if (!co_await read_some(socket_, buffer_)) co_return kClosed;
      if (is_first) entry_.expire_in(context_.limits.request_time);
    }
    co_return parser.get().target().size() > context_.limits.target_bytes ? 414U : 200U;
  }

  // What some clients send behind a body; RFC 9112 has a server pass over it (section 2.2).
  void skip_empty_lines() {
    size_t used = 0;
    while (std::string_view(buffer_).substr(used).starts_with("\r\n")) used += 2;
    buffer_.erase(0, used);
  }

  Request translate(const HttpRequest& from) const {
    Request request;
    request.method = text_of(from.method_string());
    request.caller = peer_.caller;
    request.is_local_socket = peer_.is_local_socket;
    request.host_count = from.count(http::field::host);
    request.host = text_of(from[http::field::host]);
    request.has_origin = from.count(http::field::origin) > 0;
    request.origin = text_of(from[http::field::origin]);
    request.is_upgrade = boost::beast::websocket::is_upgrade(from);
    request.accept = text_of(from[http::field::accept]);
    request.accept_encoding = text_of(from[http::field::accept_encoding]);
    request.if_none_match = text_of(from[http::field::if_none_match]);
    request.content_type = text_of(from[http::field::content_type]);
    request.body = from.body();
    return request;
  }

  awaitable<bool> write(const Response& response, bool head_only, bool goes_on) {
    entry_.expire_in(context_.limits.write_time);
    const std::string date = http_date(unix_milliseconds(context_.clock.wall()) / 1000);
    const std::string head =
        response_head(response, date, goes_on ? AfterResponse::kKeepOpen : AfterResponse::kClose);
    co_return co_await write_all(socket_, head,
                                 head_only ? std::string_view() : response.body.bytes);
  }

  awaitable<void> refuse(unsigned status) {
    const Response response = error_response(status, "bad_request", complaint(status));
    if (co_await write(response, false, false)) co_await linger();
  }

  // Takes in what is still on its way, so that closing does not wipe out the answer.
  awaitable<void> linger() {
    constexpr size_t kMostReads = 64;
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    entry_.expire_in(std::chrono::seconds(1));
    for (size_t i = 0; i < kMostReads; ++i) {
      buffer_.clear();
      if (!co_await read_some(socket_, buffer_)) co_return;
    }
  }

  Socket socket_;
  const Peer peer_;
  const ConnectionContext context_;
  Registry::Entry entry_;
  std::string buffer_;  // received and not parsed yet
};

}  // namespace

awaitable<void> serve_connection(Socket socket, Peer peer, ConnectionContext context) {
  Session session(std::move(socket), std::move(peer), context);
  co_await session.run();
}

}  // namespace gpusight::serve
