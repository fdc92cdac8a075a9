// Everything that is answered over HTTP: one table of routes, their handlers, and the checks that
// come before them (Host, Origin, method, parameters). Knows no sockets.
//
// One thread: the server's. Answers from the published snapshot and never waits for a driver; what
// must read history becomes work for another thread (Response::work), which the Api outlives.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "export/prometheus/render.h"
#include "sample/hub.h"
#include "serve/assets.h"
#include "serve/http_message.h"
#include "serve/prom_api.h"
#include "store/event_log.h"

namespace gpusight::serve {

class Api;

struct RouteParameter {
  std::string_view name;
  std::string_view type;  // JSON schema: "number", "integer", "string"
  std::string_view description;
};

struct Route {
  std::string_view path;  // one part of it may be any: "/api/v1/label/{name}/values"
  Response (Api::*handler)(const Request&);
  std::string_view summary;
  std::string_view content_type;  // of the usual answer
  std::span<const RouteParameter> parameters = {};
  // What others send along is passed over where tools of theirs ask, refused in our own API.
  enum class Query : uint8_t { kStrict, kIgnored } query = Query::kStrict;
  // What answers GET answers HEAD as well. Parameters of a POST stand in its body, as those of a
  // form.
  enum class Methods : uint8_t { kGet, kGetAndPost, kPost } methods = Methods::kGet;
};
std::span<const Route> routes();
const Route* find_route(std::string_view path);  // nullptr: none
// What a path has in place of "{…}".
std::string_view path_argument(const Route& route, std::string_view path);

class Api {
 public:
  // All pointers outlive the Api.
  struct Options {
    const sample::SnapshotHub* hub = nullptr;
    const store::EventLog* events = nullptr;  // nullptr: no events
    const Clock* clock = nullptr;
    std::string version;
    std::span<const Asset> assets;
    prometheus::NameSets metrics_names = {};   // of /metrics when a request names none
    const model::Queryable* series = nullptr;  // what /api/v1 answers from
    promql::QueryLimits query_limits = PromApi::Options{}.limits;
    // Lets go of every device for so long, zero takes them back; tells until when. Any thread,
    // returns at once. Empty: there are none to let go of.
    std::function<WallTime(Duration)> release = {};
    // Takes what a process on this machine tells of itself. Returns at once. Empty: nobody listens.
    std::function<Status(const model::LocalUser&, std::string_view lines)> tell = {};
  };
  explicit Api(Options options);

  // Status 101 says: go on as the live stream, there is no body.
  Response handle(const Request& request);

  // Handlers, named by the table.
  Response metrics(const Request& request);
  Response healthz(const Request& request);
  Response readyz(const Request& request);
  Response catalog(const Request& request);
  Response snapshot(const Request& request);
  Response events(const Request& request);
  Response live(const Request& request);
  Response openapi(const Request& request);
  Response release(const Request& request);
  Response framework(const Request& request);
  template <PromCall call>
  Response prom(const Request& request) {
    return ask_prom(call, request);
  }

 private:
  using SharedText = std::shared_ptr<const std::string>;
  // Both forms of one text, each made when first asked for.
  struct Rendered {
    SharedText plain;
    SharedText gzip;
  };

  Response page(const Request& request) const;
  Response ask_prom(PromCall call, const Request& request) const;
  Response constant_document(const Request& request, Rendered& cache, std::string text) const;

  const Options options_;
  struct {
    model::SnapshotPtr snapshot;
    bool outdated = false;
    // Plain text by NameSets::number(), which is never 0: there is OpenMetrics.
    std::array<Rendered, prometheus::NameSets::kCombinations> texts;
  } metrics_;
  PromApi prom_;
  Rendered catalog_;
  Rendered openapi_;
};

// The description of routes(), as OpenAPI 3.
std::string openapi_json(std::string_view version);

}  // namespace gpusight::serve
