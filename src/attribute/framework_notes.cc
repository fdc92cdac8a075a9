#include "attribute/framework_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "platform/proc.h"

namespace gpusight::attribute {
namespace {

using model::FrameworkUse;
using nlohmann::json;

constexpr size_t kMaxName = 32;
constexpr size_t kMaxDeviceName = 64;
// Allowances of users who have been silent for so long are whole again.
constexpr Duration kForgetAllowanceAfter = std::chrono::seconds(60);

Status bad_line(size_t number, std::string_view what) {
  return {Code::kInvalidArgument, "line " + std::to_string(number) + ": " + std::string(what)};
}

// Uuids and addresses as they are compared: whoever tells one may write it as CUDA does.
std::string device_key(std::string_view text) {
  std::string key(text);
  std::ranges::transform(key, key.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (key.starts_with("gpu-")) key.erase(0, 4);
  // NVML writes a PCI domain with eight digits, the kernel with four.
  if (key.size() == std::string_view("00000000:19:00.0").size() && key.starts_with("0000") &&
      key[8] == ':') {
    key.erase(0, 4);
  }
  return key;
}

// Empty: all is well.
std::string read_member(std::string_view key, const json& value, std::string& device,
                        FrameworkUse& use) {
  if (key == "framework" || key == "device") {
    const size_t most = key == "device" ? kMaxDeviceName : kMaxName;
    if (!value.is_string()) return std::string(key) + " is not a text";
    std::string text = clean_text(value.get_ref<const std::string&>(), most);
    if (key == "device") {
      device = device_key(text);
    } else {
      use.framework = std::move(text);
    }
    return {};
  }
  if (key == "pid") return "a process speaks of itself only: no pid is taken";
  const auto numbers = model::framework_numbers();
  const auto field = std::ranges::find(numbers, key, &model::FrameworkNumber::key);
  if (field == numbers.end()) return "unknown member " + clean_text(key, kMaxName);
  if (value.is_null()) return {};
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number <= field->most)) {
    return std::string(key) + " is not a number from 0 to " + number_text(field->most);
  }
  use.*field->member = number;
  return {};
}

// Adds what the line tells of the process to what its row has.
void add(const FrameworkUse& told, bool with_memory, std::optional<FrameworkUse>& to) {
  if (!to) to.emplace();
  if (!told.framework.empty()) to->framework = told.framework;
  for (const model::FrameworkNumber& number : model::framework_numbers()) {
    const std::optional<double>& value = told.*number.member;
    if (value && (with_memory || !number.is_memory)) (*to).*number.member = value;
  }
}

}  // namespace

FrameworkNotes::FrameworkNotes(platform::RootFs root, const Clock* clock)
    : root_(std::move(root)), clock_(clock) {}

Status FrameworkNotes::take(const model::LocalUser& sender, std::string_view lines) {
  if (sender.pid <= 0) return {Code::kNotFound, "the sending process is not to be seen from here"};
  const MonoTime now = clock_->mono();
  {
    MutexLock lock(mutex_);
    if (!may_speak(sender.uid, now)) return {Code::kExhausted, "too many messages: wait a second"};
  }
  std::vector<Note> notes;
  size_t number = 0;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (++number > kMaxLines) return bad_line(number, "too many lines in one message");
    if (line.size() > kMaxLineBytes) return bad_line(number, "too long");
    if (line.empty()) continue;
    const json object = json::parse(line, nullptr, false);
    if (!object.is_object()) return bad_line(number, "not a JSON object");
    Note note{.told_at = now};
    for (const auto& [key, value] : object.items()) {
      const std::string trouble = read_member(key, value, note.device, note.use);
      if (!trouble.empty()) return bad_line(number, trouble);
    }
    notes.push_back(std::move(note));
  }
  const Result<platform::ProcStat> stat =
      platform::read_proc_stat(root_, std::to_string(sender.pid));
  if (!stat.ok()) return {Code::kNotFound, "the sending process is not to be seen from here"};
  MutexLock lock(mutex_);
  Teller* const teller = teller_of(sender.pid, stat->start_ticks, now);
  if (teller == nullptr) return {Code::kExhausted, "too many processes tell of themselves"};
  for (Note& note : notes) {
    const auto known = std::ranges::find(teller->notes, note.device, &Note::device);
    if (known != teller->notes.end()) {
      *known = std::move(note);
    } else if (teller->notes.size() < kMaxDevices) {
      teller->notes.push_back(std::move(note));
    }
  }
  return {};
}

bool FrameworkNotes::may_speak(uint32_t uid, MonoTime now) {
  if (allowances_.size() >= kMaxProcesses) {
    std::erase_if(allowances_,
                  [&](const auto& each) { return now - each.second.at > kForgetAllowanceAfter; });
  }
  const auto known = allowances_.find(uid);
  if (known == allowances_.end() && allowances_.size() >= kMaxProcesses) return false;
  Allowance& allowance = known == allowances_.end() ? allowances_[uid] : known->second;
  if (known == allowances_.end()) allowance.at = now;
  allowance.messages =
      std::min(kBurst, allowance.messages + seconds(now - allowance.at) * kMessagesPerSecond);
  allowance.at = now;
  if (allowance.messages < 1) return false;
  allowance.messages -= 1;
  return true;
}

FrameworkNotes::Teller* FrameworkNotes::teller_of(int64_t pid, uint64_t start_ticks, MonoTime now) {
  auto known = tellers_.find(pid);
  if (known == tellers_.end()) {
    if (tellers_.size() >= kMaxProcesses) forget_old(now);
    if (tellers_.size() >= kMaxProcesses) return nullptr;
    known = tellers_.emplace(pid, Teller{}).first;
  }
  Teller& teller = known->second;
  if (teller.start_ticks != start_ticks) teller = {.start_ticks = start_ticks};
  teller.told_at = now;
  return &teller;
}

void FrameworkNotes::forget_old(MonoTime now) {
  std::erase_if(tellers_,
                [&](const auto& each) { return now - each.second.told_at > kTrustedFor; });
}

void FrameworkNotes::add_to(model::Snapshot& snapshot) const {
  MutexLock lock(mutex_);
  if (tellers_.empty()) return;
  const MonoTime now = clock_->mono();
  std::map<int64_t, size_t> rows;
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    for (const model::Process& process : device.processes) ++rows[process.pid];
  }
  for (model::DeviceSnapshot& device : snapshot.devices) {
    const std::string uuid = device_key(device.device->uuid);
    for (model::Process& process : device.processes) {
      const auto teller = tellers_.find(process.pid);
      if (teller == tellers_.end()) continue;
      // Both are read of the same /proc; a row whose start is not known yet waits a tick.
      if (teller->second.start_ticks != process.start_ticks) continue;
      for (const Note& note : teller->second.notes) {
        if (now - note.told_at > kTrustedFor) continue;
        const bool is_of_device = note.device == uuid || note.device == device.device->pci;
        if (!note.device.empty() && !is_of_device) continue;
        add(note.use, is_of_device || rows[process.pid] == 1, process.framework);
      }
    }
  }
}

}  // namespace gpusight::attribute
