// One connection: requests of HTTP/1.1 one after the other, or the live stream.
//
// Only server.cc, connection.cc and websocket.cc include this: it brings Asio and Beast's parser.
// Everything runs on the server's thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>

#include "base/clock.h"
#include "model/caller.h"
#include "serve/api.h"
#include "serve/live.h"
#include "serve/registry.h"
#include "serve/work_pool.h"

namespace gpusight::serve {

// One type for TCP and Unix sockets: what is built on it is compiled once.
using Socket = boost::asio::generic::stream_protocol::socket;
using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;

struct ConnectionLimits {
  size_t target_bytes = size_t{12} << 10;  // a query may be asked by GET
  uint32_t header_bytes = 16 * 1024;
  uint64_t body_bytes = uint64_t{64} << 10;
  Duration request_time = std::chrono::seconds(10);  // for a whole request, from its first byte
  Duration idle_time = std::chrono::seconds(75);     // between requests: longer than a usual scrape
  Duration write_time = std::chrono::seconds(30);    // for one answer or message
  Duration answer_time = std::chrono::seconds(125);  // for making it: longer than queries may take
  int live_send_buffer = 256 * 1024;                 // what the kernel holds for a live client
};

// What connections need; outlives them.
struct ConnectionContext {
  Api& api;
  WorkPool& pool;
  LiveStream& live;
  Registry& registry;
  const Clock& clock;
  const ConnectionLimits& limits;
};

struct Peer {
  model::Caller caller;
  bool is_local_socket = false;
};

boost::asio::awaitable<void> serve_connection(Socket socket, Peer peer, ConnectionContext context);

// The request asked for the stream and may have it. `entry` is the connection's.
boost::asio::awaitable<void> serve_websocket(Socket socket, HttpRequest request,
                                             model::Caller caller, ConnectionContext context,
                                             Registry::Entry& entry);

}  // namespace gpusight::serve
