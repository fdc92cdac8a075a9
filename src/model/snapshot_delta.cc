// What changed between two snapshots, for the live stream.
#include <algorithm>
#include <functional>

#include "model/snapshot_json.h"
#include "model/snapshot_json_parts.h"

namespace gpusight::model {
namespace {

using parts::Remark;

bool same_numbers(std::span<const Sample> a, std::span<const Sample> b) {
  return std::ranges::equal(a, b, [](const Sample& x, const Sample& y) {
    return x.metric == y.metric && x.label == y.label && x.value.number() == y.value.number();
  });
}

// Nothing to remark on anew. What is stale has another age each time.
bool same_reasons(std::span<const Sample> a, std::span<const Sample> b) {
  return std::ranges::equal(a, b, [](const Sample& x, const Sample& y) {
    const Presence presence = x.value.presence();
    const bool same = presence == Presence::kFresh ||
                      (presence == Presence::kAbsent && x.value.reason() == y.value.reason());
    return same && presence == y.value.presence() && x.metric == y.metric && x.label == y.label;
  });
}

// The samples of one metric: `from` is where to look from, and moves on.
std::span<const Sample> take_row(std::span<const Sample> samples, size_t& from,
                                 catalog::MetricId metric) {
  while (from < samples.size() && samples[from].metric < metric) ++from;
  const size_t first = from;
  while (from < samples.size() && samples[from].metric == metric) ++from;
  return samples.subspan(first, from - first);
}

bool append_changed_metrics(JsonWriter& w, std::span<const Sample> previous,
                            std::span<const Sample> next, catalog::Scope scope) {
  bool changed = false;
  size_t from = 0;
  w.key("metrics").begin_object();
  parts::for_each_row(next, scope, [&](const auto& row, std::span<const Sample> now) {
    if (same_numbers(take_row(previous, from, row.id), now)) return;
    parts::append_metric(w.key(row.name), now);
    changed = true;
  });
  w.end_object();
  return changed;
}

const Remark* find_remark(const std::vector<Remark>& remarks, const std::string& key) {
  const auto at = std::ranges::find(remarks, key, &Remark::key);
  return at == remarks.end() ? nullptr : &*at;
}

using Differs = std::function<bool(const Remark* before, const Remark* now)>;
using Append = std::function<void(JsonWriter&, const Remark* now)>;

bool append_changed_remarks(JsonWriter& w, std::string_view name,
                            const std::vector<Remark>& previous, const std::vector<Remark>& next,
                            const Differs& differs, const Append& append) {
  std::string body;
  JsonWriter inner(body);
  inner.begin_object();
  bool changed = false;
  const auto tell = [&](const std::string& key, const Remark* before, const Remark* now) {
    if (!differs(before, now)) return;
    append(inner.key(key), now);
    changed = true;
  };
  for (const Remark& now : next) tell(now.key, find_remark(previous, now.key), &now);
  for (const Remark& before : previous) {
    if (find_remark(next, before.key) == nullptr) tell(before.key, &before, nullptr);
  }
  inner.end_object();
  if (changed) w.key(name).raw(body);
  return changed;
}

bool reason_differs(const Remark* before, const Remark* now) {
  return before == nullptr || now == nullptr || before->reason != now->reason;
}

std::optional<double> age_of(const Remark* remark) {
  return remark == nullptr ? std::nullopt : remark->age_seconds;
}

struct Moment {
  std::span<const Sample> samples;
  MonoTime mono;
};

// "metrics" and, where changed, "reasons" and "stale" of the object that is open. False if nothing
// changed.
bool append_changed_readings(JsonWriter& w, const Moment& previous, const Moment& next,
                             catalog::Scope scope) {
  bool changed = append_changed_metrics(w, previous.samples, next.samples, scope);
  if (same_reasons(previous.samples, next.samples)) return changed;
  const auto before = parts::remarks(previous.samples, scope, previous.mono);
  const auto now = parts::remarks(next.samples, scope, next.mono);
  if (before.empty() && now.empty()) return changed;
  changed |= append_changed_remarks(w, "reasons", before, now, reason_differs,
                                    [](JsonWriter& inner, const Remark* remark) {
                                      if (remark == nullptr) {
                                        inner.null();
                                      } else {
                                        inner.string(reason_key(remark->reason));
                                      }
                                    });
  changed |= append_changed_remarks(
      w, "stale", before, now,
      [](const Remark* a, const Remark* b) { return age_of(a) != age_of(b); },
      [](JsonWriter& inner, const Remark* remark) {
        if (const auto age = age_of(remark)) {
          inner.number(*age);
        } else {
          inner.null();
        }
      });
  return changed;
}

std::string processes_of(const DeviceSnapshot& device, const Caller& caller) {
  std::string out;
  JsonWriter w(out);
  w.begin_object();
  parts::append_processes(w, device, caller);
  w.end_object();
  return out;
}

// The device's patch; empty if nothing changed.
std::string device_patch(const Snapshot& previous, const Snapshot& next, size_t i,
                         const Caller& caller) {
  const DeviceSnapshot& before = previous.devices[i];
  const DeviceSnapshot& now = next.devices[i];
  std::string patch;
  JsonWriter w(patch);
  w.begin_object();
  bool changed = append_changed_readings(w, {before.samples, previous.mono},
                                         {now.samples, next.mono}, catalog::Scope::kDevice);
  if (before.state != now.state || before.state_since != now.state_since) {
    w.key("state").string(device_state_key(now.state));
    w.key("state_since").number(parts::document_time(now.state_since));
    changed = true;
  }
  if (processes_of(before, caller) != processes_of(now, caller)) {
    parts::append_processes(w, now, caller);
    changed = true;
  }
  w.end_object();
  return changed ? patch : std::string();
}

}  // namespace

bool delta_applies(const Snapshot& previous, const Snapshot& next) {
  const auto same_device = [](const DeviceSnapshot& a, const DeviceSnapshot& b) {
    return a.device == b.device || *a.device == *b.device;
  };
  return previous.host_name == next.host_name && previous.interval == next.interval &&
         previous.simulated == next.simulated && previous.topology == next.topology &&
         std::ranges::equal(previous.devices, next.devices, same_device);
}

std::string message_head(std::string_view type, uint64_t n) {
  std::string head = "{\"type\":\"";
  head += type;
  head += "\",\"n\":" + std::to_string(n) + ",";
  return head;
}

std::string snapshot_delta_tail(const Snapshot& previous, const Snapshot& next,
                                const Caller& caller) {
  CHECK(delta_applies(previous, next), "a delta between different sets of devices");
  std::string out;
  out.reserve(1024 + 1024 * next.devices.size());
  JsonWriter w(out);
  w.begin_object().key("sequence").integer(static_cast<int64_t>(next.sequence));
  w.key("time").number(parts::document_time(next.wall)).key("host").begin_object();
  append_changed_readings(w, {previous.host, previous.mono}, {next.host, next.mono},
                          catalog::Scope::kHost);
  w.end_object().key("self").begin_object();
  append_changed_readings(w, {previous.self, previous.mono}, {next.self, next.mono},
                          catalog::Scope::kSelf);
  w.end_object().key("devices").begin_object();
  for (size_t i = 0; i < next.devices.size(); ++i) {
    const std::string patch = device_patch(previous, next, i, caller);
    if (!patch.empty()) w.key(next.devices[i].device->uuid).raw(patch);
  }
  w.end_object();
  if (previous.sources != next.sources) parts::append_sources(w.key("sources"), next.sources);
  w.end_object();
  return out.substr(1);  // the head opens the object
}

std::string snapshot_delta_json(const Snapshot& previous, const Snapshot& next,
                                const Caller& caller, uint64_t n) {
  return message_head("delta", n) + snapshot_delta_tail(previous, next, caller);
}

}  // namespace gpusight::model
