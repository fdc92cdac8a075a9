// The table of routes.
#include <algorithm>
#include <iterator>

#include "serve/api.h"

namespace gpusight::serve {
namespace {

constexpr std::string_view kJson = "application/json";

constexpr RouteParameter kEventParameters[] = {
    {"from", "number", "not before this time, in Unix seconds"},
    {"to", "number", "not after this time, in Unix seconds"},
    {"kind", "string", "this kind only: a key of the catalogue's event_kinds"},
    {"uuid", "string", "of this device only"},
    {"limit", "integer", "at most so many, the newest; 1 to 10000, usually 1000"},
};

constexpr RouteParameter kReleaseParameters[] = {
    {"for", "number", "how long, in seconds: at most a day; 0 takes them back"},
};

constexpr RouteParameter kMetricsParameters[] = {
    {"names", "string",
     "under whose names, by commas: gpusight, dcgm, dcgm46, nvidia_smi; the last three in plain "
     "text only"},
};

// Times are Unix seconds or RFC 3339, durations seconds or such as 5m: everywhere below /api/v1.
constexpr RouteParameter kQuery{"query", "string", "an expression in PromQL"};
constexpr RouteParameter kStart{"start", "string", "the first moment: Unix seconds or RFC 3339"};
constexpr RouteParameter kEnd{"end", "string", "the last moment: Unix seconds or RFC 3339"};
constexpr RouteParameter kLimit{"limit", "integer", "the most entries of the answer; 0: all"};
constexpr RouteParameter kTimeout{"timeout", "string", "a shorter limit of time: 30 or 30s"};
constexpr RouteParameter kLookback{"lookback_delta", "string",
                                   "how old the last sample may be: seconds, or such as 5m"};
constexpr RouteParameter kStats{"stats", "string", "any text: what the query cost is told"};
constexpr RouteParameter kMatch{"match[]", "string", "a series selector; may be repeated"};

constexpr RouteParameter kInstantParameters[] = {
    kQuery,    {"time", "string", "the moment: Unix seconds or RFC 3339; now if missing"},
    kTimeout,  kLimit,
    kLookback, kStats,
};
constexpr RouteParameter kRangeParameters[] = {
    kQuery,   kStart, kEnd,      {"step", "string", "seconds, or such as 5m"},
    kTimeout, kLimit, kLookback, kStats,
};
constexpr RouteParameter kSeriesParameters[] = {kMatch, kStart, kEnd, kLimit};
constexpr RouteParameter kFormatParameters[] = {kQuery};
constexpr RouteParameter kExemplarParameters[] = {kQuery, kStart, kEnd};
constexpr RouteParameter kRulesParameters[] = {{"type", "string", "alert or record"}};
constexpr RouteParameter kMetadataParameters[] = {
    {"metric", "string", "of this one only"},
    {"limit", "integer", "the most metrics"},
    {"limit_per_metric", "integer", "the most entries of a metric; each has one"},
};

constexpr auto kIgnored = Route::Query::kIgnored;
constexpr auto kGet = Route::Methods::kGet;
constexpr auto kGetAndPost = Route::Methods::kGetAndPost;

constexpr Route kRoutes[] = {
    {"/metrics", &Api::metrics,
     "Fresh readings for Prometheus: plain text, or OpenMetrics where it is preferred",
     "text/plain", kMetricsParameters, kIgnored},
    {"/healthz",
     &Api::healthz,
     "The program lives, whatever the driver does",
     "text/plain",
     {},
     kIgnored},
    {"/readyz",
     &Api::readyz,
     "503 until every source was looked at once, at most ten seconds",
     "text/plain",
     {},
     kIgnored},
    {"/api/gpusight/v1/catalog", &Api::catalog,
     "Metrics, reasons, messages and event kinds, with their texts", kJson},
    {"/api/gpusight/v1/snapshot", &Api::snapshot, "Everything known at the newest tick", kJson},
    {"/api/gpusight/v1/events", &Api::events, "What happened, oldest first", kJson,
     kEventParameters},
    {"/api/gpusight/v1/release", &Api::release,
     "Lets go of every device for a while; for root and the daemon's own user, on its Unix socket",
     kJson, kReleaseParameters, Route::Query::kStrict, Route::Methods::kPost},
    {"/api/gpusight/v1/framework",
     &Api::framework,
     "What the sending process tells of itself, a JSON object a line; on the Unix socket",
     kJson,
     {},
     Route::Query::kStrict,
     Route::Methods::kPost},
    {"/api/gpusight/v1/live", &Api::live,
     "WebSocket: a compressed snapshot with the last ten minutes, then what changes", kJson},
    {"/api/gpusight/v1/openapi.json", &Api::openapi, "This description", kJson},
    {"/api/v1/query", &Api::prom<PromCall::kQuery>, "Prometheus: a query at one moment", kJson,
     kInstantParameters, kIgnored, kGetAndPost},
    {"/api/v1/query_range", &Api::prom<PromCall::kQueryRange>, "Prometheus: a query over a range",
     kJson, kRangeParameters, kIgnored, kGetAndPost},
    {"/api/v1/series", &Api::prom<PromCall::kSeries>, "Prometheus: the series that match", kJson,
     kSeriesParameters, kIgnored, kGetAndPost},
    {"/api/v1/labels", &Api::prom<PromCall::kLabels>, "Prometheus: names of labels", kJson,
     kSeriesParameters, kIgnored, kGetAndPost},
    {"/api/v1/label/{name}/values", &Api::prom<PromCall::kLabelValues>,
     "Prometheus: values of a label", kJson, kSeriesParameters, kIgnored, kGet},
    {"/api/v1/metadata", &Api::prom<PromCall::kMetadata>, "Prometheus: what the metrics mean",
     kJson, kMetadataParameters, kIgnored, kGet},
    {"/api/v1/format_query", &Api::prom<PromCall::kFormatQuery>, "Prometheus: a query written well",
     kJson, kFormatParameters, kIgnored, kGetAndPost},
    {"/api/v1/query_exemplars", &Api::prom<PromCall::kQueryExemplars>,
     "Prometheus: exemplars; there are none", kJson, kExemplarParameters, kIgnored, kGetAndPost},
    {"/api/v1/rules", &Api::prom<PromCall::kRules>, "Prometheus: rules; there are none", kJson,
     kRulesParameters, kIgnored, kGet},
    {"/api/v1/alerts",
     &Api::prom<PromCall::kAlerts>,
     "Prometheus: alerts; there are none",
     kJson,
     {},
     kIgnored,
     kGet},
    {"/api/v1/status/buildinfo",
     &Api::prom<PromCall::kBuildInfo>,
     "Prometheus: whose interface this is, by version",
     kJson,
     {},
     kIgnored,
     kGet},
};

// Where "{…}" stands in a path; both are the whole length when it has none.
struct Brace {
  std::string_view before;
  std::string_view behind;
};
Brace brace_of(std::string_view path) {
  const size_t open = path.find('{');
  if (open == std::string_view::npos) return {path, {}};
  return {path.substr(0, open), path.substr(path.find('}') + 1)};
}

bool is_at(const Route& route, std::string_view path) {
  const Brace brace = brace_of(route.path);
  if (brace.before.size() == route.path.size()) return path == route.path;
  return path.size() >= brace.before.size() + brace.behind.size() &&
         path.starts_with(brace.before) && path.ends_with(brace.behind) &&
         path_argument(route, path).find('/') == std::string_view::npos;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

const Route* find_route(std::string_view path) {
  const auto* const route =
      std::ranges::find_if(kRoutes, [&](const Route& r) { return is_at(r, path); });
  return route == std::end(kRoutes) ? nullptr : route;
}

std::string_view path_argument(const Route& route, std::string_view path) {
  const Brace brace = brace_of(route.path);
  return path.substr(brace.before.size(), path.size() - brace.before.size() - brace.behind.size());
}

}  // namespace gpusight::serve
