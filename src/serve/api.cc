#include "serve/api.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/snapshot_json.h"
#include "serve/gzip.h"
#include "serve/prom_json.h"

namespace gpusight::serve {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr size_t kMostEvents = 10000;
constexpr size_t kUsualEvents = 1000;
constexpr double kLongestRelease = 86400;
constexpr double kLastSecond = 9e9;  // what a 64-bit count of nanoseconds holds

Response json_response(std::string text) {
  return {.headers = {{"Cache-Control", "no-store"}}, .body = Body::of(std::move(text))};
}

std::optional<Response> check_origin(const Request& request) {
  if (request.is_local_socket) return std::nullopt;
  if (request.host_count > 1) {
    return error_response(400, "bad_request", "the request has more than one Host");
  }
  if (request.host_count == 0 || !is_local_host(request.host)) {
    return error_response(421, "wrong_host",
                          "this server answers to localhost, 127.0.0.1 and [::1] only");
  }
  if (request.has_origin && !is_same_origin(request.origin, request.host)) {
    return error_response(403, "wrong_origin", "requests from other sites are refused");
  }
  return std::nullopt;
}

bool is_allowed(std::string_view method, Route::Methods methods) {
  if (method == "POST") return methods != Route::Methods::kGet;
  return (method == "GET" || method == "HEAD") && methods != Route::Methods::kPost;
}

Response wrong_method(Route::Methods methods) {
  struct Answer {
    std::string_view allow;
    std::string_view message;
  };
  constexpr Answer kAnswers[] = {
      {"GET, HEAD", "this path answers GET and HEAD"},
      {"GET, HEAD, POST", "this path answers GET, HEAD and POST"},
      {"POST", "this path answers POST"},
  };
  const Answer& answer = kAnswers[static_cast<size_t>(methods)];
  Response refusal = error_response(405, "wrong_method", answer.message);
  refusal.headers.emplace_back("Allow", std::string(answer.allow));
  return refusal;
}

Response bad_parameter(std::string_view name, std::string_view what) {
  std::string message = "parameter ";
  message.append(clean_text(name, 64)).append(": ").append(what);
  return error_response(400, "bad_parameter", message);
}

std::optional<Response> check_parameters(const Route& route, const Parameters& parameters) {
  if (route.query == Route::Query::kIgnored) return std::nullopt;
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : parameters) {
    if (std::ranges::find(route.parameters, name, &RouteParameter::name) ==
        route.parameters.end()) {
      return bad_parameter(name, "there is none of this name");
    }
    if (std::ranges::find(seen, name) != seen.end()) return bad_parameter(name, "given twice");
    seen.push_back(name);
  }
  return std::nullopt;
}

// The filter that the parameters ask for, or what is wrong with them.
struct EventQuery {
  store::EventFilter filter{.limit = kUsualEvents};
  std::optional<Response> error;
};

EventQuery read_event_query(const Parameters& parameters) {
  EventQuery query;
  store::EventFilter& filter = query.filter;
  for (const auto& [name, value] : parameters) {
    if (name == "from" || name == "to") {
      const auto time = parse_double(value);
      if (!time || !(*time >= 0 && *time <= kLastSecond)) {
        query.error = bad_parameter(name, "not a time in Unix seconds");
        return query;
      }
      (name == "from" ? filter.from : filter.to) = WallTime(from_seconds(*time));
    } else if (name == "kind") {
      const catalog::EventKindRow* kind = catalog::find_event_kind(value);
      if (kind == nullptr) {
        query.error = bad_parameter(name, "not a kind of event");
        return query;
      }
      filter.kind = kind->kind;
    } else if (name == "uuid") {
      filter.uuid = value;
    } else if (name == "limit") {
      const auto limit = parse_uint(value);
      if (!limit || *limit < 1 || *limit > kMostEvents) {
        query.error = bad_parameter(name, "not a whole number from 1 to 10000");
        return query;
      }
      filter.limit = *limit;
    }
  }
  if (filter.from && filter.to && *filter.from > *filter.to) {
    query.error = bad_parameter("from", "later than to");
  }
  return query;
}

// The first ticks may come before a driver's library has opened: whoever reads devices then finds
// none. One that hangs while it opens is waited for only so long.
bool is_ready(const model::Snapshot& snapshot) {
  constexpr Duration kLongEnough = std::chrono::seconds(10);
  if (snapshot.sequence == 0) return false;
  const bool all_looked_at =
      std::ranges::none_of(snapshot.sources, [](const model::SourceStatus& source) {
        return source.phase == model::SourcePhase::kStarting;
      });
  return all_looked_at || snapshot.interval * static_cast<int64_t>(snapshot.sequence) > kLongEnough;
}

// What `names` asks for, given once or more often; the usual ones where it is not.
Result<prometheus::NameSets> wanted_names(const Parameters& parameters,
                                          prometheus::NameSets usual) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parameters) {
    if (name == "names") texts.push_back(value);
  }
  if (texts.empty()) return usual;
  return prometheus::parse_name_sets(texts);
}

// The newest that match and that the caller may see.
std::vector<model::Event> visible_events(const store::EventLog& log, store::EventFilter filter,
                                         const model::Caller& caller) {
  const size_t limit = filter.limit;
  if (caller.role != model::Role::kAdmin) filter.limit = kMostEvents;
  std::vector<model::Event> events = log.find(filter);
  std::erase_if(events, [&](const model::Event& e) { return !model::may_see(caller, e); });
  if (events.size() > limit) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(limit));
  }
  return events;
}

}  // namespace

Api::Api(Options options)
    : options_(std::move(options)),
      prom_({.data = options_.series,
             .clock = options_.clock,
             .version = options_.version,
             .limits = options_.query_limits}) {}

Response Api::handle(const Request& request) {
  if (auto refusal = check_origin(request)) return std::move(*refusal);
  const Route* route = find_route(request.target.path);
  const bool is_page = route == nullptr;
  const bool is_known = !is_page || request.target.path == "/" ||
                        find_asset(options_.assets, request.target.path) != nullptr;
  if (!is_known) return error_response(404, "not_found", "there is nothing at this path");
  const auto methods = is_page ? Route::Methods::kGet : route->methods;
  if (!is_allowed(request.method, methods)) return wrong_method(methods);
  if (is_page) return page(request);
  if (auto refusal = check_parameters(*route, request.target.parameters)) {
    return std::move(*refusal);
  }
  return (this->*route->handler)(request);
}

Response Api::metrics(const Request& request) {
  const auto names = wanted_names(request.target.parameters, options_.metrics_names);
  if (!names.ok()) return bad_parameter("names", names.status().message());
  model::SnapshotPtr snapshot = options_.hub->latest();
  const bool outdated = prometheus::is_outdated(*snapshot, options_.clock->mono());
  if (metrics_.snapshot != snapshot || metrics_.outdated != outdated) {
    metrics_ = {std::move(snapshot), outdated, {}};
  }
  const auto wanted = prefers_open_metrics(request.accept) ? prometheus::Format::kOpenMetrics100
                                                           : prometheus::Format::kText004;
  const prometheus::Format format = prometheus::format_of(*names, wanted);
  const prometheus::RenderOptions options{.format = format,
                                          .version = options_.version,
                                          .outdated = outdated,
                                          .names = *names,
                                          .caller = request.caller};
  Response response{.content_type = prometheus::content_type(format),
                    .headers = {{"Cache-Control", "no-store"}}};
  // Those who may see more than a stranger get a text of their own.
  if (prometheus::depends_on_caller(*names) && request.caller.role != model::Role::kView) {
    response.body = Body::of(prometheus::render(*metrics_.snapshot, options));
    return compressed_if_wanted(request.accept_encoding, std::move(response));
  }
  const bool is_plain = format == prometheus::Format::kText004;
  Rendered& rendered = metrics_.texts[is_plain ? names->number() : 0];
  if (rendered.plain == nullptr) {
    rendered.plain =
        std::make_shared<const std::string>(prometheus::render(*metrics_.snapshot, options));
  }
  response.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  response.body = Body::shared(rendered.plain);
  if (!accepted_encodings(request.accept_encoding).gzip) return response;
  if (rendered.gzip == nullptr) {
    rendered.gzip = std::make_shared<const std::string>(gzip(*rendered.plain));
  }
  response.body = Body::shared(rendered.gzip);
  response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

Response Api::healthz(const Request&) {
  return {.content_type = kPlain,
          .headers = {{"Cache-Control", "no-store"}},
          .body = Body::constant("ok\n")};
}

Response Api::readyz(const Request&) {
  const bool ready = is_ready(*options_.hub->latest());
  return {.status = ready ? 200U : 503U,
          .content_type = kPlain,
          .headers = {{"Cache-Control", "no-store"}},
          .body = Body::constant(ready ? "ready\n" : "waiting for the first reading\n")};
}

Response Api::constant_document(const Request& request, Rendered& cache, std::string text) const {
  if (cache.plain == nullptr) {
    cache.gzip = std::make_shared<const std::string>(gzip(text));
    cache.plain = std::make_shared<const std::string>(std::move(text));
  }
  Response response{.headers = {{"Cache-Control", "no-cache"}, {"Vary", "Accept-Encoding"}},
                    .body = Body::shared(cache.plain)};
  if (accepted_encodings(request.accept_encoding).gzip) {
    response.body = Body::shared(cache.gzip);
    response.headers.emplace_back("Content-Encoding", "gzip");
  }
  return response;
}

Response Api::catalog(const Request& request) {
  const bool is_made = catalog_.plain != nullptr;
  return constant_document(request, catalog_, is_made ? "" : model::catalog_json(options_.version));
}

Response Api::openapi(const Request& request) {
  const bool is_made = openapi_.plain != nullptr;
  return constant_document(request, openapi_, is_made ? "" : openapi_json(options_.version));
}

Response Api::snapshot(const Request& request) {
  const model::SnapshotPtr snapshot = options_.hub->latest();
  return compressed_if_wanted(
      request.accept_encoding,
      json_response(model::snapshot_json(*snapshot, request.caller, options_.version)));
}

Response Api::events(const Request& request) {
  EventQuery query = read_event_query(request.target.parameters);
  if (query.error) return std::move(*query.error);
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("events").begin_array();
  if (options_.events != nullptr) {
    for (const auto& event : visible_events(*options_.events, query.filter, request.caller)) {
      model::append_event_json(w, event, request.caller);
    }
  }
  w.end_array().end_object();
  return compressed_if_wanted(request.accept_encoding, json_response(std::move(out)));
}

Response Api::live(const Request& request) {
  if (request.is_upgrade) return {.status = 101};
  Response refusal = error_response(426, "upgrade_required", "this path speaks WebSocket only");
  refusal.headers.emplace_back("Upgrade", "websocket");
  return refusal;
}

Response Api::release(const Request& request) {
  // A browser whose page may reach the socket, through a tunnel, speaks for nobody.
  if (request.has_origin) {
    return error_response(403, "not_allowed", "pages of a browser may not release devices");
  }
  if (request.caller.role != model::Role::kAdmin) {
    return error_response(403, "not_allowed",
                          "only root and the daemon's own user may release devices, on its Unix "
                          "socket");
  }
  if (!options_.release) return error_response(404, "not_found", "there is nothing to let go of");
  Parameters parameters = request.target.parameters;
  if (!request.body.empty()) {
    if (!is_form(request.content_type)) {
      return error_response(400, "bad_parameter",
                            "a body is wanted as application/x-www-form-urlencoded");
    }
    const Status read = add_parameters(request.body, parameters);
    if (!read.ok()) return error_response(400, "bad_parameter", read.message());
    if (auto refusal = check_parameters(*find_route(request.target.path), parameters)) {
      return std::move(*refusal);
    }
  }
  const auto how_long = parameters.empty() ? std::nullopt : parse_double(parameters[0].second);
  if (!how_long || !(*how_long >= 0 && *how_long <= kLongestRelease)) {
    return bad_parameter("for", "not a number of seconds from 0 to 86400");
  }
  const WallTime until = options_.release(from_seconds(*how_long));
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("until");
  if (*how_long > 0) {
    w.number(std::floor(unix_seconds(until)));
  } else {
    w.null();
  }
  w.end_object();
  return json_response(std::move(out));
}

Response Api::framework(const Request& request) {
  const auto* const sender = std::get_if<model::LocalUser>(&request.caller.identity);
  if (sender == nullptr || request.has_origin) {
    return error_response(403, "not_allowed",
                          "a process tells of itself on the Unix socket, which says who it is");
  }
  if (!options_.tell) return error_response(404, "not_found", "nobody listens here");
  const Status taken = options_.tell(*sender, request.body);
  if (taken.ok()) return json_response("{\"status\":\"ok\"}");
  const bool is_too_much = taken.code() == Code::kExhausted;
  if (is_too_much) return error_response(429, "too_many", taken.message());
  const bool is_bad = taken.code() == Code::kInvalidArgument;
  return error_response(is_bad ? 400 : 404, is_bad ? "bad_line" : "not_found", taken.message());
}

// Parameters of a form count before those of the target, as in Prometheus.
Response Api::ask_prom(PromCall call, const Request& request) const {
  PromQuestion question{.call = call, .asked_at = options_.clock->mono()};
  if (!request.body.empty()) {
    if (!is_form(request.content_type)) {
      return prom_error(PromError::kBadData,
                        "a body is wanted as application/x-www-form-urlencoded");
    }
    const Status read = add_parameters(request.body, question.parameters);
    if (!read.ok()) return prom_error(PromError::kBadData, read.message());
  }
  question.parameters.insert(question.parameters.end(), request.target.parameters.begin(),
                             request.target.parameters.end());
  if (call == PromCall::kLabelValues) {
    question.label = path_argument(*find_route(request.target.path), request.target.path);
  }
  Response::Work work = [this, question = std::move(question),
                         encoding = request.accept_encoding](const std::stop_token& stop) {
    return compressed_if_wanted(encoding, prom_.answer(question, stop));
  };
  if (!PromApi::reads_history(call)) return work({});
  return {.work = std::move(work)};
}

Response Api::page(const Request& request) const {
  std::string_view path = request.target.path;
  if (path == "/") path = "/index.html";
  const Asset* asset = find_asset(options_.assets, path);
  if (asset == nullptr) {
    const catalog::Text& text = catalog::message(catalog::MessageId::kServeNoPage).text;
    std::string lines(text.en);
    lines.append("\n").append(text.zh).append("\n");
    for (const Route& route : routes()) lines.append("  ").append(route.path).append("\n");
    return {.content_type = kPlain,
            .headers = {{"Cache-Control", "no-cache"}},
            .body = Body::of(std::move(lines))};
  }
  Response response{
      .content_type = content_type_of(path),
      .headers = {{"ETag", std::string(asset->etag)},
                  {"Cache-Control",
                   is_immutable(path) ? "public, max-age=31536000, immutable" : "no-cache"},
                  {"Vary", "Accept-Encoding"}},
      .body = Body::constant(asset->plain)};
  if (names_etag(request.if_none_match, asset->etag)) {
    response.status = 304;
    response.body = {};
    return response;
  }
  const Encodings accepted = accepted_encodings(request.accept_encoding);
  if (accepted.brotli && asset->brotli.size() < asset->plain.size()) {
    response.body = Body::constant(asset->brotli);
    response.headers.emplace_back("Content-Encoding", "br");
  } else if (accepted.gzip && asset->gzip.size() < asset->plain.size()) {
    response.body = Body::constant(asset->gzip);
    response.headers.emplace_back("Content-Encoding", "gzip");
  }
  return response;
}

}  // namespace gpusight::serve
