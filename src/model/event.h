// Something that happened, once. Plain value.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "catalog/event_kind.h"

namespace gpusight::model {

struct Event {
  uint64_t id = 0;  // grows by one, given by the event log; 0 until then
  WallTime wall{};
  MonoTime mono{};
  catalog::EventKind kind = catalog::EventKind::kDaemonStart;
  catalog::Severity severity = catalog::Severity::kInfo;  // the kind's, unless the code says more
  std::string uuid;  // the device concerned; empty for the machine
  int64_t code = 0;  // XID number, process id; 0 if the kind has none
  // Typed facts for machines, "pid" → "4711"; names are [a-z_]+.
  std::vector<std::pair<std::string, std::string>> fields;
  // What fills the {0}, {1} of the kind's message, already cleaned.
  std::vector<std::string> arguments;
};

}  // namespace gpusight::model
