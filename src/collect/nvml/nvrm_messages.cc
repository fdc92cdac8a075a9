#include "collect/nvml/nvrm_messages.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

constexpr int64_t kXidOffTheBus = 79;
constexpr size_t kMostText = 200;
constexpr size_t kLinesATime = 512;

// "PCI:0000:9b:00", "0000:9b:00.0" or "0000:9b:00" → "0000:9b:00.0"; "" if it is none.
std::string address_in(std::string_view text) {
  if (text.starts_with("PCI:")) text.remove_prefix(4);
  const auto parts = split(text.substr(0, text.find('.')), ':');
  if (parts.size() != 3) return {};
  const auto domain = parse_uint(parts[0], 16);
  const auto bus = parse_uint(parts[1], 16);
  const auto device = parse_uint(parts[2], 16);
  if (!domain || !bus || !device || *domain > UINT32_MAX || *bus > 0xFF || *device > 0x1F)
    return {};
  return platform::pci_address(static_cast<uint32_t>(*domain), static_cast<uint32_t>(*bus),
                               static_cast<uint32_t>(*device));
}

// The text after `prefix` up to `end`; moves `rest` behind it. nullopt if it is not there.
std::optional<std::string_view> take(std::string_view& rest, std::string_view prefix,
                                     std::string_view end) {
  if (!rest.starts_with(prefix)) return std::nullopt;
  const size_t at = rest.find(end, prefix.size());
  const size_t stop = at == std::string_view::npos ? rest.size() : at;
  const std::string_view found = rest.substr(prefix.size(), stop - prefix.size());
  rest.remove_prefix(std::min(rest.size(), stop + end.size()));
  return found;
}

// "Xid (PCI:0000:9b:00): 31, pid=4711, name=python, Ch 00000008", in drivers of all ages.
std::optional<NvrmMessage> parse_error(std::string_view rest, std::string_view prefix,
                                       NvrmMessage::Kind kind) {
  NvrmMessage message{.kind = kind};
  const auto address = take(rest, prefix, "): ");
  const auto code = take(rest, "", ", ");
  if (!address || !code) return std::nullopt;
  message.pci = address_in(*address);
  const auto number = parse_int(*code);
  if (message.pci.empty() || !number || *number < 0 || *number > kHighestXid) return std::nullopt;
  message.code = *number;
  if (const auto pid = take(rest, "pid=", ", ")) message.pid = parse_int(*pid);  // or '<unknown>'
  if (const auto name = take(rest, "name=", ", "); name && *name != "<unknown>") {
    message.process = clean_text(*name, kMostText);
  }
  message.text = clean_text(rest, kMostText);
  return message;
}

}  // namespace

std::optional<NvrmMessage> NvrmParser::parse(std::string_view line) {
  constexpr std::string_view kModule = "NVRM: ";
  const size_t switch_at = line.find("SXid (");
  if (line.starts_with("nvidia-nvswitch") && switch_at != std::string_view::npos) {
    return parse_error(line.substr(switch_at), "SXid (", NvrmMessage::Kind::kNvswitch);
  }
  if (!line.starts_with(kModule)) return std::nullopt;
  std::string_view rest = line.substr(kModule.size());
  if (rest.starts_with("Xid (")) {
    falling_.clear();
    return parse_error(rest, "Xid (", NvrmMessage::Kind::kXid);
  }
  // Newer modules tell of a GPU off the bus in three lines and give no number.
  if (const auto address = take(rest, "The NVIDIA GPU ", " ")) falling_ = address_in(*address);
  if (falling_.empty() || line.find("fallen off the bus") == std::string_view::npos) {
    return std::nullopt;
  }
  return NvrmMessage{.way = XidWay::kWords,
                     .pci = std::exchange(falling_, {}),
                     .code = kXidOffTheBus,
                     .text = "GPU has fallen off the bus"};
}

bool XidMerge::is_news(const std::string& uuid, int64_t code, XidWay way, MonoTime now) {
  MutexLock lock(mutex_);
  for (auto& [key, told] : told_) {
    std::erase_if(told, [&](const Told& t) { return now - t.at > kApart; });
  }
  std::erase_if(told_, [](const auto& entry) { return entry.second.empty(); });
  std::deque<Told>& told = told_[{uuid, code}];
  const unsigned bit = 1U << static_cast<unsigned>(way);
  const auto other = std::ranges::find_if(told, [&](const Told& t) { return (t.ways & bit) == 0; });
  if (other != told.end()) {
    other->ways |= bit;
    return false;
  }
  if (told.size() < kMost && told_.size() < kMost) told.push_back({bit, now});
  return true;
}

bool NvrmWatch::open(const platform::RootFs& root) {
  MutexLock lock(mutex_);
  if (log_) return true;
  auto opened = platform::KernelLog::open(root);
  if (opened.ok()) {
    log_.emplace(std::move(opened).value());
    return true;
  }
  const bool is_refused = opened.status().code() == Code::kPermissionDenied;
  if (is_refused && !std::exchange(has_said_refused_, true)) {
    log::info("{}: XID errors that the driver does not deliver as events will not be seen",
              opened.status().message());
  }
  return false;
}

bool NvrmWatch::is_open() const {
  MutexLock lock(mutex_);
  return log_.has_value();
}

std::vector<NvrmMessage> NvrmWatch::read() {
  MutexLock lock(mutex_);
  std::vector<NvrmMessage> messages;
  if (!log_) return messages;
  for (const platform::KernelMessage& line : log_->read(kLinesATime)) {
    if (auto message = parser_.parse(line.text)) messages.push_back(std::move(*message));
  }
  return messages;
}

uint64_t NvrmWatch::take_lost() {
  MutexLock lock(mutex_);
  const uint64_t lost = log_ ? log_->lost() : 0;
  return lost - std::exchange(told_lost_, lost);
}

}  // namespace gpusight::collect::nvml
