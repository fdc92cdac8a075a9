// The description of the API, from its table of routes.
#include "base/json_writer.h"
#include "serve/api.h"

namespace gpusight::serve {
namespace {

void append_response(JsonWriter& w, std::string_view status, std::string_view description,
                     std::string_view content_type) {
  w.key(status).begin_object().key("description").string(description);
  if (!content_type.empty()) {
    w.key("content").begin_object().key(content_type).begin_object();
    w.key("schema").begin_object();
    w.key("type").string(content_type == "application/json" ? "object" : "string");
    w.end_object().end_object().end_object();
  }
  w.end_object();
}

// What stands in place of "{…}" in the path, then what the target may have.
void append_parameters(JsonWriter& w, const Route& route) {
  const size_t open = route.path.find('{');
  const bool has_part = open != std::string_view::npos;
  if (route.parameters.empty() && !has_part) return;
  w.key("parameters").begin_array();
  if (has_part) {
    w.begin_object().key("name");
    w.string(route.path.substr(open + 1, route.path.find('}') - open - 1));
    w.key("in").string("path").key("required").boolean(true);
    w.key("schema").begin_object().key("type").string("string").end_object().end_object();
  }
  for (const RouteParameter& parameter : route.parameters) {
    w.begin_object().key("name").string(parameter.name).key("in").string("query");
    w.key("required").boolean(false).key("description").string(parameter.description);
    w.key("schema").begin_object().key("type").string(parameter.type).end_object().end_object();
  }
  w.end_array();
}

// The same parameters as those of a form; lines where there are none.
void append_body(JsonWriter& w, const Route& route) {
  w.key("requestBody").begin_object().key("content").begin_object();
  if (route.parameters.empty()) {
    w.key("application/x-ndjson").begin_object().key("schema").begin_object();
    w.key("type").string("string").end_object().end_object().end_object().end_object();
    return;
  }
  w.key("application/x-www-form-urlencoded").begin_object().key("schema").begin_object();
  w.key("type").string("object").key("properties").begin_object();
  for (const RouteParameter& parameter : route.parameters) {
    w.key(parameter.name).begin_object().key("type").string(parameter.type);
    w.key("description").string(parameter.description).end_object();
  }
  w.end_object().end_object().end_object().end_object().end_object();
}

bool is_prometheus(const Route& route) { return route.path.starts_with("/api/v1/"); }

void append_refusals(JsonWriter& w, const Route& route) {
  if (route.handler == &Api::readyz) {
    append_response(w, "503", "the first reading is awaited", route.content_type);
  }
  if (route.query == Route::Query::kStrict || !route.parameters.empty()) {
    append_response(w, "400", "a parameter is wrong; the message names it", "application/json");
  }
  append_response(w, "421", "the Host is not this machine", "application/json");
  if (!is_prometheus(route)) return;
  append_response(w, "422", "the query cannot be answered, or a limit was reached",
                  "application/json");
  append_response(w, "503", "no time was left, or too many queries wait", "application/json");
}

void append_operation(JsonWriter& w, const Route& route, std::string_view method) {
  w.key(method).begin_object().key("summary").string(route.summary);
  if (method == "post") {
    append_body(w, route);
  } else {
    append_parameters(w, route);
  }
  w.key("responses").begin_object();
  if (route.handler == &Api::live) {
    append_response(w, "101", "the stream begins", "");
    append_response(w, "403", "asked for by a page of another site", "application/json");
    append_response(w, "426", "not asked for as a WebSocket", "application/json");
  } else {
    append_response(w, "200", route.summary, route.content_type);
  }
  const bool is_told = route.handler == &Api::framework;
  if (is_told || route.handler == &Api::release) {
    append_response(w, "403", "not for this caller", "application/json");
  }
  if (is_told) {
    append_response(w, "400", "a line is wrong; the message names it", "application/json");
    append_response(w, "404", "the sender is not to be seen", "application/json");
    append_response(w, "429", "too many messages or processes", "application/json");
  }
  append_refusals(w, route);
  w.end_object().end_object();
}

void append_route(JsonWriter& w, const Route& route) {
  w.key(route.path).begin_object();
  if (route.methods != Route::Methods::kPost) append_operation(w, route, "get");
  if (route.methods != Route::Methods::kGet) append_operation(w, route, "post");
  w.end_object();
}

}  // namespace

std::string openapi_json(std::string_view version) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("openapi").string("3.0.3").key("info").begin_object();
  w.key("title").string("gpusight").key("version").string(version);
  w.key("description")
      .string(
          "What gpusight serves on this machine. Within /api/gpusight/v1 documents only gain "
          "members; readers pass over what they do not know.");
  w.end_object().key("paths").begin_object();
  for (const Route& route : routes()) append_route(w, route);
  w.end_object().end_object();
  return out;
}

}  // namespace gpusight::serve
