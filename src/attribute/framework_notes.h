// What processes tell of themselves from inside their framework, kept until the next tick shows it
// beside what the driver knows of them.
//
// A message is JSON lines, one a device and one for what is of no device:
//
//   {"framework":"pytorch","device":"GPU-…","allocated_bytes":6.4e9,"reserved_bytes":2.1e10}
//   {"framework":"pytorch","step_seconds":0.31,"data_wait_ratio":0.04}
//
// `device` is a uuid (with or without "GPU-"), a PCI address, or left out; the other members are
// those of model::FrameworkUse. A line without a device is of the process: its numbers stand on
// each of its rows, but its memory only where the process uses one device. A line takes the place
// of the one before it about the same device.
//
// A process speaks of itself only: who sends is told by the kernel (SO_PEERCRED), a line that names
// a pid is refused. What was told counts for kTrustedFor, and for that process only: its start time
// is read with the message, so that a pid used again does not inherit it.
//
// Bad lines are refused with what is wrong and where, and the whole message with them. Bounded:
// kMaxLines of kMaxLineBytes a message, kBurst messages of a user at once and kMessagesPerSecond
// after that, kMaxProcesses in all and kMaxDevices of each.
//
// Any thread; a message costs one small file of /proc and the parsing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/annotations.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/caller.h"
#include "model/snapshot.h"
#include "platform/root_fs.h"

namespace gpusight::attribute {

class FrameworkNotes {
 public:
  static constexpr size_t kMaxLines = 65;
  static constexpr size_t kMaxLineBytes = 2048;
  static constexpr size_t kMaxProcesses = 1024;
  static constexpr size_t kMaxDevices = 64;
  static constexpr double kMessagesPerSecond = 50;
  static constexpr double kBurst = 200;
  static constexpr Duration kTrustedFor = std::chrono::seconds(60);

  // The clock outlives the table.
  FrameworkNotes(platform::RootFs root, const Clock* clock);

  // kInvalidArgument: the text; kExhausted: too many messages, or too many processes;
  // kNotFound: the sender is not to be seen in our /proc.
  Status take(const model::LocalUser& sender, std::string_view lines);

  void add_to(model::Snapshot& snapshot) const;

 private:
  struct Note {
    std::string device;  // as told, without "GPU-" and in lower case; empty: of no device
    model::FrameworkUse use;
    MonoTime told_at{};
  };
  struct Teller {
    uint64_t start_ticks = 0;
    std::vector<Note> notes;
    MonoTime told_at{};
  };
  struct Allowance {
    double messages = kBurst;
    MonoTime at{};
  };

  bool may_speak(uint32_t uid, MonoTime now) REQUIRES(mutex_);
  Teller* teller_of(int64_t pid, uint64_t start_ticks, MonoTime now) REQUIRES(mutex_);
  void forget_old(MonoTime now) REQUIRES(mutex_);

  const platform::RootFs root_;
  const Clock* const clock_;
  mutable Mutex mutex_;
  std::map<int64_t, Teller> tellers_ GUARDED_BY(mutex_);
  std::map<uint32_t, Allowance> allowances_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::attribute
