#include "sample/board.h"

#include <algorithm>
#include <numeric>

namespace gpusight::sample {

using catalog::EventKind;
using model::DeviceState;

namespace {

std::string seconds_text(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count());
}

using Identity = std::pair<int64_t, uint64_t>;  // pid and start

Identity identity(const model::Process& process) { return {process.pid, process.start_ticks}; }

// Each once: a process that is on several MIG devices stands several times in their GPU's list.
std::vector<Identity> identities(const std::vector<model::Process>& processes) {
  std::vector<Identity> all;
  all.reserve(processes.size());
  for (const model::Process& process : processes) all.push_back(identity(process));
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// A pid whose start cannot be read, because its process is about to be gone, is still the process
// that `known` (sorted) has under that pid.
void adopt_starts(std::vector<model::Process>& processes, const std::vector<Identity>& known) {
  for (model::Process& process : processes) {
    if (process.start_ticks != 0) continue;
    const auto at = std::ranges::upper_bound(known, identity(process));
    if (at != known.end() && at->first == process.pid) process.start_ticks = at->second;
  }
}

// Of a device that could not be asked who it is, nor where it sits.
bool is_nameless(std::string_view uuid) { return uuid.starts_with("NVML-INDEX-"); }

// In the order of snapshots. The last word on a series counts.
model::Samples in_order(model::Samples said) {
  std::vector<uint32_t> places(said.size());  // sorted instead of the samples, which are large
  std::iota(places.begin(), places.end(), 0);
  const auto is_same = [&](uint32_t a, uint32_t b) {
    return said[a].metric == said[b].metric && said[a].label == said[b].label;
  };
  std::ranges::sort(places, [&](uint32_t a, uint32_t b) {
    if (said[a].metric != said[b].metric) return said[a].metric < said[b].metric;
    const int labels = said[a].label.compare(said[b].label);
    return labels != 0 ? labels < 0 : a > b;
  });
  places.erase(std::unique(places.begin(), places.end(), is_same), places.end());
  model::Samples samples;
  samples.reserve(places.size());
  for (const uint32_t place : places) samples.push_back(std::move(said[place]));
  return samples;
}

}  // namespace

void Board::expect(const std::vector<model::Device>& devices, const Now& now) {
  for (const model::Device& device : devices) {
    DeviceEntry& entry = devices_[device.uuid];
    order_.clear();
    entry.device = std::make_shared<const model::Device>(device);
    entry.state = DeviceState::kLost;
    entry.state_since = now.wall;
    entry.state_since_mono = now.mono;
  }
}

void Board::add_source(size_t place, std::string name,
                       std::span<const catalog::MetricId> declares) {
  SourceEntry& source = sources_[place];
  source.status.name = name;
  source.name = std::move(name);
  source.declares = {declares.begin(), declares.end()};
}

Board::DeviceEntry& Board::entry_for(const model::Device& device, size_t source, const Now& now) {
  auto [at, is_new] = devices_.try_emplace(device.uuid);
  DeviceEntry& entry = at->second;
  if (is_new) {
    entry.state_since = now.wall;
    entry.state_since_mono = now.mono;
  }
  if (!entry.device || *entry.device != device) {
    entry.device = std::make_shared<const model::Device>(device);
    order_.clear();
  }
  entry.source = source;
  for (const catalog::MetricId metric : sources_[source].declares) {
    const auto counts = [&](const auto& kind) { return kind.counter == metric; };
    if (std::ranges::any_of(catalog::event_kinds(), counts)) entry.event_counts.try_emplace(metric);
  }
  return entry;
}

void Board::set_state(DeviceEntry& entry, DeviceState state, const Now& now) {
  const bool is_first_look = !std::exchange(entry.is_looked_for, true);
  const std::string& uuid = entry.device->uuid;
  if (is_first_look) {
    // A device that is there when first looked for, awake or asleep, is no event; one that is
    // missing is.
    if (state == DeviceState::kLost) emit(EventKind::kDeviceLost, uuid, {entry.device->name}, now);
    entry.state = state;
  }
  if (entry.state == state) return;
  if (state == DeviceState::kReleased) {
    emit(EventKind::kDeviceReleased, uuid, {}, now);
  } else if (state == DeviceState::kLost) {
    emit(EventKind::kDeviceLost, uuid, {entry.device->name}, now);
  } else if (entry.state == DeviceState::kReleased) {
    emit(EventKind::kDeviceTaken, uuid, {seconds_text(now.mono - entry.state_since_mono)}, now);
  } else if (entry.state == DeviceState::kLost) {
    emit(EventKind::kDeviceBack, uuid, {seconds_text(now.mono - entry.state_since_mono)}, now);
  } else if (state == DeviceState::kAsleep) {
    emit(EventKind::kDeviceAsleep, uuid, {}, now);
  } else if (entry.state == DeviceState::kAsleep) {
    emit(EventKind::kDeviceAwake, uuid, {}, now);
  }
  entry.state = state;
  entry.state_since = now.wall;
  entry.state_since_mono = now.mono;
}

void Board::apply_news(size_t place, const SourceNews& news, const Now& now) {
  SourceEntry& source = sources_[place];
  source.status = news.status;
  std::set<std::string> present;
  if (news.opened) {
    source.topology_parts.clear();
    source.topology.reset();
    say_reload(source, news, now);
    source.generations = news.generation;
    source.last_work = now.mono;
    for (const model::Device& device : news.devices) {
      set_state(entry_for(device, place, now), DeviceState::kActive, now);
      present.insert(device.uuid);
    }
  }
  apply_untouched(place, news, present, now);
  const bool could_look = news.status.phase != model::SourcePhase::kStarting;
  if (news.opened && could_look) lose_missing(place, present, now);
  if (news.opened) source.mig_changed.clear();
  const auto has_looked = [](const auto& item) { return item.second.generations > 0; };
  if (!std::ranges::all_of(sources_, has_looked)) return;
  miss_expected(now);
}

// What the inventory speaks of and no source has found. An instance of a GPU that is there was
// taken down while nobody looked.
void Board::miss_expected(const Now& now) {
  const size_t taken_down = std::erase_if(devices_, [&](const auto& item) {
    if (item.second.is_looked_for || item.second.device->parent.empty()) return false;
    const auto parent = devices_.find(item.second.device->parent);
    return parent != devices_.end() && parent->second.is_looked_for &&
           parent->second.state == DeviceState::kActive;
  });
  if (taken_down > 0) order_.clear();
  for (auto& [uuid, entry] : devices_) {
    if (!entry.is_looked_for) set_state(entry, DeviceState::kLost, now);
  }
}

// Opening again for a GPU that was lost, woke up or is divided anew is no reload of the driver.
void Board::say_reload(SourceEntry& source, const SourceNews& news, const Now& now) {
  if (news.devices.empty()) return;  // not back yet
  if (source.is_generation_lost && source.mig_changed.empty()) {
    emit(EventKind::kDriverReload, "", {news.devices.front().driver}, now);
  }
  source.is_generation_lost = false;
}

void Board::apply_untouched(size_t place, const SourceNews& news, std::set<std::string>& present,
                            const Now& now) {
  for (const auto& untouched : news.untouched) {
    const model::Device& device = untouched.first;
    // A device that sleeps is known by its PCI address only, until it was once opened.
    const auto known = std::ranges::find_if(devices_, [&](const auto& item) {
      const model::Device& d = *item.second.device;
      return !device.pci.empty() && d.pci == device.pci && d.kind == device.kind;
    });
    DeviceEntry& entry = known == devices_.end() || known->first == device.uuid
                             ? entry_for(device, place, now)
                             : entry_for(*std::shared_ptr(known->second.device), place, now);
    set_state(entry, untouched.second, now);
    present.insert(entry.device->uuid);
  }
}

// Another device is where this one was: the same one under its own name, or its successor.
bool Board::is_taken_over(const DeviceEntry& entry, const std::set<std::string>& present) const {
  const model::Device& device = *entry.device;
  if (device.pci.empty() || device.uuid != "PCI-" + device.pci) return false;
  return std::ranges::any_of(present, [&](const std::string& uuid) {
    const auto at = devices_.find(uuid);
    return at != devices_.end() && at->second.device->pci == device.pci;
  });
}

void Board::lose_missing(size_t place, const std::set<std::string>& present, const Now& now) {
  std::vector<std::string> gone;
  for (auto& [uuid, entry] : devices_) {
    if (!entry.is_looked_for || entry.source != place || present.contains(uuid)) continue;
    if (!entry.device->parent.empty() && present.contains(entry.device->parent)) {
      // An instance that is gone while its GPU is there was taken away on purpose.
      if (sources_[place].mig_changed.insert(entry.device->parent).second) {
        emit(EventKind::kMigChange, entry.device->parent, {}, now);
      }
      gone.push_back(uuid);
    } else if (is_nameless(uuid) || is_taken_over(entry, present)) {
      // A stand-in gives way to the device itself once that was opened.
      gone.push_back(uuid);
    } else {
      set_state(entry, DeviceState::kLost, now);
    }
  }
  if (!gone.empty()) order_.clear();
  for (const std::string& uuid : gone) devices_.erase(uuid);
}

void Board::apply_result(LaneResult result, const Now& now) {
  SourceEntry& source = sources_[result.source];
  source.calls += result.report.calls();
  source.call_time += result.report.call_time();
  source.implausible += result.report.implausible();
  if (result.cadence != collect::LaneCadence::kEvents) {
    source.lane_took[result.lane] = result.took;
  }
  for (model::Event& event : result.report.events()) apply_event(source, std::move(event), now);
  if (result.generation != source.generations) return;  // a late word of a closed generation
  if (result.report.topology()) apply_topology(source, result);
  source.is_generation_lost |= result.verdict == collect::Verdict::kGenerationLost;
  for (collect::Report::Subject& subject : result.report.mutable_subjects()) {
    note_work(source, subject, now);
    apply_subject(result, subject, now);
  }
}

void Board::apply_topology(SourceEntry& source, LaneResult& result) {
  source.topology_parts[result.lane] = std::move(*result.report.topology());
  auto whole = std::make_shared<model::Topology>();
  for (const auto& [lane, part] : source.topology_parts) {
    whole->paths.insert(whole->paths.end(), part.paths.begin(), part.paths.end());
    whole->places.insert(whole->places.end(), part.places.begin(), part.places.end());
  }
  source.topology = std::move(whole);
}

void Board::apply_event(SourceEntry& source, model::Event event, const Now& now) {
  // Several lanes may notice the same change.
  const bool is_known =
      event.kind == EventKind::kMigChange && !source.mig_changed.insert(event.uuid).second;
  if (is_known) return;
  count_event(event);
  tell(std::move(event), now);
}

void Board::apply_subject(LaneResult& result, collect::Report::Subject& subject, const Now& now) {
  Subject* readings = &host_;
  if (subject.uuid != collect::kHost) {
    const auto at = devices_.find(subject.uuid);
    if (at == devices_.end()) return;
    DeviceEntry& entry = at->second;
    // These are for opening to end: a lane that was asked before may answer after.
    const bool may_change = entry.state != DeviceState::kAsleep &&
                            entry.state != DeviceState::kLost &&
                            entry.state != DeviceState::kReleased;
    if (subject.state == DeviceState::kLost || may_change) set_state(entry, subject.state, now);
    apply_processes(entry, subject, now);
    if (subject.sessions) {
      entry.sessions = std::move(*subject.sessions);
      entry.sessions_at = now.mono;
    }
    if (subject.holders) {
      entry.holders = std::move(subject.holders);
      entry.holders_at = now.mono;
    }
    readings = &entry.readings;
  }
  if (!options_.disabled.empty()) {
    std::erase_if(subject.samples, [this](const model::Sample& sample) {
      return options_.disabled.has(sample.metric);
    });
  }
  LaneBlock& block = readings->blocks[result.lane];
  block.samples = in_order(std::move(subject.samples));
  block.cadence = result.cadence;
}

// A process of an instance stands in the list of its GPU too: the instance tells of it.
bool Board::is_of_an_instance(const model::Device& gpu, int64_t pid,
                              const std::vector<model::Process>& now_there,
                              const std::vector<model::Process>& were_there) const {
  const bool has_instances = std::ranges::any_of(
      devices_, [&](const auto& item) { return item.second.device->parent == gpu.uuid; });
  if (!has_instances) return false;
  const auto in_one = [&](const model::Process& p) { return p.pid == pid && p.gpu_instance; };
  return std::ranges::any_of(now_there, in_one) || std::ranges::any_of(were_there, in_one);
}

void Board::apply_processes(DeviceEntry& entry, collect::Report::Subject& subject, const Now& now) {
  if (subject.processes_absent) {
    // The list itself is kept: the next one is compared with it.
    entry.processes_absent = subject.processes_absent;
    entry.processes_at.reset();
  }
  if (!subject.processes) return;
  std::vector<model::Process>& next = *subject.processes;
  adopt_starts(next, identities(entry.processes));
  const std::vector<Identity> now_there = identities(next);
  adopt_starts(entry.processes, now_there);
  if (entry.has_processes_before) {
    const std::vector<Identity> were_there = identities(entry.processes);
    std::vector<Identity> started;
    std::vector<Identity> ended;
    std::ranges::set_difference(now_there, were_there, std::back_inserter(started));
    std::ranges::set_difference(were_there, now_there, std::back_inserter(ended));
    for (const auto& [list, kind] : {std::pair(&started, EventKind::kProcessStart),
                                     std::pair(&ended, EventKind::kProcessExit)}) {
      for (const auto& [pid, start] : *list) {
        if (is_of_an_instance(*entry.device, pid, next, entry.processes)) continue;
        model::Event event = event_at(now, kind, entry.device->uuid, {std::to_string(pid)});
        event.code = pid;
        event.fields = {{"pid", std::to_string(pid)}};
        tell(std::move(event), now);
      }
    }
  }
  entry.processes = std::move(next);
  entry.processes_at = now.mono;
  entry.processes_absent.reset();
  entry.has_processes_before = true;
}

void Board::note_work(SourceEntry& source, const collect::Report::Subject& subject,
                      const Now& now) {
  const auto busy = std::ranges::any_of(subject.samples, [](const model::Sample& sample) {
    return sample.metric == catalog::MetricId::kGpuUtilization &&
           sample.value.fresh_number().value_or(0) > 0;
  });
  // A desktop's compositor holds a graphics context for ever and lets the device sleep all the
  // same.
  const auto computes = subject.processes &&
                        std::ranges::any_of(*subject.processes, [](const model::Process& process) {
                          return process.type != model::ProcessType::kGraphics;
                        });
  if (busy || computes) source.last_work = now.mono;
}

void Board::set_pending(size_t place, std::set<std::string> uuids) {
  sources_[place].pending = std::move(uuids);
}

Duration Board::idle_for(size_t place, const Now& now) const {
  const auto at = sources_.find(place);
  return at == sources_.end() ? Duration::zero() : now.mono - at->second.last_work;
}

void Board::count_event(const model::Event& event) {
  const auto counter = catalog::event_kind(event.kind).counter;
  if (!counter) return;
  const auto at = devices_.find(event.uuid);
  if (at == devices_.end()) return;
  ++at->second.event_counts[*counter];
  if (event.kind != EventKind::kXid) return;
  at->second.last_xid = event.code;
  auto& xids = at->second.xids;
  if (xids.size() >= kMostXids && !xids.contains(event.code)) return;
  SeenXid& seen = xids[event.code];
  ++seen.count;
  seen.at = event.wall;
}

void Board::emit(EventKind kind, const std::string& uuid, std::vector<std::string> arguments,
                 const Now& now) {
  tell(event_at(now, kind, uuid, std::move(arguments)), now);
}

// Every event passes here, after it was counted.
void Board::tell(model::Event event, const Now& now) {
  if (event_limit_.admit(event, now.mono)) events_.push_back(std::move(event));
}

std::vector<model::Event> Board::take_events() { return std::exchange(events_, {}); }

}  // namespace gpusight::sample
