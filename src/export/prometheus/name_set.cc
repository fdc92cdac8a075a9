#include "export/prometheus/name_set.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text.h"

namespace gpusight::prometheus {
namespace {

constexpr std::string_view kKeys[kNameSetCount] = {"gpusight", "dcgm", "dcgm46", "nvidia_smi"};

}  // namespace

std::string_view name_set_key(NameSet set) { return kKeys[static_cast<size_t>(set)]; }

std::string name_set_keys() {
  std::string list;
  for (const std::string_view key : kKeys) list.append(list.empty() ? "" : ", ").append(key);
  return list;
}

Result<NameSets> parse_name_sets(std::span<const std::string> texts) {
  std::optional<NameSets> sets;
  for (const std::string& text : texts) {
    for (const std::string_view part : split(text, ',')) {
      const auto* key = std::ranges::find(kKeys, trim(part));
      if (key == std::end(kKeys)) {
        return Status(
            Code::kInvalidArgument,
            "\"" + clean_text(part, 64) + "\" is no set of names; there are " + name_set_keys());
      }
      const auto set = static_cast<NameSet>(key - std::begin(kKeys));
      sets = sets ? sets->with(set) : NameSets(set);
    }
  }
  if (!sets) return Status(Code::kInvalidArgument, "one of " + name_set_keys() + " is wanted");
  return *sets;
}

}  // namespace gpusight::prometheus
