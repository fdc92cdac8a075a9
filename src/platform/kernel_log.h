// The kernel's own log, /dev/kmsg below a RootFs: what is logged from the moment of opening on, one
// message at a time, without ever waiting. Reading it needs CAP_SYSLOG where the machine restricts
// it (kernel.dmesg_restrict); then open() says kPermissionDenied.
//
// Not thread-safe. Texts are as the kernel wrote them: whoever shows them cleans them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "platform/root_fs.h"

namespace gpusight::platform {

struct KernelMessage {
  uint64_t sequence = 0;
  std::chrono::microseconds at{};  // since the machine started, by the kernel's own clock
  std::string text;                // one line
};

// "6,1234,5678901,-;text": level and facility, sequence, microseconds, flags, text. nullopt for
// what is no such line, and for the lines of properties that follow a message.
std::optional<KernelMessage> parse_kernel_message(std::string_view line);

class KernelLog {
 public:
  static Result<KernelLog> open(const RootFs& root);

  // At most `most` messages that came since the last time.
  std::vector<KernelMessage> read(size_t most);
  // How many messages the kernel had overwritten before they were read.
  uint64_t lost() const { return lost_; }

 private:
  explicit KernelLog(UniqueFd fd) : fd_(std::move(fd)) {}

  bool fill();
  void count_lost(const KernelMessage& message);

  UniqueFd fd_;
  std::string rest_;                       // read, and not yet a whole line
  std::optional<uint64_t> next_sequence_;  // after the last message
  uint64_t lost_ = 0;
};

}  // namespace gpusight::platform
