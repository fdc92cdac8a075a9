// The devices this machine is known to have: what should be there, across restarts. A device that
// is known and not there is one to ask after.
//
// Not thread-safe: one owner, the sampling control thread. The file is JSON, `schema` 1:
//   {"schema": 1, "devices": [{"uuid": "GPU-…", "kind": "gpu", …, "last_seen_ms": 1767225600000}]}
// What a device does not have is left out. It is replaced as a whole or not at all, and readable by
// its owner only. A MIG device that is gone while its GPU is there was taken down on purpose and is
// forgotten; one that is gone with its GPU is missed like any other.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/device.h"
#include "model/snapshot.h"

namespace gpusight::store {

// More than any machine has; beyond it the one not seen for longest goes, counted and said once.
inline constexpr size_t kMaxKnownDevices = 1024;
// A device not seen for this long was taken away.
inline constexpr Duration kForgetDeviceAfter = std::chrono::hours(24 * 90);

struct Known {
  model::Device device;  // as last seen
  WallTime last_seen{};  // to the millisecond

  bool operator==(const Known&) const = default;
};

// The text of an inventory file. kCorrupt when it is none, kUnsupported when its schema is newer.
// Texts in it are cleaned; a device without uuid makes the file corrupt.
Result<std::vector<Known>> parse_inventory(std::string_view text);
std::string inventory_text(const std::vector<Known>& known);
// What a file tells; nothing where there is none. Any thread.
Result<std::vector<Known>> read_inventory(const std::string& path);

class Inventory {
 public:
  // Reads `path`; a missing file is an empty inventory. Never fails: load_status() tells what was
  // wrong, once logged as well. A file that is corrupt or of a newer schema is renamed to
  // PATH.bad; one that cannot be read stays and is not overwritten either.
  static Inventory load(std::string path, WallTime now);

  // Sees what the snapshot says is there, and forgets MIG devices that its GPUs no longer have.
  // Devices known by their place on the bus alone are left out: it is not who they are.
  void note(const model::Snapshot& snapshot);
  void seen(const model::Device& device, WallTime now);
  // By uuid.
  std::vector<Known> known() const;
  // Drops what was not seen for kForgetDeviceAfter; load() and seen() do it too.
  void expire(WallTime now);

  // Whether the file says something else than known(); times of sight count once they are an hour
  // off, so that seeing the same devices each second is not a write each second.
  bool needs_save() const { return needs_save_; }
  // Replaces the file. On failure the old file stands, and needs_save() stays true.
  Status save();

  const Status& load_status() const { return load_status_; }
  uint64_t crowded_out() const { return crowded_out_; }

 private:
  struct Entry {
    Known known;
    WallTime saved_seen{};  // what the file says
  };

  explicit Inventory(std::string path) : path_(std::move(path)) {}
  void read_file();
  void set_aside(const Status& why);
  void make_room();

  std::string path_;
  std::map<std::string, Entry, std::less<>> entries_;  // by uuid
  Status load_status_;
  bool may_overwrite_ = true;
  bool needs_save_ = false;
  uint64_t crowded_out_ = 0;
};

}  // namespace gpusight::store
