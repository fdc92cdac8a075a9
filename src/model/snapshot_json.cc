#include "model/snapshot_json.h"

#include <algorithm>
#include <cmath>

#include "model/snapshot_json_parts.h"
#include "model/unexplained.h"

namespace gpusight::model {
namespace parts {
namespace {

void append_number_or_null(JsonWriter& w, std::optional<double> number) {
  if (number) {
    w.number(*number);
  } else {
    w.null();
  }
}

template <typename T>
void append_integer_or_null(JsonWriter& w, const std::optional<T>& number) {
  if (number) {
    w.integer(static_cast<int64_t>(*number));
  } else {
    w.null();
  }
}

void append_users(JsonWriter& w, const DeviceSnapshot& device) {
  w.key("users").begin_array();
  for (const UserTotal& total : totals_by_user(device)) {
    w.begin_object().key("user").string(total.user).key("uid");
    append_integer_or_null(w, total.uid);
    w.key("processes").integer(static_cast<int64_t>(total.processes)).key("memory_bytes");
    append_number_or_null(w, total.memory_bytes);
    w.end_object();
  }
  w.end_array();
}

// The driver's name stands in where ours cannot be trusted or is not there.
const std::string& process_name(const Process& process) {
  const bool is_ours = process.owner.state == OwnerState::kKnown && !process.owner.command.empty();
  return is_ours ? process.owner.command : process.driver_name;
}

void append_accounting(JsonWriter& w, const std::optional<Accounting>& accounting) {
  w.key("accounting");
  if (!accounting) {
    w.null();
    return;
  }
  w.begin_object();
  append_number_or_null(w.key("utilization_ratio"), accounting->utilization_ratio);
  append_number_or_null(w.key("memory_utilization_ratio"), accounting->memory_utilization_ratio);
  append_number_or_null(w.key("most_memory_bytes"), accounting->most_memory_bytes);
  append_number_or_null(w.key("seconds"), accounting->seconds);
  w.end_object();
}

void append_framework(JsonWriter& w, const std::optional<FrameworkUse>& told) {
  w.key("framework");
  if (!told) {
    w.null();
    return;
  }
  w.begin_object().key("name").string(told->framework);
  for (const FrameworkNumber& number : framework_numbers()) {
    append_number_or_null(w.key(number.key), (*told).*number.member);
  }
  w.end_object();
}

// Where it belongs, and what it takes of the host.
void append_owner(JsonWriter& w, const Process& process) {
  const Owner& owner = process.owner;
  w.key("name").string(process_name(process)).key("user").string(owner.user).key("uid");
  append_integer_or_null(w, owner.uid);
  w.key("owner").string(owner_state_key(owner.state)).key("started");
  append_number_or_null(w, owner.start_unix_ms
                               ? std::optional(static_cast<double>(*owner.start_unix_ms) / 1000)
                               : std::nullopt);
  const std::pair<std::string_view, const std::string*> texts[] = {
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
  for (const auto& [key, text] : texts) w.key(key).string(*text);
  append_number_or_null(w.key("host_cpu_ratio"), process.host.cpu_ratio);
  append_number_or_null(w.key("host_memory_bytes"), process.host.memory_bytes);
  w.key("threads");
  append_integer_or_null(w, process.host.threads);
  w.key("zombie").boolean(process.host.is_zombie);
}

void append_process(JsonWriter& w, const Process& process) {
  w.begin_object().key("pid").integer(process.pid);
  w.key("start_ticks").integer(static_cast<int64_t>(process.start_ticks));
  w.key("type").string(process_type_key(process.type)).key("memory_bytes");
  append_number_or_null(w, process.memory_bytes.number());
  append_number_or_null(w.key("protected_memory_bytes"), process.protected_memory_bytes);
  const std::pair<std::string_view, const Value*> shares[] = {
      {"utilization_ratio", &process.utilization_ratio},
      {"memory_utilization_ratio", &process.memory_utilization_ratio},
      {"encoder_utilization_ratio", &process.encoder_utilization_ratio},
      {"decoder_utilization_ratio", &process.decoder_utilization_ratio},
  };
  for (const auto& [key, share] : shares) append_number_or_null(w.key(key), share->number());
  append_accounting(w, process.accounting);
  w.key("gpu_instance");
  append_integer_or_null(w, process.gpu_instance);
  w.key("compute_instance");
  append_integer_or_null(w, process.compute_instance);
  append_owner(w, process);
  append_framework(w, process.framework);
  w.end_object();
}

}  // namespace

double document_time(WallTime time) { return static_cast<double>(unix_milliseconds(time)) / 1000; }

void append_metric(JsonWriter& w, std::span<const Sample> samples) {
  const bool is_whole = samples.empty() || (samples.size() == 1 && samples[0].label.empty());
  if (is_whole) {
    append_number_or_null(w, samples.empty() ? std::nullopt : samples[0].value.number());
    return;
  }
  w.begin_object();
  for (const Sample& sample : samples) {
    append_number_or_null(w.key(sample.label), sample.value.number());
  }
  w.end_object();
}

// The process behind a session is named to those who may see it.
void append_sessions(JsonWriter& w, const DeviceSnapshot& device, const Caller& caller) {
  w.key("sessions").begin_array();
  for (const Session& session : device.sessions) {
    const bool may_see = caller.role == Role::kAdmin ||
                         std::ranges::any_of(device.processes, [&](const Process& process) {
                           return process.pid == session.pid && caller.may_see(process.owner);
                         });
    w.begin_object().key("kind").string(session_kind_key(session.kind)).key("pid");
    append_integer_or_null(w,
                           may_see && session.pid != 0 ? std::optional(session.pid) : std::nullopt);
    w.key("codec").string(video_codec_key(session.codec));
    w.key("width").integer(session.width).key("height").integer(session.height);
    w.key("frames_per_second").number(session.frames_per_second);
    w.key("latency_seconds").number(session.latency_seconds).end_object();
  }
  w.end_array();
}

// "holders": null if nobody has looked; those whom the caller may not see are counted.
void append_holders(JsonWriter& w, const DeviceSnapshot& device, const Caller& caller) {
  w.key("holders");
  if (!device.holders) {
    w.null();
    return;
  }
  int64_t hidden = 0;
  w.begin_object().key("processes").begin_array();
  for (const Holder& holder : device.holders->processes) {
    if (!caller.may_see(holder.owner)) {
      ++hidden;
      continue;
    }
    w.begin_object().key("pid").integer(holder.pid).key("name").string(holder.owner.command);
    w.key("user").string(holder.owner.user).key("uid");
    append_integer_or_null(w, holder.owner.uid);
    w.end_object();
  }
  w.end_array().key("hidden").integer(hidden);
  w.key("partial").boolean(device.holders->is_partial).end_object();
}

std::vector<Remark> remarks(std::span<const Sample> samples, catalog::Scope scope, MonoTime now) {
  std::vector<Remark> found;
  for_each_row(samples, scope, [&](const auto& row, std::span<const Sample> of_row) {
    if (of_row.empty()) found.push_back({.key = std::string(row.name)});
    for (const Sample& sample : of_row) {
      if (sample.value.is_fresh()) continue;
      Remark remark{.key = std::string(row.name), .reason = sample.value.reason()};
      if (!sample.label.empty()) remark.key += "{" + sample.label + "}";
      if (!sample.value.is_absent()) {
        remark.age_seconds = std::round(seconds(now - sample.value.read_at()) * 10) / 10;
      }
      found.push_back(std::move(remark));
    }
  });
  return found;
}

void append_processes(JsonWriter& w, const DeviceSnapshot& device, const Caller& caller) {
  append_users(w, device);
  uint64_t hidden = 0;
  for (const UserTotal& total : device.hidden_users) hidden += total.processes;
  append_number_or_null(w.key("unexplained_memory_bytes"), unexplained_memory_bytes(device));
  append_number_or_null(w.key("unattributed_ratio"), unattributed_ratio(device));
  w.key("processes");
  if (device.processes_known) {
    w.begin_array();
    for (const Process& process : device.processes) {
      if (caller.may_see(process.owner)) {
        append_process(w, process);
      } else {
        ++hidden;
      }
    }
    w.end_array();
  } else {
    w.null();
  }
  w.key("processes_hidden").integer(static_cast<int64_t>(hidden)).key("processes_reason");
  if (device.processes_known) {
    w.null();
  } else {
    w.string(reason_key(device.processes_reason));
  }
  append_sessions(w, device, caller);
  append_holders(w, device, caller);
}

void append_text(JsonWriter& w, const catalog::Text& text) {
  w.begin_object().key("en").string(text.en).key("zh").string(text.zh).end_object();
}

void append_sources(JsonWriter& w, std::span<const SourceStatus> sources) {
  w.begin_array();
  for (const SourceStatus& source : sources) {
    w.begin_object().key("name").string(source.name);
    w.key("phase").string(source_phase_key(source.phase));
    w.key("simulated").boolean(source.simulated);
    w.key("message").string(catalog::message(source.message).key).key("arguments").begin_array();
    for (const std::string& argument : source.arguments) w.string(argument);
    using catalog::Lang;
    w.end_array().key("text");
    append_text(w, {catalog::format_message(source.message, Lang::kEnglish, source.arguments),
                    catalog::format_message(source.message, Lang::kChinese, source.arguments)});
    w.end_object();
  }
  w.end_array();
}

}  // namespace parts

namespace {

// "metrics", "reasons" and "stale" of the object that is open.
void append_readings(JsonWriter& w, std::span<const Sample> samples, catalog::Scope scope,
                     MonoTime now) {
  w.key("metrics").begin_object();
  parts::for_each_row(samples, scope, [&](const auto& row, std::span<const Sample> of_row) {
    w.key(row.name);
    parts::append_metric(w, of_row);
  });
  w.end_object();
  const std::vector<parts::Remark> remarks = parts::remarks(samples, scope, now);
  w.key("reasons").begin_object();
  for (const auto& remark : remarks) w.key(remark.key).string(reason_key(remark.reason));
  w.end_object().key("stale").begin_object();
  for (const auto& remark : remarks) {
    if (remark.age_seconds) w.key(remark.key).number(*remark.age_seconds);
  }
  w.end_object();
}

void append_optional_text(JsonWriter& w, std::string_view key, std::string_view text) {
  w.key(key);
  if (text.empty()) {
    w.null();
  } else {
    w.string(text);
  }
}

void append_optional_integer(JsonWriter& w, std::string_view key, std::optional<uint32_t> number) {
  w.key(key);
  if (number) {
    w.integer(*number);
  } else {
    w.null();
  }
}

void append_facts(JsonWriter& w, const Device& device) {
  w.key("uuid").string(device.uuid).key("kind").string(device_kind_key(device.kind));
  w.key("vendor").string(device.vendor).key("name").string(device.name);
  w.key("driver").string(device.driver).key("pci").string(device.pci);
  append_optional_text(w, "serial", device.serial);
  append_optional_text(w, "vbios", device.vbios);
  append_optional_integer(w, "index", device.index);
  append_optional_integer(w, "cuda_index", device.cuda_index);
  append_optional_integer(w, "minor", device.minor);
  append_optional_text(w, "parent", device.parent);
  append_optional_integer(w, "gpu_instance", device.gpu_instance);
  append_optional_integer(w, "compute_instance", device.compute_instance);
  append_optional_text(w, "profile", device.profile);
  w.key("facts").begin_object();
  for (const auto& [name, text] : device.facts) w.key(name).string(text);
  w.end_object();
}

// "topology": how devices hang together; null if nobody knows.
void append_topology(JsonWriter& w, const Topology* topology) {
  w.key("topology");
  if (topology == nullptr) {
    w.null();
    return;
  }
  w.begin_object().key("paths").begin_array();
  for (const Path& path : topology->paths) {
    w.begin_object().key("from").string(path.from_uuid).key("to").string(path.to_uuid);
    w.key("kind").string(path_kind_key(path.kind)).key("links").integer(path.links).end_object();
  }
  w.end_array().key("places").begin_array();
  for (const Topology::Place& place : topology->places) {
    w.begin_object().key("uuid").string(place.uuid);
    append_optional_integer(w, "numa_node", place.numa_node);
    append_optional_text(w, "cpu_list", place.cpu_list);
    w.end_object();
  }
  w.end_array().end_object();
}

}  // namespace

void append_snapshot_json(JsonWriter& w, const Snapshot& snapshot, const Caller& caller,
                          std::string_view version) {
  w.begin_object().key("schema").integer(kSnapshotSchema).key("version").string(version);
  w.key("sequence").integer(static_cast<int64_t>(snapshot.sequence));
  w.key("time").number(parts::document_time(snapshot.wall));
  w.key("interval_seconds").number(seconds(snapshot.interval));
  w.key("simulated").boolean(snapshot.simulated).key("sources");
  parts::append_sources(w, snapshot.sources);
  w.key("host").begin_object().key("name").string(snapshot.host_name);
  append_readings(w, snapshot.host, catalog::Scope::kHost, snapshot.mono);
  w.end_object().key("self").begin_object();
  append_readings(w, snapshot.self, catalog::Scope::kSelf, snapshot.mono);
  w.end_object().key("devices").begin_array();
  for (const DeviceSnapshot& device : snapshot.devices) {
    w.begin_object();
    append_facts(w, *device.device);
    w.key("state").string(device_state_key(device.state));
    w.key("state_since").number(parts::document_time(device.state_since));
    append_readings(w, device.samples, catalog::Scope::kDevice, snapshot.mono);
    parts::append_processes(w, device, caller);
    w.end_object();
  }
  w.end_array();
  append_topology(w, snapshot.topology.get());
  w.end_object();
}

std::string owners_json(const Snapshot& snapshot, const Caller& caller, std::string_view version) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("version").string(version);
  w.key("time").number(parts::document_time(snapshot.wall));
  w.key("simulated").boolean(snapshot.simulated).key("devices").begin_array();
  for (const DeviceSnapshot& device : snapshot.devices) {
    w.begin_object();
    append_facts(w, *device.device);
    w.key("state").string(device_state_key(device.state));
    parts::append_processes(w, device, caller);
    w.end_object();
  }
  w.end_array().end_object();
  return out;
}

std::string snapshot_json(const Snapshot& snapshot, const Caller& caller,
                          std::string_view version) {
  std::string out;
  out.reserve(4096 + 4096 * snapshot.devices.size() + 48 * snapshot.host.size());
  JsonWriter w(out);
  append_snapshot_json(w, snapshot, caller, version);
  return out;
}

}  // namespace gpusight::model
