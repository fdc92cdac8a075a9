#include "serve/offload.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

#include "base/log.h"
#include "serve/prom_json.h"

namespace gpusight::serve {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
// Of requests sent ahead; beyond it nobody looks whether the client is still there.
constexpr size_t kMostSentAhead = 64 * 1024;

// Between the thread that works and the server's. All of it belongs to the server's: the other one
// only posts.
struct Pending {
  Pending(const asio::any_io_executor& executor, Duration patience) : wake(executor, patience) {}

  void ring() { wake.cancel(); }

  asio::steady_timer wake;
  std::optional<Response> answer;
  bool is_watched = false;     // the socket, for what the client sends
  bool has_something = false;  // it sent something, or left
};

// Out of memory, mostly: the question is lost, the others go on.
Response run(const Response::Work& work, const std::stop_token& stop) {
  try {
    return work(stop);
  } catch (const std::exception& e) {
    log::error("a query failed: {}", e.what());
    return prom_error(PromError::kInternal, "the query failed; the log says why");
  }
}

WorkPool::Job job_of(Response::Work work, asio::any_io_executor executor,
                     std::shared_ptr<Pending> pending) {
  return [work = std::move(work), executor = std::move(executor),
          pending = std::move(pending)](const std::stop_token& stop) {
    asio::post(executor, [pending, answer = run(work, stop)]() mutable {
      pending->answer = std::move(answer);
      pending->ring();
    });
  };
}

void watch(Socket& socket, const std::shared_ptr<Pending>& pending) {
  pending->is_watched = true;
  socket.async_wait(Socket::wait_read, [pending](const error_code&) {
    pending->is_watched = false;
    pending->has_something = true;
    pending->ring();
  });
}

// What has arrived; false when the client has gone.
bool take_in(Socket& socket, std::string& buffer) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::recv(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count > 0) buffer.append(bytes.data(), static_cast<size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

// Until there is an answer, or the client has gone, or patience is at its end.
awaitable<bool> wait_for_answer(Socket& socket, std::string& buffer,
                                std::shared_ptr<Pending> pending) {
  for (;;) {
    if (std::exchange(pending->has_something, false) && !take_in(socket, buffer)) co_return false;
    if (pending->answer) co_return true;
    if (!pending->is_watched && buffer.size() < kMostSentAhead) watch(socket, pending);
    const auto [error] = co_await pending->wake.async_wait(kAwait);
    if (!error) co_return true;  // it was not rung
  }
}

}  // namespace

awaitable<std::optional<Response>> answer_elsewhere(Socket& socket, std::string& buffer,
                                                    WorkPool& pool, Response::Work work,
                                                    Duration patience) {
  const auto executor = co_await asio::this_coro::executor;
  const auto pending = std::make_shared<Pending>(executor, patience);
  auto stop = pool.submit(job_of(std::move(work), executor, pending));
  if (!stop) {
    Response busy = prom_error(PromError::kUnavailable, "too many queries wait already; ask later");
    busy.headers.emplace_back("Retry-After", "1");
    co_return busy;
  }
  const bool is_there = co_await wait_for_answer(socket, buffer, pending);
  if (pending->is_watched) {
    error_code ignored;
    socket.cancel(ignored);
  }
  if (is_there && pending->answer) co_return std::move(pending->answer);
  stop->request_stop();
  if (!is_there) co_return std::nullopt;
  co_return prom_error(PromError::kTimeout, "the query does not end; it was left behind");
}

}  // namespace gpusight::serve
