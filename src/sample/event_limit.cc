#include "sample/event_limit.h"

#include "catalog/event_kind.h"

namespace gpusight::sample {

using catalog::EventKind;

model::Event event_at(const Now& now, EventKind kind, const std::string& uuid,
                      std::vector<std::string> arguments) {
  return {.wall = now.wall,
          .mono = now.mono,
          .kind = kind,
          .severity = catalog::event_kind(kind).severity,
          .uuid = uuid,
          .arguments = std::move(arguments)};
}

bool EventLimit::admit(const model::Event& event, MonoTime now) {
  const auto [at, is_new] = periods_.try_emplace({event.kind, event.uuid});
  if (is_new) at->second.began = now;
  return ++at->second.events <= kMost;
}

std::vector<model::Event> EventLimit::left_out(const Now& now) {
  std::vector<model::Event> told;
  std::erase_if(periods_, [&](const auto& item) {
    const auto& [key, period] = item;
    if (now.mono - period.began < kPeriod) return false;
    if (period.events > kMost) {
      const std::string number = std::to_string(period.events - kMost);
      const std::string kind(catalog::event_kind(key.first).key);
      told.push_back(event_at(now, EventKind::kEventsLeftOut, key.second, {number, kind}));
      told.back().fields = {{"count", number}, {"what", kind}};
    }
    return true;
  });
  return told;
}

}  // namespace gpusight::sample
