#include "store/inventory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "base/fd.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/text.h"

namespace gpusight::store {
namespace {

using nlohmann::json;

constexpr int64_t kSchema = 1;
// 1024 devices at their longest (nine texts of 256 bytes, escaped) stay below this.
constexpr size_t kMaxFileBytes = size_t{16} << 20;
constexpr Duration kSeenDrift = std::chrono::hours(1);

Status io_error(int error, std::string_view doing, std::string_view path) {
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return {denied ? Code::kPermissionDenied : Code::kIo,
          fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(error))};
}

WallTime from_milliseconds(int64_t ms) { return WallTime(std::chrono::milliseconds(ms)); }

// Members of a JSON object; what is missing leaves its target alone, a wrong type is a fault.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  void text(const char* name, std::string& target) {
    const auto at = object_.find(name);
    if (at == object_.end()) return;
    if (!at->is_string()) return fail(name);
    target = clean_text(at->get_ref<const std::string&>());
  }
  void number(const char* name, std::optional<uint32_t>& target) {
    const auto at = object_.find(name);
    if (at == object_.end()) return;
    if (!at->is_number_unsigned() || at->get<uint64_t>() > UINT32_MAX) return fail(name);
    target = static_cast<uint32_t>(at->get<uint64_t>());
  }
  void time(const char* name, WallTime& target) {
    // Nanoseconds since 1970 in 64 bits end in the year 2262.
    constexpr int64_t kLargestMs = INT64_MAX / 1000000;
    const auto at = object_.find(name);
    if (at == object_.end() || !at->is_number_unsigned()) return fail(name);
    if (at->get<uint64_t>() > static_cast<uint64_t>(kLargestMs)) return fail(name);
    target = from_milliseconds(at->get<int64_t>());
  }
  void fail(const char* name) {
    if (fault_.empty()) fault_ = name;
  }
  const std::string& fault() const { return fault_; }

 private:
  const json& object_;
  std::string fault_;
};

Result<Known> parse_known(const json& object) {
  if (!object.is_object()) return Status(Code::kCorrupt, "a device is not an object");
  Known known;
  model::Device& device = known.device;
  Fields fields(object);
  fields.text("uuid", device.uuid);
  if (device.uuid.empty()) fields.fail("uuid");
  std::string kind;
  fields.text("kind", kind);
  if (const auto found = model::find_device_kind(kind)) {
    device.kind = *found;
  } else {
    fields.fail("kind");
  }
  fields.text("vendor", device.vendor);
  fields.text("name", device.name);
  fields.text("driver", device.driver);
  fields.text("pci", device.pci);
  fields.text("serial", device.serial);
  fields.text("vbios", device.vbios);
  fields.number("index", device.index);
  fields.number("cuda_index", device.cuda_index);
  fields.number("minor", device.minor);
  fields.text("parent", device.parent);
  fields.number("gpu_instance", device.gpu_instance);
  fields.number("compute_instance", device.compute_instance);
  fields.text("profile", device.profile);
  fields.time("last_seen_ms", known.last_seen);
  if (!fields.fault().empty()) {
    return Status(Code::kCorrupt,
                  fmt::format("a device's \"{}\" is missing or no such thing", fields.fault()));
  }
  return known;
}

void write_known(JsonWriter& writer, const Known& known) {
  const auto text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) writer.key(name).string(value);
  };
  const auto number = [&](std::string_view name, std::optional<uint32_t> value) {
    if (value) writer.key(name).integer(*value);
  };
  const model::Device& device = known.device;
  writer.begin_object();
  text("uuid", device.uuid);
  text("kind", model::device_kind_key(device.kind));
  text("vendor", device.vendor);
  text("name", device.name);
  text("driver", device.driver);
  text("pci", device.pci);
  text("serial", device.serial);
  text("vbios", device.vbios);
  number("index", device.index);
  number("cuda_index", device.cuda_index);
  number("minor", device.minor);
  text("parent", device.parent);
  number("gpu_instance", device.gpu_instance);
  number("compute_instance", device.compute_instance);
  text("profile", device.profile);
  writer.key("last_seen_ms").integer(std::max<int64_t>(0, unix_milliseconds(known.last_seen)));
  writer.end_object();
}

// nullopt: there is no such file.
Result<std::optional<std::string>> read_whole(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
  if (!fd.valid()) return io_error(errno, "open", path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_error(errno, "look at", path);
  if (!S_ISREG(info.st_mode)) {
    return Status(Code::kIo, fmt::format("{} is not a regular file", path));
  }
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(errno, "read", path);
    if (got == 0) return std::optional(std::move(text));
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kMaxFileBytes) {
      return Status(Code::kCorrupt, fmt::format("{} is larger than any inventory", path));
    }
  }
}

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error(errno, "write", path);
    text.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

// Names in a directory last only once the directory itself is on disk. A file system that cannot
// do that is no reason to call a write failed that has happened.
void sync_directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) (void)::fsync(fd.get());
}

Status replace_file(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!fd.valid()) return io_error(errno, "create a file beside", path);
  Status status = write_all(fd.get(), text, temporary);
  if (status.ok() && ::fsync(fd.get()) != 0) status = io_error(errno, "write", temporary);
  // Some file systems tell of a full disk only here.
  if (::close(fd.release()) != 0 && status.ok()) status = io_error(errno, "write", temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = io_error(errno, "replace", path);
  }
  if (status.ok()) {
    sync_directory_of(path);
  } else {
    ::unlink(temporary.c_str());
  }
  return status;
}

}  // namespace

Result<std::vector<Known>> parse_inventory(std::string_view text) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Status(Code::kCorrupt, "it is not a JSON object");
  const auto schema = document.find("schema");
  if (schema == document.end() || !schema->is_number_unsigned()) {
    return Status(Code::kCorrupt, "it has no schema number");
  }
  if (schema->get<uint64_t>() != kSchema) {
    return Status(Code::kUnsupported, fmt::format("its schema is {}, this version reads {}",
                                                  schema->get<uint64_t>(), kSchema));
  }
  const auto devices = document.find("devices");
  if (devices == document.end() || !devices->is_array()) {
    return Status(Code::kCorrupt, "it has no list of devices");
  }
  std::vector<Known> known;
  for (const json& device : *devices) known.push_back(TRY(parse_known(device)));
  return known;
}

std::string inventory_text(const std::vector<Known>& known) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("schema").integer(kSchema).key("devices").begin_array();
  for (const Known& one : known) write_known(writer, one);
  writer.end_array().end_object();
  text += '\n';
  return text;
}

Inventory Inventory::load(std::string path, WallTime now) {
  Inventory inventory(std::move(path));
  inventory.read_file();
  inventory.make_room();
  inventory.expire(now);
  return inventory;
}

Result<std::vector<Known>> read_inventory(const std::string& path) {
  const auto text = TRY(read_whole(path));
  return text ? parse_inventory(*text) : std::vector<Known>();
}

void Inventory::read_file() {
  const Result<std::optional<std::string>> text = read_whole(path_);
  if (!text.ok() && text.status().code() != Code::kCorrupt) {
    load_status_ = text.status();
    may_overwrite_ = false;
    log::warning("inventory of devices: {}; it is left as it is", load_status_.message());
    return;
  }
  if (!text.ok()) return set_aside(text.status());
  if (!*text) return;
  Result<std::vector<Known>> known = parse_inventory(**text);
  if (!known.ok()) {
    return set_aside({known.status().code(),
                      fmt::format("{} cannot be used: {}", path_, known.status().message())});
  }
  for (Known& one : *known) {
    std::string uuid = one.device.uuid;
    const WallTime last_seen = one.last_seen;
    entries_.insert_or_assign(std::move(uuid), Entry{std::move(one), last_seen});
  }
}

void Inventory::set_aside(const Status& why) {
  load_status_ = why;
  const std::string aside = path_ + ".bad";
  if (::rename(path_.c_str(), aside.c_str()) == 0) {
    log::warning("inventory of devices: {}; kept as {}", why.message(), aside);
    return;
  }
  may_overwrite_ = false;
  log::warning("inventory of devices: {}; {}", why.message(),
               io_error(errno, "rename it to", aside).message());
}

void Inventory::note(const model::Snapshot& snapshot) {
  std::set<std::string_view> listed;
  std::set<std::string_view> there;
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    const std::string& uuid = device.device->uuid;
    listed.insert(uuid);
    if (device.state == model::DeviceState::kLost || uuid.starts_with("PCI-")) continue;
    there.insert(uuid);
    seen(*device.device, snapshot.wall);
  }
  const size_t gone = std::erase_if(entries_, [&](const auto& entry) {
    return !listed.contains(entry.first) && there.contains(entry.second.known.device.parent);
  });
  if (gone > 0) needs_save_ = true;
}

void Inventory::seen(const model::Device& device, WallTime now) {
  if (device.uuid.empty()) return;
  const WallTime seen_at = std::chrono::floor<std::chrono::milliseconds>(now);
  const auto [at, is_new] = entries_.try_emplace(device.uuid);
  Entry& entry = at->second;
  if (is_new || entry.known.device != device) needs_save_ = true;
  entry.known.device = device;
  entry.known.last_seen = seen_at;
  // Both ways: the clock may have been set back.
  if (std::chrono::abs(seen_at - entry.saved_seen) >= kSeenDrift) needs_save_ = true;
  if (is_new) make_room();
  expire(now);
}

std::vector<Known> Inventory::known() const {
  std::vector<Known> known;
  known.reserve(entries_.size());
  for (const auto& [uuid, entry] : entries_) known.push_back(entry.known);
  return known;
}

void Inventory::expire(WallTime now) {
  const size_t gone = std::erase_if(entries_, [&](const auto& entry) {
    return now - entry.second.known.last_seen > kForgetDeviceAfter;
  });
  if (gone > 0) needs_save_ = true;
}

void Inventory::make_room() {
  if (entries_.size() <= kMaxKnownDevices) return;
  using Place = decltype(entries_)::iterator;
  std::vector<Place> places;
  for (auto at = entries_.begin(); at != entries_.end(); ++at) places.push_back(at);
  const size_t excess = entries_.size() - kMaxKnownDevices;
  std::ranges::nth_element(places, places.begin() + static_cast<std::ptrdiff_t>(excess), {},
                           [](Place at) { return at->second.known.last_seen; });
  for (size_t i = 0; i < excess; ++i) entries_.erase(places[i]);
  needs_save_ = true;
  if (crowded_out_ == 0) {
    log::warning("inventory of devices: more than {}; those not seen for longest are forgotten",
                 kMaxKnownDevices);
  }
  crowded_out_ += excess;
}

Status Inventory::save() {
  if (!may_overwrite_) {
    return {load_status_.code(), fmt::format("{} is not overwritten because it could not be read "
                                             "or kept aside: {}",
                                             path_, load_status_.message())};
  }
  TRY(replace_file(path_, inventory_text(known())));
  for (auto& [uuid, entry] : entries_) entry.saved_seen = entry.known.last_seen;
  needs_save_ = false;
  return {};
}

}  // namespace gpusight::store
