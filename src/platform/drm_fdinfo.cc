#include "platform/drm_fdinfo.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace gpusight::platform {
namespace {

constexpr size_t kNameBytes = 64;

struct UnitRow {
  std::string_view unit;
  uint64_t factor;
};
constexpr UnitRow kUnits[] = {
    {"", 1},          {"ns", 1},        {"B", 1},  {"KiB", 1 << 10}, {"kB", 1 << 10},
    {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"Hz", 1}, {"KHz", 1000},    {"MHz", 1'000'000},
};

// "192 KiB", "9288864723 ns", "0".
std::optional<uint64_t> quantity(std::string_view text) {
  const auto words = split_words(text);
  if (words.empty() || words.size() > 2) return std::nullopt;
  const auto number = parse_uint(words[0]);
  const std::string_view unit = words.size() == 2 ? words[1] : std::string_view();
  const auto* const row = std::ranges::find(kUnits, unit, &UnitRow::unit);
  if (!number || row == std::end(kUnits) || *number > UINT64_MAX / row->factor) {
    return std::nullopt;
  }
  return *number * row->factor;
}

// The thing of that name; a new one unless there are too many.
template <typename T>
T* find_or_add(std::vector<T>& all, std::string_view name, size_t most) {
  const std::string clean = clean_text(name, kNameBytes);
  const auto at = std::ranges::find(all, clean, &T::name);
  if (at != all.end()) return &*at;
  if (clean.empty() || all.size() == most) return nullptr;
  all.push_back({.name = clean});
  return &all.back();
}

struct EngineKey {
  std::string_view start;
  std::optional<uint64_t> DrmEngine::*member;
};
constexpr EngineKey kEngineKeys[] = {
    {"drm-engine-", &DrmEngine::busy_ns},
    {"drm-total-cycles-", &DrmEngine::total_cycles},
    {"drm-cycles-", &DrmEngine::cycles},
    {"drm-maxfreq-", &DrmEngine::max_hertz},
};
struct RegionKey {
  std::string_view start;
  std::optional<uint64_t> DrmRegion::*member;
};
constexpr RegionKey kRegionKeys[] = {
    {"drm-total-", &DrmRegion::total},
    {"drm-shared-", &DrmRegion::shared},
    {"drm-resident-", &DrmRegion::resident},
    {"drm-memory-", &DrmRegion::resident},
};
constexpr std::string_view kCapacity = "drm-engine-capacity-";

// True: the key is one of an engine's, understood or not.
bool read_engine(std::string_view key, std::string_view value, DrmClient& client) {
  if (key.starts_with(kCapacity)) {
    const auto capacity = quantity(value);
    DrmEngine* engine = find_or_add(client.engines, key.substr(kCapacity.size()), kMostDrmEngines);
    if (engine != nullptr && capacity && *capacity > 0) engine->capacity = *capacity;
    return true;
  }
  for (const EngineKey& row : kEngineKeys) {
    if (!key.starts_with(row.start)) continue;
    const auto number = quantity(value);
    if (!number) return true;
    DrmEngine* engine = find_or_add(client.engines, key.substr(row.start.size()), kMostDrmEngines);
    if (engine != nullptr) engine->*row.member = number;
    return true;
  }
  return false;
}

void read_region(std::string_view key, std::string_view value, DrmClient& client) {
  for (const RegionKey& row : kRegionKeys) {
    if (!key.starts_with(row.start)) continue;
    const auto number = quantity(value);
    DrmRegion* region =
        number ? find_or_add(client.regions, key.substr(row.start.size()), kMostDrmRegions)
               : nullptr;
    if (region == nullptr) return;
    // A driver that tells both names of the same number tells the newer one right.
    const bool is_older = row.start == "drm-memory-";
    if (!is_older || !(region->*row.member)) region->*row.member = number;
    return;
  }
}

}  // namespace

const DrmEngine* DrmClient::engine(std::string_view name) const {
  const auto at = std::ranges::find(engines, name, &DrmEngine::name);
  return at == engines.end() ? nullptr : &*at;
}

const DrmRegion* DrmClient::region(std::string_view name) const {
  const auto at = std::ranges::find(regions, name, &DrmRegion::name);
  return at == regions.end() ? nullptr : &*at;
}

Result<DrmClient> parse_drm_fdinfo(std::string_view text) {
  DrmClient client;
  for (const std::string_view line : split(text.substr(0, text.find('\0')), '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with("drm-")) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "drm-driver") {
      client.driver = clean_text(value, kNameBytes);
    } else if (key == "drm-pdev") {
      client.address = clean_text(value, kNameBytes);
      std::ranges::transform(client.address, client.address.begin(),
                             [](unsigned char c) { return std::tolower(c); });
    } else if (key == "drm-client-id") {
      client.id = parse_uint(value);
    } else if (!read_engine(key, value, client)) {
      read_region(key, value, client);
    }
  }
  if (client.driver.empty()) return Status(Code::kNotFound, "no DRM client");
  return client;
}

}  // namespace gpusight::platform
