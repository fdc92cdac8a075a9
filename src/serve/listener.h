// Sockets that listen: on this machine's loopback, and in the file system.
//
// Plain descriptors, non-blocking, closed on exec. Every refusal is a sentence for the user that
// says what to do, in the language asked for.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "catalog/message.h"
#include "model/caller.h"

namespace gpusight::serve {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
};

// "127.0.0.1:9780", "localhost:0", "[::1]:9780". Refuses what is not this machine's loopback:
// beyond it nobody may listen without TLS and tokens.
Result<Endpoint> parse_listen_address(std::string_view text, catalog::Lang lang);

struct TcpListener {
  UniqueFd fd;
  std::string address;  // as bound: "127.0.0.1:9780"
};
Result<TcpListener> listen_tcp(std::string_view text, catalog::Lang lang);

// The socket's file goes when the listener goes, if it is still the one it made.
class UnixListener {
 public:
  // Makes the directory if it is missing (open to all for root, else to the user alone). A file
  // that a dead process left behind is replaced; one that somebody answers at is left alone.
  static Result<UnixListener> create(const std::string& path, catalog::Lang lang);
  UnixListener() = default;
  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  int fd() const { return fd_.get(); }
  UniqueFd take_fd() { return std::move(fd_); }
  const std::string& path() const { return path_; }

 private:
  UnixListener(UniqueFd fd, std::string path, uint64_t inode)
      : fd_(std::move(fd)), path_(std::move(path)), inode_(inode) {}

  UniqueFd fd_;
  std::string path_;
  uint64_t inode_ = 0;
};

// Who is at the other end, as the kernel tells: root and the daemon's own user are admins, others
// see what is theirs. Anonymous if the kernel does not tell.
model::Caller unix_peer(int fd);

}  // namespace gpusight::serve
