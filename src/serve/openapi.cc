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

void append_parameters(JsonWriter& w, const Route& route) {
  w.key("parameters").begin_array();
  for (const RouteParameter& parameter : route.parameters) {
    w.begin_object().key("name").string(parameter.name).key("in").string("query");
    w.key("required").boolean(false).key("description").string(parameter.description);
    w.key("schema").begin_object().key("type").string(parameter.type).end_object().end_object();
  }
  w.end_array();
}

void append_route(JsonWriter& w, const Route& route) {
  w.key(route.path).begin_object().key("get").begin_object();
  w.key("summary").string(route.summary);
  if (!route.parameters.empty()) append_parameters(w, route);
  w.key("responses").begin_object();
  if (route.handler == &Api::live) {
    append_response(w, "101", "the stream begins", "");
    append_response(w, "403", "asked for by a page of another site", "application/json");
    append_response(w, "426", "not asked for as a WebSocket", "application/json");
  } else {
    append_response(w, "200", route.summary, route.content_type);
  }
  if (route.handler == &Api::readyz) {
    append_response(w, "503", "the first reading is awaited", route.content_type);
  }
  if (route.query == Route::Query::kStrict || !route.parameters.empty()) {
    append_response(w, "400", "a parameter is wrong; the message names it", "application/json");
  }
  append_response(w, "421", "the Host is not this machine", "application/json");
  w.end_object().end_object().end_object();
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
