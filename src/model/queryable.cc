#include "model/queryable.h"

#include <algorithm>

namespace gpusight::model {

Matcher equal_matcher(std::string name, std::string value) {
  return {.name = std::move(name),
          .kind = Matcher::Kind::kEqual,
          .value = value,
          .accepts = [value](std::string_view text) { return text == value; }};
}

bool matches(const Labels& labels, std::span<const Matcher> matchers) {
  return std::ranges::all_of(matchers, [&](const Matcher& matcher) {
    const auto at = std::ranges::lower_bound(labels, matcher.name, {}, &Labels::value_type::first);
    const bool present = at != labels.end() && at->first == matcher.name;
    return matcher.accepts(present ? std::string_view(at->second) : std::string_view());
  });
}

}  // namespace gpusight::model
