// What NVIDIA's kernel module writes to the kernel log: XID errors (some of which the driver's
// event interface never delivers), GPUs that fell off the bus, and errors of NVSwitches.
//
// NvrmParser belongs to one reader of the log: one message may stretch over several lines. XidMerge
// is locked and lives as long as the program, so that what was told before a driver was opened anew
// is not told again.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/annotations.h"
#include "base/clock.h"
#include "platform/kernel_log.h"

namespace gpusight::collect::nvml {

// A number beyond it is garbage, by whichever way it comes: those of GPUs have three digits, those
// of NVSwitches five.
inline constexpr int64_t kHighestXid = 65'535;

// By which way one hears of an XID error. The kernel module tells of some twice: by a line with the
// number, and in words without one.
enum class XidWay : uint8_t { kDriver, kNumber, kWords };

struct NvrmMessage {
  enum class Kind : uint8_t { kXid, kNvswitch };
  Kind kind = Kind::kXid;
  XidWay way = XidWay::kNumber;
  std::string pci;  // "0000:9b:00.0"
  int64_t code = 0;
  std::optional<int64_t> pid;
  std::string process;  // cleaned, as all texts
  std::string text;
};

class NvrmParser {
 public:
  // What a line of the log completes, if anything.
  std::optional<NvrmMessage> parse(std::string_view line);

 private:
  std::string falling_;  // the address of a message about a GPU that stretches over lines
};

// Tells whether an XID is news: what is heard of one and the same error by several ways is one.
// Errors that are told twice by the same way are two.
class XidMerge {
 public:
  bool is_news(const std::string& uuid, int64_t code, XidWay way, MonoTime now) EXCLUDES(mutex_);

 private:
  // The ways lie some hundred milliseconds apart, more when the driver is in trouble.
  static constexpr Duration kApart = std::chrono::seconds(5);
  static constexpr size_t kMost = 1024;

  struct Told {
    unsigned ways;  // a bit each
    MonoTime at;
  };
  Mutex mutex_;
  std::map<std::pair<std::string, int64_t>, std::deque<Told>> told_ GUARDED_BY(mutex_);
};

// The messages of the kernel's log, from the moment of opening on, and what was made of them.
// Locked: the lane of a generation that ends and that of the next may meet.
class NvrmWatch {
 public:
  // Opens the log unless it is open. True when it can be read.
  bool open(const platform::RootFs& root) EXCLUDES(mutex_);
  bool is_open() const EXCLUDES(mutex_);
  // What came since the last time.
  std::vector<NvrmMessage> read() EXCLUDES(mutex_);
  // How many lines, since the last time, the kernel had overwritten before they were read.
  uint64_t take_lost() EXCLUDES(mutex_);

  XidMerge& merge() { return merge_; }

 private:
  mutable Mutex mutex_;
  std::optional<platform::KernelLog> log_ GUARDED_BY(mutex_);
  NvrmParser parser_ GUARDED_BY(mutex_);
  uint64_t told_lost_ GUARDED_BY(mutex_) = 0;
  bool has_said_refused_ GUARDED_BY(mutex_) = false;
  XidMerge merge_;
};

}  // namespace gpusight::collect::nvml
