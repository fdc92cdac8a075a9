#include "app/history_query.h"

#include "app/version.h"
#include "base/clock.h"
#include "serve/http_text.h"
#include "serve/prom_api.h"
#include "serve/prom_json.h"
#include "store/history_file.h"

namespace gpusight::app {

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
  const serve::PromApi api(
      {.data = &(*file)->queryable(), .clock = &clock, .version = std::string(kVersion)});
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
