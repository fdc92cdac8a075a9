#include "collect/nvml/mig_watch.h"

#include <algorithm>

#include "base/text.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;

constexpr uint32_t kSlotCount = 0xFFFF;  // of the question how many slots there are

}  // namespace

MigWatch::MigWatch(const Gpu& gpu) : was_enabled_(gpu.mig_enabled) {
  for (const MigDevice& mig : gpu.instances) listed_.insert(mig.device.uuid);
}

bool MigWatch::has_changed(Conversation& talk, Gathering& found) {
  unsigned mode = 0;
  unsigned pending = 0;
  const Return code = talk.ask(Query::kMigMode, 0, talk.api().mig_mode, &mode, &pending);
  found.put(MetricId::kGpuMigMode, {code, static_cast<double>(mode)});
  found.put(MetricId::kGpuMigModePending, {code, static_cast<double>(pending)});
  if (code != Return::kSuccess) return false;
  if ((mode == 1) != was_enabled_) return true;
  return mode == 1 && look_on(talk);
}

bool MigWatch::look_on(Conversation& talk) {
  if (next_slot_ == 0) {
    seen_.clear();
    const Return code =
        talk.ask(Query::kMigHandle, kSlotCount, talk.api().mig_max_devices, &slots_);
    if (code != Return::kSuccess) return false;
    slots_ = std::min(slots_, kMostMigDevices);
  }
  for (unsigned i = 0; i < kSlotsAPoll && next_slot_ < slots_; ++i) {
    const std::optional<std::string> uuid = uuid_in(talk, next_slot_++);
    if (!uuid) {  // a round with a gap would look like a change
      next_slot_ = 0;
      return false;
    }
    if (uuid->empty()) continue;
    if (!listed_.contains(*uuid)) return true;
    seen_.insert(*uuid);
  }
  if (next_slot_ < slots_) return false;
  next_slot_ = 0;
  return seen_.size() != listed_.size();
}

std::optional<std::string> MigWatch::uuid_in(Conversation& talk, unsigned slot) {
  const NvmlApi& api = talk.api();
  Handle handle = nullptr;
  const Return code = talk.ask(Query::kMigHandle, slot, api.mig_handle, slot, &handle);
  if (code == Return::kNotFound) return "";
  if (code != Return::kSuccess) return std::nullopt;
  HandleMemory nothing;
  const std::string none;
  Conversation instance(api, handle, none, nothing, talk.fate(), talk.report());
  char text[kUuidBytes + 1] = {};
  const Return asked = instance.ask(Query::kUuid, 0, api.uuid, text, kUuidBytes);
  if (asked != Return::kSuccess) return std::nullopt;
  return clean_text(text);
}

}  // namespace gpusight::collect::nvml
