#include "collect/nvml/conversation.h"

#include <utility>

#include "base/text.h"

namespace gpusight::collect::nvml {

Standing HandleMemory::standing(uint32_t key, MonoTime now) const {
  const auto it = unsupported_until_.find(key);
  if (it == unsupported_until_.end()) return Standing::kOpen;
  return now < it->second ? Standing::kUnsupported : Standing::kAskAgain;
}

Verdict PollFate::verdict() const {
  if (!is_over()) return Verdict::kGood;
  return fatal == Return::kGpuIsLost ? Verdict::kDeviceLost : Verdict::kGenerationLost;
}

bool Conversation::is_worth_asking(Query query, uint32_t sub) const {
  const Standing standing = memory_.standing(HandleMemory::key(query, sub), report_.now());
  return !fate_.is_over() && standing != Standing::kUnsupported;
}

bool Conversation::has_room() {
  if (has_room_for(1)) return true;
  fate_.was_cut = true;
  return false;
}

bool Conversation::may_ask_again() {
  if (fate_.again == 0) return false;
  --fate_.again;
  return true;
}

void Conversation::note(uint32_t key, Return code) {
  if (code == Return::kSuccess) {
    memory_.set_worked(key);
  } else if (code == Return::kGpuIsLost || ends_generation(code)) {
    fate_.fatal = code;
  } else if (code == Return::kInvalidArgument && memory_.has_worked(key)) {
    check_handle();
  } else if (is_unsupported(code)) {
    memory_.set_unsupported(key, report_.now());
  }
}

// A question that was fine before and now has an "invalid argument": either this one thing is gone,
// or the handle has died (a MIG device destroyed, a driver reloaded), or even names another device.
void Conversation::check_handle() {
  // A batch may hold many such questions: one look a poll is enough.
  if (has_checked_handle_ || !has_room()) return;
  has_checked_handle_ = true;
  if (api_.uuid == nullptr || uuid_.starts_with("PCI-")) return;
  char text[kUuidBytes + 1] = {};
  const MonoTime start = report_.now();
  const Return code = api_.uuid(handle_, text, kUuidBytes);
  report_.count_call(report_.now() - start);
  if (code == Return::kGpuIsLost || ends_generation(code)) {
    fate_.fatal = code;
  } else if (code == Return::kInvalidArgument ||
             (code == Return::kSuccess && clean_text(text, kUuidBytes) != uuid_)) {
    fate_.fatal = Return::kUninitialized;
  }
}

}  // namespace gpusight::collect::nvml
