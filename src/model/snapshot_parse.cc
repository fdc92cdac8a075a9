// Reads a snapshot document, which may come from anyone.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/snapshot_json.h"

namespace gpusight::model {
namespace {

using nlohmann::json;

constexpr size_t kLongestDocument = 64 << 20;
constexpr double kLastSecond = 9e9;  // what a 64-bit count of nanoseconds holds
constexpr double kLargestWhole = 9007199254740992.0;
constexpr double kMostBytes = 281474976710656.0;  // of one process: 256 TiB
constexpr double kMostTotalBytes = 1e18;          // of all that a document may list

// Reads members of one object of the document; the first that does not fit is kept as the error.
class Fields {
 public:
  Fields(const json& object, std::string where, Status& status)
      : object_(object), where_(std::move(where)), status_(status) {
    if (!object.is_object()) fail("", "an object");
  }

  Fields object(std::string_view key) const { return {member(key), place(key), status_}; }

  bool has(std::string_view key) const { return !member(key).is_null(); }
  const json& member(std::string_view key) const {
    static const json kNull;
    if (!object_.is_object()) return kNull;
    const auto at = object_.find(key);
    return at == object_.end() ? kNull : *at;
  }

  // Empty if null or not there.
  std::string text(std::string_view key) const {
    const json& value = member(key);
    if (value.is_null()) return {};
    if (!value.is_string()) return fail(key, "a text"), std::string();
    return clean_text(value.get_ref<const std::string&>());
  }
  std::optional<double> number(std::string_view key, double least, double most) const {
    const json& value = member(key);
    if (value.is_null()) return std::nullopt;
    const double found = value.is_number() ? value.get<double>() : NAN;
    if (found >= least && found <= most) return found;
    fail(key, "a number from " + number_text(least) + " to " + number_text(most));
    return std::nullopt;
  }
  std::optional<uint64_t> whole(std::string_view key, double most = kLargestWhole) const {
    const auto found = number(key, 0, most);
    if (!found) return std::nullopt;
    if (*found == std::floor(*found)) return static_cast<uint64_t>(*found);
    fail(key, "a whole number");
    return std::nullopt;
  }
  std::optional<uint32_t> small(std::string_view key) const {
    const auto found = whole(key, 4294967295.0);
    return found ? std::optional(static_cast<uint32_t>(*found)) : std::nullopt;
  }
  bool flag(std::string_view key) const {
    const json& value = member(key);
    if (!value.is_null() && !value.is_boolean()) fail(key, "true or false");
    return value.is_boolean() && value.get<bool>();
  }
  WallTime time(std::string_view key) const {
    const double found = number(key, 0, kLastSecond).value_or(0);
    return WallTime(std::chrono::milliseconds(std::llround(found * 1000)));
  }

  // Calls visit(Fields) for every element; nothing for null.
  template <typename Visit>
  void each(std::string_view key, Visit visit) const {
    const json& list = member(key);
    if (list.is_null()) return;
    if (!list.is_array()) return fail(key, "a list");
    for (size_t i = 0; i < list.size() && status_.ok(); ++i) {
      visit(Fields(list[i], place(key) + "[" + std::to_string(i) + "]", status_));
    }
  }

  // The enumerator that `find` gives for the text of `key`; `fallback` and an error if none.
  template <typename E>
  E one_of(std::string_view key, std::optional<E> (*find)(std::string_view), E fallback) const {
    const auto found = find(text(key));
    if (!found) fail(key, "a value that this program knows");
    return found.value_or(fallback);
  }

  void fail(std::string_view key, std::string_view wanted) const {
    if (!status_.ok()) return;
    std::string message = "not a snapshot document: ";
    message += key.empty() ? (where_.empty() ? "the document" : where_) : place(key);
    message += " is not ";
    status_ = Status(Code::kCorrupt, message.append(wanted));
  }

 private:
  std::string place(std::string_view key) const {
    std::string path = where_.empty() ? "" : where_ + ".";
    return path.append(key);
  }

  const json& object_;
  std::string where_;
  Status& status_;
};

// The value of one series: `key` is what "reasons" and "stale" call it.
Value read_value(const Fields& subject, const json& number, const std::string& key) {
  const Fields reasons = subject.object("reasons");
  const json& reason_text = reasons.member(key);
  const Reason reason =
      reason_text.is_string()
          ? find_reason(reason_text.get_ref<const std::string&>()).value_or(Reason::kUnknown)
          : Reason::kUnknown;
  if (number.is_null()) return Value::absent(reason);
  if (!number.is_number()) {
    subject.object("metrics").fail(key, "a number or null");
    return Value::absent(reason);
  }
  const auto age = subject.object("stale").number(key, -1e6, 1e9);
  const MonoTime read_at{-from_seconds(age.value_or(0))};
  const Value value = Value::fresh(number.get<double>(), read_at, {}, 0);
  return age ? value.stale(reason) : value;
}

Samples read_samples(const Fields& subject, catalog::Scope scope) {
  Samples samples;
  const Fields metrics = subject.object("metrics");
  for (const catalog::MetricRow& row : catalog::metrics()) {
    if (row.scope != scope) continue;
    const std::string name(row.name);
    const json& found = metrics.member(name);
    if (!found.is_object()) {
      samples.push_back({row.id, "", read_value(subject, found, name)});
      continue;
    }
    if (row.label.empty()) metrics.fail(name, "a number or null");
    const size_t first = samples.size();
    for (const auto& [label, number] : found.items()) {
      std::string key = name;
      key.append("{").append(label).append("}");
      samples.push_back({row.id, clean_text(label), read_value(subject, number, key)});
    }
    // Cleaning may have changed the order and made labels equal.
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(first);
    std::stable_sort(begin, samples.end(),
                     [](const Sample& a, const Sample& b) { return a.label < b.label; });
    samples.erase(std::unique(begin, samples.end(),
                              [](const Sample& a, const Sample& b) { return a.label == b.label; }),
                  samples.end());
  }
  return samples;
}

Accounting read_accounting(const Fields& from) {
  constexpr double kMostSeconds = 1e10;
  return {.utilization_ratio = from.number("utilization_ratio", 0, 1),
          .memory_utilization_ratio = from.number("memory_utilization_ratio", 0, 1),
          .most_memory_bytes = from.number("most_memory_bytes", 0, kMostBytes),
          .seconds = from.number("seconds", 0, kMostSeconds)};
}

FrameworkUse read_framework(const Fields& from) {
  FrameworkUse told{.framework = from.text("name")};
  for (const FrameworkNumber& number : framework_numbers()) {
    told.*number.member = from.number(number.key, 0, number.most);
  }
  return told;
}

void read_owner(const Fields& from, Process& process) {
  constexpr double kMostThreads = UINT32_MAX;
  Owner& owner = process.owner;
  owner.state = from.one_of("owner", &find_owner_state, OwnerState::kPending);
  owner.user = from.text("user");
  owner.uid = from.small("uid");
  if (const auto started = from.number("started", 0, kLastSecond)) {
    owner.start_unix_ms = std::llround(*started * 1000);
  }
  const std::pair<const char*, std::string*> texts[] = {
      {"container", &owner.container},
      {"container_id", &owner.container_id},
      {"runtime", &owner.runtime},
      {"image", &owner.image},
      {"pod", &owner.pod},
      {"pod_namespace", &owner.pod_namespace},
      {"job", &owner.job},
      {"unit", &owner.unit},
      {"cgroup", &process.host.cgroup},
      {"arguments", &process.host.arguments},
  };
  for (const auto& [key, text] : texts) *text = from.text(key);
  process.host.cpu_ratio = from.number("host_cpu_ratio", 0, kMostThreads);
  process.host.memory_bytes = from.number("host_memory_bytes", 0, kMostTotalBytes);
  process.host.threads = from.small("threads");
  process.host.is_zombie = from.flag("zombie");
  const bool is_known = owner.state == OwnerState::kKnown;
  (is_known ? owner.command : process.driver_name) = from.text("name");
}

Process read_process(const Fields& from) {
  Process process;
  process.pid = static_cast<int64_t>(from.whole("pid").value_or(0));
  process.start_ticks = from.whole("start_ticks").value_or(0);
  process.type = from.one_of("type", &find_process_type, ProcessType::kCompute);
  const auto memory = from.whole("memory_bytes", kMostBytes);
  process.memory_bytes = memory ? Value::fresh(static_cast<double>(*memory), {}, {}, 0)
                                : Value::absent(Reason::kUnknown);
  process.protected_memory_bytes = from.number("protected_memory_bytes", 0, kMostBytes);
  const auto share = [&](const char* key) {
    const auto number = from.number(key, 0, 1);
    return number ? Value::fresh(*number, {}, {}, 0) : Value::absent(Reason::kUnknown);
  };
  process.utilization_ratio = share("utilization_ratio");
  process.memory_utilization_ratio = share("memory_utilization_ratio");
  process.encoder_utilization_ratio = share("encoder_utilization_ratio");
  process.decoder_utilization_ratio = share("decoder_utilization_ratio");
  if (from.has("accounting")) process.accounting = read_accounting(from.object("accounting"));
  process.gpu_instance = from.small("gpu_instance");
  process.compute_instance = from.small("compute_instance");
  read_owner(from, process);
  if (from.has("framework")) process.framework = read_framework(from.object("framework"));
  return process;
}

Holders read_holders(const Fields& from) {
  Holders holders{.is_partial = from.flag("partial")};
  from.each("processes", [&](const Fields& p) {
    Holder holder{.pid = static_cast<int64_t>(p.whole("pid").value_or(0))};
    holder.owner = {.state = OwnerState::kKnown,
                    .command = p.text("name"),
                    .uid = p.small("uid"),
                    .user = p.text("user")};
    holders.processes.push_back(std::move(holder));
  });
  // What the daemon hides is as good as not looked at.
  holders.is_partial |= from.whole("hidden").value_or(0) > 0;
  return holders;
}

Session read_session(const Fields& from) {
  constexpr double kMostFrames = 1e6;
  constexpr double kMostSeconds = 1e4;
  return {.kind = from.one_of("kind", &find_session_kind, SessionKind::kEncode),
          .pid = static_cast<int64_t>(from.whole("pid").value_or(0)),
          .codec = from.one_of("codec", &find_video_codec, VideoCodec::kUnknown),
          .width = from.small("width").value_or(0),
          .height = from.small("height").value_or(0),
          .frames_per_second = from.number("frames_per_second", 0, kMostFrames).value_or(0),
          .latency_seconds = from.number("latency_seconds", 0, kMostSeconds).value_or(0)};
}

// The document tells totals over all processes; what the listed ones do not explain is hidden.
std::vector<UserTotal> read_hidden_users(const Fields& from, const DeviceSnapshot& device) {
  std::vector<UserTotal> told;
  from.each("users", [&](const Fields& user) {
    const auto memory = user.whole("memory_bytes", kMostTotalBytes);
    UserTotal total{.user = user.text("user"),
                    .uid = user.small("uid"),
                    .processes = user.whole("processes").value_or(0)};
    if (memory) total.memory_bytes = static_cast<double>(*memory);
    add_to_totals(told, total);
  });
  const std::vector<UserTotal> listed = totals_by_user(device);
  std::vector<UserTotal> hidden;
  for (UserTotal& total : told) {
    const auto seen = std::ranges::find_if(
        listed, [&](const UserTotal& other) { return is_same_user(total, other); });
    if (seen != listed.end()) {
      total.processes -= std::min(total.processes, seen->processes);
      if (!total.memory_bytes || !seen->memory_bytes) {
        total.memory_bytes.reset();
      } else {
        *total.memory_bytes = std::max(0.0, *total.memory_bytes - *seen->memory_bytes);
      }
    }
    if (total.processes > 0) hidden.push_back(std::move(total));
  }
  return hidden;
}

std::shared_ptr<const Device> read_facts(const Fields& from) {
  Device device;
  device.uuid = from.text("uuid");
  if (device.uuid.empty()) from.fail("uuid", "a text");
  device.kind = from.one_of("kind", &find_device_kind, DeviceKind::kGpu);
  device.vendor = from.text("vendor");
  device.name = from.text("name");
  device.driver = from.text("driver");
  device.pci = from.text("pci");
  device.serial = from.text("serial");
  device.vbios = from.text("vbios");
  device.index = from.small("index");
  device.cuda_index = from.small("cuda_index");
  device.minor = from.small("minor");
  device.parent = from.text("parent");
  device.gpu_instance = from.small("gpu_instance");
  device.compute_instance = from.small("compute_instance");
  device.profile = from.text("profile");
  const json& facts = from.member("facts");
  if (!facts.is_null() && !facts.is_object()) from.fail("facts", "an object of texts");
  for (const auto& [name, text] : facts.items()) {
    if (!text.is_string()) continue;
    device.facts.emplace_back(clean_text(name), clean_text(text.get_ref<const std::string&>()));
  }
  return std::make_shared<const Device>(std::move(device));
}

DeviceSnapshot read_device(const Fields& from) {
  DeviceSnapshot device;
  device.device = read_facts(from);
  device.state = from.one_of("state", &find_device_state, DeviceState::kActive);
  device.state_since = from.time("state_since");
  device.samples = read_samples(from, catalog::Scope::kDevice);
  device.processes_known = from.has("processes");
  from.each("processes", [&](const Fields& p) { device.processes.push_back(read_process(p)); });
  device.processes_reason = find_reason(from.text("processes_reason")).value_or(Reason::kUnknown);
  device.hidden_users = read_hidden_users(from, device);
  if (from.has("holders")) device.holders = read_holders(from.object("holders"));
  from.each("sessions", [&](const Fields& s) { device.sessions.push_back(read_session(s)); });
  return device;
}

std::shared_ptr<const Topology> read_topology(const Fields& from) {
  if (!from.has("topology")) return nullptr;
  auto topology = std::make_shared<Topology>();
  const Fields whole = from.object("topology");
  whole.each("paths", [&](const Fields& path) {
    topology->paths.push_back({.from_uuid = path.text("from"),
                               .to_uuid = path.text("to"),
                               .kind = path.one_of("kind", &find_path_kind, PathKind::kUnknown),
                               .links = path.small("links").value_or(0)});
  });
  whole.each("places", [&](const Fields& place) {
    topology->places.push_back({.uuid = place.text("uuid"),
                                .numa_node = place.small("numa_node"),
                                .cpu_list = place.text("cpu_list")});
  });
  return topology;
}

SourceStatus read_source(const Fields& from) {
  SourceStatus source;
  source.name = from.text("name");
  source.phase = from.one_of("phase", &find_source_phase, SourcePhase::kStarting);
  source.simulated = from.flag("simulated");
  const catalog::MessageRow* message = catalog::find_message(from.text("message"));
  source.message = message == nullptr ? catalog::MessageId::kNone : message->id;
  for (const json& argument : from.member("arguments")) {
    if (!argument.is_string()) {
      from.fail("arguments", "a list of texts");
      break;
    }
    source.arguments.push_back(clean_text(argument.get_ref<const std::string&>()));
  }
  return source;
}

Snapshot read_snapshot(const Fields& from) {
  Snapshot snapshot;
  snapshot.sequence = from.whole("sequence").value_or(0);
  snapshot.wall = from.time("time");
  snapshot.interval = from_seconds(from.number("interval_seconds", 0, 86400).value_or(0));
  snapshot.simulated = from.flag("simulated");
  from.each("sources", [&](const Fields& s) { snapshot.sources.push_back(read_source(s)); });
  const Fields host = from.object("host");
  snapshot.host_name = host.text("name");
  snapshot.host = read_samples(host, catalog::Scope::kHost);
  snapshot.self = read_samples(from.object("self"), catalog::Scope::kSelf);
  from.each("devices", [&](const Fields& d) { snapshot.devices.push_back(read_device(d)); });
  snapshot.topology = read_topology(from);
  return snapshot;
}

}  // namespace

Result<Snapshot> parse_snapshot_json(std::string_view text) {
  if (text.size() > kLongestDocument) {
    return Status(Code::kExhausted, "the snapshot document is longer than 64 MiB");
  }
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return Status(Code::kCorrupt, "the snapshot document is not JSON");
  Status status;
  const Fields fields(document, "", status);
  if (!status.ok()) return status;
  const auto schema = fields.whole("schema");
  if (!schema) fields.fail("schema", "a whole number");
  if (schema && *schema != kSnapshotSchema) {
    return Status(Code::kUnsupported, "the snapshot document has schema " +
                                          std::to_string(*schema) + ", this program knows " +
                                          std::to_string(kSnapshotSchema));
  }
  for (const std::string_view key : {"sequence", "time", "devices"}) {
    if (!fields.has(key)) fields.fail(key, "there");
  }
  if (!status.ok()) return status;
  Snapshot snapshot = read_snapshot(fields);
  if (!status.ok()) return status;
  return snapshot;
}

}  // namespace gpusight::model
