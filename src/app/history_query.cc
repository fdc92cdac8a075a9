#include "app/history_query.h"

#include <filesystem>

#include "app/version.h"
#include "base/clock.h"
#include "serve/http_text.h"
#include "serve/info_series.h"
#include "serve/prom_api.h"
#include "serve/prom_json.h"
#include "store/history_file.h"
#include "store/inventory.h"

namespace gpusight::app {
namespace {

// The devices that are known beside a history: history-x.db has inventory-x.json (app/serve.cc).
// Without them the rest is answered all the same.
std::vector<model::Device> known_devices(const std::string& history) {
  constexpr std::string_view kHistory = "history";
  const std::filesystem::path path(history);
  const std::string stem = path.stem().string();
  std::vector<model::Device> devices;
  if (!stem.starts_with(kHistory)) return devices;
  const std::string name = "inventory" + stem.substr(kHistory.size()) + ".json";
  const auto known = store::read_inventory((path.parent_path() / name).string());
  if (!known.ok()) return devices;
  for (const store::Known& one : *known) devices.push_back(one.device);
  return devices;
}

}  // namespace

std::string answer_query(const std::string& target, const std::string& history) {
  const auto file = store::HistoryFile::open(history);
  if (!file.ok()) {
    return std::string(
        serve::prom_error(serve::PromError::kInternal, file.status().message()).body.bytes);
  }
  auto asked = serve::parse_target(target);
  if (!asked.ok()) {
    return std::string(
        serve::prom_error(serve::PromError::kBadData, asked.status().message()).body.bytes);
  }
  const SystemClock clock;
  const serve::InfoSeries series(&(*file)->queryable(), [&] { return known_devices(history); });
  const serve::PromApi api({.data = &series, .clock = &clock, .version = std::string(kVersion)});
  const serve::Response response =
      api.answer({.call = asked->path == "/api/v1/query" ? serve::PromCall::kQuery
                                                         : serve::PromCall::kQueryRange,
                  .label = {},
                  .parameters = std::move(asked->parameters),
                  .asked_at = clock.mono()},
                 {});
  return std::string(response.body.bytes);
}

}  // namespace gpusight::app
