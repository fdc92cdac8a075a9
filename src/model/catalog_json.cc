// The catalogue and events as JSON.
#include <algorithm>

#include "catalog/event_kind.h"
#include "model/snapshot_json.h"
#include "model/snapshot_json_parts.h"

namespace gpusight::model {
namespace {

using catalog::MetricRow;
using parts::append_text;

constexpr std::string_view kStats[] = {"mean", "min", "max"};

// Fields that would tell who runs what to those who may not know.
constexpr std::string_view kPrivateFields[] = {"pid",          "process", "name", "command",
                                               "command_line", "user",    "uid"};

void append_metric_row(JsonWriter& w, const MetricRow& row) {
  w.begin_object().key("name").string(row.name).key("unit").string(catalog::unit_name(row.unit));
  w.key("symbol").string(catalog::unit_symbol(row.unit));
  w.key("kind").string(catalog::kind_name(row.kind));
  w.key("scope").string(catalog::scope_name(row.scope)).key("label").string(row.label);
  w.key("cadence").string(catalog::cadence_name(row.cadence));
  w.key("resolution").number(row.resolution.as_double());
  w.key("min").number(row.min).key("max").number(row.max);
  w.key("group").string(catalog::group_key(row.group)).key("brief");
  append_text(w, row.brief);
  append_text(w.key("help"), row.help);
  w.key("stat").string(kStats[static_cast<size_t>(row.stat)]).key("mean");
  if (row.mean_row) {
    w.string(catalog::metric(*row.mean_row).name);
  } else {
    w.null();
  }
  w.end_object();
}

bool is_about_a_process(const Event& event) {
  return event.kind == catalog::EventKind::kProcessStart ||
         event.kind == catalog::EventKind::kProcessExit;
}

const std::string* find_field(const Event& event, std::string_view name) {
  const auto at = std::ranges::find(
      event.fields, name, [](const auto& field) { return std::string_view(field.first); });
  return at == event.fields.end() ? nullptr : &at->second;
}

bool owns(const Caller& caller, const Event& event) {
  const auto* user = std::get_if<LocalUser>(&caller.identity);
  const std::string* uid = find_field(event, "uid");
  return caller.role == Role::kOwn && user != nullptr && uid != nullptr &&
         *uid == std::to_string(user->uid);
}

}  // namespace

bool may_see(const Caller& caller, const Event& event) {
  return caller.role == Role::kAdmin || !is_about_a_process(event) || owns(caller, event);
}

void append_event_json(JsonWriter& w, const Event& event, const Caller& caller) {
  const catalog::EventKindRow& kind = catalog::event_kind(event.kind);
  const bool sees_all = caller.role == Role::kAdmin || owns(caller, event);
  w.begin_object().key("id").integer(static_cast<int64_t>(event.id));
  w.key("time").number(parts::document_time(event.wall)).key("kind").string(kind.key);
  w.key("severity").string(catalog::severity_name(event.severity));
  w.key("uuid").string(event.uuid).key("code").integer(event.code);
  w.key("fields").begin_object();
  for (const auto& [name, value] : event.fields) {
    const bool is_private = std::ranges::find(kPrivateFields, name) != std::end(kPrivateFields);
    if (sees_all || !is_private) w.key(name).string(value);
  }
  using catalog::Lang;
  w.end_object().key("message");
  append_text(w, {catalog::format_message(kind.message, Lang::kEnglish, event.arguments),
                  catalog::format_message(kind.message, Lang::kChinese, event.arguments)});
  w.end_object();
}

std::string catalog_json(std::string_view version) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("schema").integer(kSnapshotSchema).key("version").string(version);
  w.key("metrics").begin_array();
  for (const MetricRow& row : catalog::metrics()) append_metric_row(w, row);
  w.end_array().key("groups").begin_array();
  for (const catalog::Group group : catalog::groups()) {
    w.begin_object().key("key").string(catalog::group_key(group)).key("title");
    append_text(w, catalog::group_title(group));
    w.end_object();
  }
  w.end_array().key("reasons").begin_object();
  for (size_t i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    append_text(w.key(reason_key(reason)), catalog::message(reason_message(reason)).text);
  }
  w.end_object().key("messages").begin_object();
  for (const catalog::MessageRow& row : catalog::messages()) {
    if (row.id != catalog::MessageId::kNone) append_text(w.key(row.key), row.text);
  }
  w.end_object().key("event_kinds").begin_array();
  for (const catalog::EventKindRow& kind : catalog::event_kinds()) {
    w.begin_object().key("key").string(kind.key);
    w.key("severity").string(catalog::severity_name(kind.severity)).key("title");
    append_text(w, kind.title);
    w.end_object();
  }
  w.end_array().end_object();
  return out;
}

}  // namespace gpusight::model
