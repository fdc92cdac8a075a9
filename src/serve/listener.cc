#include "serve/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace gpusight::serve {
namespace {

using catalog::Lang;
using catalog::MessageId;

constexpr int kBacklog = 128;
constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

Status refuse(Code code, MessageId id, Lang lang, std::initializer_list<std::string> arguments) {
  const std::vector<std::string> list(arguments);
  return {code, catalog::format_message(id, lang, list)};
}

std::string error_text(int error) { return std::generic_category().message(error); }

Status listen_failed(Lang lang, std::string_view what, std::string why) {
  return refuse(Code::kIo, MessageId::kListenFailed, lang, {std::string(what), std::move(why)});
}

Endpoint endpoint_v4(in_addr address, uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr = address;
  Endpoint endpoint{.length = sizeof v4};
  std::memcpy(&endpoint.address, &v4, sizeof v4);
  return endpoint;
}

Endpoint endpoint_v6(const in6_addr& address, uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = address;
  Endpoint endpoint{.length = sizeof v6};
  std::memcpy(&endpoint.address, &v6, sizeof v6);
  return endpoint;
}

std::string bound_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &storage, sizeof v6);
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int bind_unix(int fd, const std::string& path) {
  const sockaddr_un address = unix_address(path);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::bind(fd, generic, sizeof address) == 0 ? 0 : errno;
}

// Whether somebody accepts connections there.
bool answers(const std::string& path) {
  const UniqueFd probe(::socket(AF_UNIX, kSocketFlags, 0));
  const sockaddr_un address = unix_address(path);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  // EAGAIN: a queue of waiting connections is full, so there is somebody.
  return ::connect(probe.get(), generic, sizeof address) == 0 || errno == EAGAIN;
}

Status make_directory(const std::string& path, Lang lang) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (parent.empty() || std::filesystem::is_directory(parent, error)) return {};
  std::filesystem::create_directories(parent.parent_path(), error);
  const mode_t mode = ::geteuid() == 0 ? 0755 : 0700;
  if (::mkdir(parent.c_str(), mode) == 0) {
    ::chmod(parent.c_str(), mode);  // whatever the umask; never one that somebody else made
  } else if (errno != EEXIST) {
    return listen_failed(lang, path, error_text(errno));
  }
  return {};
}

// Removes what a dead process left behind; refuses to touch anything else.
Status remove_leftover(const std::string& path, Lang lang) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) return listen_failed(lang, path, error_text(EEXIST));
  if (answers(path)) return refuse(Code::kUnavailable, MessageId::kSocketInUse, lang, {path});
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return listen_failed(lang, path, error_text(errno));
  }
  return {};
}

}  // namespace

Result<Endpoint> parse_listen_address(std::string_view text, Lang lang) {
  const auto bad = [&](std::string_view why) {
    return refuse(Code::kInvalidArgument, MessageId::kUsageBadValue, lang,
                  {"--listen", clean_text(text), std::string(why)});
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad("HOST:PORT");
  const auto port = parse_uint(text.substr(colon + 1));
  const bool is_number =
      text.substr(colon + 1).find_first_not_of("0123456789") == std::string_view::npos;
  if (!port || !is_number || *port > 65535) return bad("PORT: 0-65535");
  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  const auto number = static_cast<uint16_t>(*port);
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    if (ntohl(v4.s_addr) >> 24 == 127) return endpoint_v4(v4, number);
    return refuse(Code::kUnavailable, MessageId::kListenNotLoopback, lang, {host});
  }
  in6_addr v6{};
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed && inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1) {
    if (IN6_IS_ADDR_LOOPBACK(&v6)) return endpoint_v6(v6, number);
    return refuse(Code::kUnavailable, MessageId::kListenNotLoopback, lang, {host});
  }
  return bad("127.0.0.1:9780, localhost:9780, [::1]:9780");
}

Result<TcpListener> listen_tcp(std::string_view text, Lang lang) {
  const Endpoint endpoint = TRY(parse_listen_address(text, lang));
  UniqueFd fd(::socket(endpoint.address.ss_family, kSocketFlags, 0));
  if (!fd.valid()) return listen_failed(lang, text, error_text(errno));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (endpoint.address.ss_family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const auto* generic = reinterpret_cast<const sockaddr*>(&endpoint.address);
  if (::bind(fd.get(), generic, endpoint.length) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    const int error = errno;
    if (error != EADDRINUSE) return listen_failed(lang, text, error_text(error));
    return refuse(Code::kUnavailable, MessageId::kListenInUse, lang, {std::string(text)});
  }
  std::string address = bound_address(fd.get());
  return TcpListener{.fd = std::move(fd), .address = std::move(address)};
}

Result<UnixListener> UnixListener::create(const std::string& path, Lang lang) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
    return listen_failed(lang, path, error_text(ENAMETOOLONG));
  }
  TRY(make_directory(path, lang));
  UniqueFd fd(::socket(AF_UNIX, kSocketFlags, 0));
  if (!fd.valid()) return listen_failed(lang, path, error_text(errno));
  int error = bind_unix(fd.get(), path);
  if (error == EADDRINUSE) {
    TRY(remove_leftover(path, lang));
    error = bind_unix(fd.get(), path);
  }
  if (error == 0 && ::listen(fd.get(), kBacklog) != 0) error = errno;
  if (error != 0) return listen_failed(lang, path, error_text(error));
  ::chmod(path.c_str(), 0666);  // who may see what is decided by who connects
  struct stat made {};
  const uint64_t inode = ::lstat(path.c_str(), &made) == 0 ? made.st_ino : 0;
  return UnixListener(std::move(fd), path, inode);
}

UnixListener::~UnixListener() {
  struct stat found {};
  if (path_.empty() || ::lstat(path_.c_str(), &found) != 0) return;
  if (found.st_ino == inode_) ::unlink(path_.c_str());
}

model::Caller unix_peer(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  constexpr auto kNobody = static_cast<uid_t>(-1);  // what sockets of other families tell
  const int result = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
  if (result != 0 || peer.uid == kNobody) return {};
  const bool is_admin = peer.uid == 0 || peer.uid == ::geteuid();
  return {.identity = model::LocalUser{.uid = peer.uid, .pid = peer.pid},
          .role = is_admin ? model::Role::kAdmin : model::Role::kOwn};
}

}  // namespace gpusight::serve
