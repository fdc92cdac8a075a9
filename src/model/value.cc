#include "model/value.h"

namespace gpusight::model {
namespace {

constexpr std::string_view kKeys[] = {
    "not_supported", "no_permission", "asleep",     "busy",     "lost",   "stale",
    "driver_error",  "implausible",   "warming_up", "disabled", "hidden", "unknown"};
static_assert(std::size(kKeys) == kReasonCount);

constexpr auto kFirstMessage = static_cast<size_t>(catalog::MessageId::kReasonNotSupported);
static_assert(kFirstMessage + kReasonCount - 1 ==
                  static_cast<size_t>(catalog::MessageId::kReasonUnknown),
              "the messages of reasons stand in the order of Reason");

}  // namespace

std::string_view reason_key(Reason reason) { return kKeys[static_cast<size_t>(reason)]; }

std::optional<Reason> find_reason(std::string_view key) {
  for (size_t i = 0; i < kReasonCount; ++i) {
    if (kKeys[i] == key) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

catalog::MessageId reason_message(Reason reason) {
  return static_cast<catalog::MessageId>(kFirstMessage + static_cast<size_t>(reason));
}

}  // namespace gpusight::model
