// A plain client for the tests: blocking sockets, HTTP as text, WebSocket frames by hand. It shares
// nothing with the server, so that both cannot be wrong alike.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpusight::serve {

class TestClient {
 public:
  struct Reply {
    int status = 0;
    std::string head;
    std::map<std::string, std::string> headers;  // lower-case names
    std::string body;
  };
  struct Frame {
    int opcode = 0;  // 1 text, 2 binary, 8 close
    std::string payload;
  };

  // "127.0.0.1:PORT" or a path.
  explicit TestClient(const std::string& address, int receive_buffer = 0) {
    const bool is_path = address.starts_with('/');
    fd_.reset(::socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{.tv_sec = 10};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (receive_buffer > 0) {
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    if (is_path) {
      sockaddr_un to{.sun_family = AF_UNIX};
      std::memcpy(to.sun_path, address.data(), address.size());
      connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    } else {
      sockaddr_in to{.sin_family = AF_INET};
      to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }
  }

  bool connected() const { return connected_; }

  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<size_t>(sent));
    }
  }

  // nullopt: the server closed the connection, or is silent.
  std::optional<Reply> read_reply(std::string_view method = "GET") {
    while (received_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return std::nullopt;
    }
    Reply reply;
    const size_t end = received_.find("\r\n\r\n") + 4;
    reply.head = received_.substr(0, end);
    received_.erase(0, end);
    reply.status = std::stoi(reply.head.substr(9, 3));
    for (size_t at = reply.head.find("\r\n") + 2; at + 2 < reply.head.size();) {
      const size_t line_end = reply.head.find("\r\n", at);
      const size_t colon = reply.head.find(": ", at);
      std::string name = reply.head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      reply.headers[name] = reply.head.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    const auto length = reply.headers.find("content-length");
    if (method == "HEAD" || length == reply.headers.end()) return reply;
    const size_t size = std::stoul(length->second);
    while (received_.size() < size) {
      if (!receive()) return std::nullopt;
    }
    reply.body = received_.substr(0, size);
    received_.erase(0, size);
    return reply;
  }

  std::optional<Reply> request(std::string_view method, std::string_view target,
                               std::string_view headers = "Host: localhost\r\n") {
    std::string text(method);
    text.append(" ").append(target).append(" HTTP/1.1\r\n").append(headers).append("\r\n");
    send(text);
    return read_reply(method);
  }
  std::optional<Reply> get(std::string_view target,
                           std::string_view headers = "Host: localhost\r\n") {
    return request("GET", target, headers);
  }

  std::optional<Reply> upgrade(std::string_view headers = "Host: localhost\r\n") {
    return get("/api/gpusight/v1/live",
               std::string(headers) +
                   "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  }

  // nullopt: closed without a close frame, or silent.
  std::optional<Frame> read_frame() {
    if (!want(2)) return std::nullopt;
    Frame frame{.opcode = received_[0] & 15};
    uint64_t length = received_[1] & 127;
    size_t header = 2;
    if (length >= 126) {
      const size_t bytes = length == 126 ? 2 : 8;
      if (!want(2 + bytes)) return std::nullopt;
      length = 0;
      for (size_t i = 0; i < bytes; ++i) {
        length = length << 8 | static_cast<uint8_t>(received_[2 + i]);
      }
      header += bytes;
    }
    if (!want(header + length)) return std::nullopt;
    frame.payload = received_.substr(header, length);
    received_.erase(0, header + length);
    return frame;
  }

  void send_frame(int opcode, std::string_view payload) {
    std::string frame;
    frame += static_cast<char>(0x80 | opcode);
    frame += static_cast<char>(0x80 | payload.size());  // short ones only, masked with zeros
    frame.append(4, '\0').append(payload);
    send(frame);
  }

  // True once the server has closed.
  bool at_end() {
    while (receive()) received_.clear();
    return ended_;
  }

 private:
  bool want(size_t size) {
    while (received_.size() < size) {
      if (!receive()) return false;
    }
    return true;
  }
  bool receive() {
    char buffer[16384];
    const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    ended_ = count == 0 || (count < 0 && errno != EAGAIN);
    if (count <= 0) return false;
    received_.append(buffer, static_cast<size_t>(count));
    return true;
  }

  UniqueFd fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

inline int close_code(const TestClient::Frame& frame) {
  if (frame.opcode != 8 || frame.payload.size() < 2) return 0;
  return static_cast<uint8_t>(frame.payload[0]) << 8 | static_cast<uint8_t>(frame.payload[1]);
}

}  // namespace gpusight::serve
