#include "platform/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"

namespace gpusight::platform {
namespace {

// A record is at most 8 KiB (CONSOLE_EXT_LOG_MAX); one that is longer than the buffer is refused by
// the kernel and skipped.
constexpr size_t kBufferBytes = 16384;
constexpr size_t kLongestRest = 65536;  // of a file that has no line breaks

}  // namespace

std::optional<KernelMessage> parse_kernel_message(std::string_view line) {
  const size_t semicolon = line.find(';');
  if (line.empty() || line.front() == ' ' || semicolon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto parts = split(line.substr(0, semicolon), ',');
  if (parts.size() < 3) return std::nullopt;
  const auto sequence = parse_uint(parts[1]);
  const auto at = parse_uint(parts[2]);
  if (!parse_uint(parts[0]) || !sequence || !at || *at > INT64_MAX) return std::nullopt;
  return KernelMessage{.sequence = *sequence,
                       .at = std::chrono::microseconds(*at),
                       .text = std::string(line.substr(semicolon + 1))};
}

Result<KernelLog> KernelLog::open(const RootFs& root) {
  const std::string path = root.real_path("/dev/kmsg");
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    const bool refused = errno == EACCES || errno == EPERM;
    return Status(refused ? Code::kPermissionDenied : Code::kNotFound, "cannot open " + path);
  }
  if (::lseek(fd.get(), 0, SEEK_END) < 0 && errno != ESPIPE) {
    return Status(Code::kIo, path + " has no end");
  }
  return KernelLog(std::move(fd));
}

// Reads once; false when there is nothing more now.
bool KernelLog::fill() {
  std::array<char, kBufferBytes> buffer;
  const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
  if (got > 0) {
    if (rest_.size() > kLongestRest) rest_.clear();
    rest_.append(buffer.data(), static_cast<size_t>(got));
    return true;
  }
  if (got < 0 && errno == EPIPE) {  // overwritten; the next read goes on with the oldest there is
    return true;
  }
  return got < 0 && (errno == EINTR || errno == EINVAL);  // EINVAL: a record that is too long
}

// The kernel numbers its messages one by one: a gap is what was overwritten.
void KernelLog::count_lost(const KernelMessage& message) {
  if (next_sequence_ && message.sequence > *next_sequence_) {
    lost_ += message.sequence - *next_sequence_;
  }
  next_sequence_ = message.sequence + 1;
}

std::vector<KernelMessage> KernelLog::read(size_t most) {
  std::vector<KernelMessage> messages;
  // What cannot be parsed counts too, or a stream of it would keep us here.
  for (size_t tries = 0; messages.size() < most && tries < 2 * most; ++tries) {
    const size_t end = rest_.find('\n');
    if (end == std::string::npos) {
      if (!fill()) break;
      continue;
    }
    if (auto message = parse_kernel_message(std::string_view(rest_).substr(0, end))) {
      count_lost(*message);
      messages.push_back(std::move(*message));
    }
    rest_.erase(0, end + 1);
  }
  return messages;
}

}  // namespace gpusight::platform
