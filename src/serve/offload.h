// Waiting on the server's thread for an answer that another thread makes.
//
// Only server.cc and connection.cc include this: it brings Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "serve/connection.h"
#include "serve/http_message.h"
#include "serve/work_pool.h"

namespace gpusight::serve {

// Runs `work` on the pool and gives what it answered; refuses with 503 when too many wait already.
// What the client sends meanwhile goes into `buffer`. nullopt, and the work is asked to stop, when
// the client has gone. Work that has not answered after `patience` is left behind: 503.
boost::asio::awaitable<std::optional<Response>> answer_elsewhere(
    Socket& socket, std::string& buffer, WorkPool& pool, Response::Work work, Duration patience);

}  // namespace gpusight::serve
