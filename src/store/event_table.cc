#include "store/event_table.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpusight::store {
namespace {

using Json = nlohmann::json;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const catalog::EventKindRow* find_kind(int64_t wire) {
  for (const catalog::EventKindRow& row : catalog::event_kinds()) {
    if (row.wire == wire) return &row;
  }
  return nullptr;
}

catalog::Severity severity_of(std::string_view name, catalog::Severity otherwise) {
  using enum catalog::Severity;
  for (const auto severity : {kInfo, kWarning, kError}) {
    if (catalog::severity_name(severity) == name) return severity;
  }
  return otherwise;
}

std::vector<std::string> texts_of(std::string_view text) {
  std::vector<std::string> texts;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return texts;
  for (const Json& item : json) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::optional<model::Event> event_of(const Stmt& row) {
  const catalog::EventKindRow* kind = find_kind(row.number(2));
  if (kind == nullptr) return std::nullopt;
  model::Event event{.id = static_cast<uint64_t>(row.number(0)),
                     .wall = WallTime(Duration(row.number(1))),
                     .kind = kind->kind,
                     .severity = severity_of(row.text(3), kind->severity),
                     .uuid = std::string(row.text(4)),
                     .code = row.number(5),
                     .arguments = texts_of(row.text(7))};
  // Names and texts in turn.
  const std::vector<std::string> fields = texts_of(row.text(6));
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    event.fields.emplace_back(fields[i], fields[i + 1]);
  }
  return event;
}

}  // namespace

Status insert_events(Db& db, std::span<const model::Event> events) {
  if (events.empty()) return {};
  Stmt insert = TRY(db.prepare(
      "INSERT OR REPLACE INTO event(id, wall_ns, kind, severity, uuid, code, fields, arguments)"
      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  for (const model::Event& event : events) {
    Json fields = Json::array();
    for (const auto& [name, text] : event.fields) {
      fields.push_back(name);
      fields.push_back(text);
    }
    TRY(insert.bind(1, static_cast<int64_t>(event.id))
            .bind(2, int64_t{event.wall.time_since_epoch().count()})
            .bind(3, int64_t{catalog::event_kind(event.kind).wire})
            .bind(4, catalog::severity_name(event.severity))
            .bind(5, std::string_view(event.uuid))
            .bind(6, event.code)
            .bind(7, std::string_view(dumped(fields)))
            .bind(8, std::string_view(dumped(Json(event.arguments))))
            .run());
  }
  return {};
}

Result<std::vector<model::Event>> find_events(Db& db, const EventFilter& filter) {
  std::string sql =
      "SELECT id, wall_ns, kind, severity, uuid, code, fields, arguments FROM event WHERE id > ?1";
  if (filter.from) sql += " AND wall_ns >= ?2";
  if (filter.to) sql += " AND wall_ns <= ?3";
  if (filter.kind) sql += " AND kind = ?4";
  if (!filter.uuid.empty()) sql += " AND uuid = ?5";
  sql += " ORDER BY id DESC LIMIT ?6";
  Stmt rows = TRY(db.prepare(sql));
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  rows.bind(1, static_cast<int64_t>(std::min(filter.after_id, kMost)));
  if (filter.from) rows.bind(2, int64_t{filter.from->time_since_epoch().count()});
  if (filter.to) rows.bind(3, int64_t{filter.to->time_since_epoch().count()});
  if (filter.kind) rows.bind(4, int64_t{catalog::event_kind(*filter.kind).wire});
  if (!filter.uuid.empty()) rows.bind(5, std::string_view(filter.uuid));
  rows.bind(6, static_cast<int64_t>(std::min<uint64_t>(filter.limit, kMost)));
  std::vector<model::Event> found;
  while (TRY(rows.step())) {
    if (auto event = event_of(rows)) found.push_back(std::move(*event));
  }
  std::ranges::reverse(found);
  return found;
}

Result<uint64_t> last_event_id(Db& db) {
  return static_cast<uint64_t>(TRY(db.number("SELECT MAX(id) FROM event")).value_or(0));
}

Status trim_events(Db& db, WallTime before, int64_t most) {
  TRY(TRY(db.prepare("DELETE FROM event WHERE wall_ns < ?1"))
          .bind(1, int64_t{before.time_since_epoch().count()})
          .run());
  return TRY(db.prepare("DELETE FROM event WHERE id <= (SELECT MAX(id) FROM event) - ?1"))
      .bind(1, most)
      .run();
}

}  // namespace gpusight::store
