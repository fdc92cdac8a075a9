#include "cli/query.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/display_width.h"
#include "base/text.h"
#include "cli/csv.h"
#include "cli/daemon.h"
#include "cli/format.h"
#include "cli/history_place.h"
#include "cli/query_answer.h"
#include "cli/table.h"
#include "cli/time_text.h"
#include "promql/parser.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::Config;
using config::OptionId;
using config::OriginKind;

// What a query may take; the daemon's own limit is lower.
constexpr Duration kPatience = std::chrono::minutes(3);
constexpr int64_t kSteps = 250;
constexpr std::string_view kNameLabel = "__name__";

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-_.~";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kPlain.find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

std::string seconds_text(int64_t ms) { return number_text(static_cast<double>(ms) / 1000); }

int64_t milliseconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// The question as the API takes it. A failure's text is for the user.
Result<std::string> target_of(const Config& config, WallTime now) {
  const Lang lang = config.lang();
  const std::string query = "?query=" + percent_encoded(config.arguments()[0]);
  const std::string& start = config.get<OptionId::kStart>();
  const int64_t range_ms = milliseconds_of(config.get<OptionId::kRange>());
  if (start.empty() && range_ms == 0) {
    for (const OptionId id : {OptionId::kEnd, OptionId::kStep}) {
      if (config.is_default(id)) continue;
      return Status(Code::kInvalidArgument,
                    say(MessageId::kUsageMissingArgument, lang, std::string("--start, --range")));
    }
    const int64_t at_ms =
        TRY(parse_time_option(OptionId::kAt, config.get<OptionId::kAt>(), now, lang));
    return "/api/v1/query" + query + "&time=" + seconds_text(at_ms);
  }
  for (const OptionId id : {OptionId::kAt, start.empty() ? OptionId::kAt : OptionId::kRange}) {
    if (config.is_default(id)) continue;
    const std::string first = start.empty() ? "--range" : "--start";
    return Status(Code::kInvalidArgument,
                  say(MessageId::kUsageExclusive, lang, first, config.origin(id).where));
  }
  const int64_t end_ms =
      TRY(parse_time_option(OptionId::kEnd, config.get<OptionId::kEnd>(), now, lang));
  const int64_t start_ms = start.empty()
                               ? std::max<int64_t>(end_ms - range_ms, 0)
                               : TRY(parse_time_option(OptionId::kStart, start, now, lang));
  if (start_ms > end_ms) {
    return Status(Code::kInvalidArgument,
                  say(MessageId::kUsageBadValue, lang, std::string("--start"), clean_text(start),
                      say(MessageId::kWantOrder, lang)));
  }
  int64_t step_ms = milliseconds_of(config.get<OptionId::kStep>());
  if (step_ms == 0) step_ms = std::max<int64_t>((end_ms - start_ms) / kSteps / 1000, 1) * 1000;
  return "/api/v1/query_range" + query + "&start=" + seconds_text(start_ms) +
         "&end=" + seconds_text(end_ms) + "&step=" + seconds_text(step_ms);
}

bool named_by_hand(const Config& config, OptionId id) {
  const OriginKind kind = config.origin(id).kind;
  return kind == OriginKind::kFlag || kind == OriginKind::kEnvironment;
}

struct Body {
  std::string from;  // the socket, or the history's file
  std::string text;
};

// The API's answer as it came. A failure's text is for the user.
Result<Body> ask(const Config& config, const Machine& machine, const Hooks& hooks,
                 const platform::HttpClient& client, const std::string& target) {
  const std::string& named = config.get<OptionId::kSocket>();
  std::vector<std::string> sockets = machine.paths.daemon_sockets;
  if (!named.empty()) sockets = {named};
  const bool must_be_daemon = config.origin(OptionId::kSocket).kind == OriginKind::kFlag;
  const bool own_reading =
      named_by_hand(config, OptionId::kStateDir) || named_by_hand(config, OptionId::kHistoryFile);
  if (own_reading && !must_be_daemon) sockets.clear();
  for (const std::string& socket : sockets) {
    const Result<DaemonAnswer> asked = ask_daemon(client, {&socket, 1}, target, kPatience);
    if (asked.ok()) return Body{socket, asked->response.body};
    if (asked.status().code() == Code::kNotFound && !must_be_daemon) continue;
    return Status(asked.status().code(),
                  say(MessageId::kDaemonUnreachable, config.lang(), clean_text(socket),
                      clean_text(asked.status().message(), 1024)));
  }
  const auto place = find_history(config, machine);
  // What is wrong with the file is told better here than by a query over it.
  const Status readable =
      place.ok() ? open_history(*place, config.lang()).status() : place.status();
  if (readable.ok()) return Body{place->path, hooks.answer_query(target, place->path)};
  if (own_reading) return readable;
  return Status(readable.code(),
                say(MessageId::kQueryUnanswered, config.lang(), readable.message()));
}

// Names of all labels of an answer, the metric's first.
std::vector<std::string> columns_of(const QueryAnswer& answer) {
  std::set<std::string> names;
  for (const QueryAnswer::Row& row : answer.rows) {
    for (const auto& [name, value] : row.labels) names.insert(name);
  }
  std::vector<std::string> columns;
  if (names.erase(std::string(kNameLabel)) > 0) columns.emplace_back(kNameLabel);
  columns.insert(columns.end(), names.begin(), names.end());
  return columns;
}

std::string column_title(const std::string& label) {
  return label == kNameLabel ? "metric" : label;
}

std::string value_of(const QueryAnswer::Row& row, const std::string& label) {
  const auto at = row.labels.find(label);
  return at == row.labels.end() ? std::string() : at->second;
}

std::string answer_csv(const QueryAnswer& answer) {
  const std::vector<std::string> columns = columns_of(answer);
  std::string out = "time";
  for (const std::string& column : columns) out += "," + csv_field(column_title(column));
  out += ",value\n";
  for (const QueryAnswer::Row& row : answer.rows) {
    out += moment_text(row.time_ms);
    for (const std::string& column : columns) out += "," + csv_field(value_of(row, column));
    out += "," + row.value + "\n";
  }
  return out;
}

std::string answer_text(const QueryAnswer& answer, Lang lang, const Io& io, bool colour) {
  const std::vector<std::string> labels = columns_of(answer);
  std::vector<Column> columns = {{say(MessageId::kQueryColumnTime, lang)},
                                 {say(MessageId::kQueryColumnValue, lang), Align::kRight}};
  for (const std::string& label : labels) columns.push_back({column_title(label)});
  Table table(std::move(columns));
  for (const QueryAnswer::Row& row : answer.rows) {
    std::vector<Cell> cells = {
        {date_time_text(WallTime(std::chrono::milliseconds(row.time_ms)), TimeZone::kLocal)},
        {row.value}};
    for (const std::string& label : labels) cells.push_back({value_of(row, label)});
    table.add(std::move(cells));
  }
  return table.render(io.width, colour);
}

int show(const Config& config, const std::string& body, const QueryAnswer& answer, Io& io) {
  for (const std::string& remark : answer.remarks) io.err("gpusight: " + remark + "\n");
  if (config.get<OptionId::kJson>()) {
    io.write(body + "\n");
  } else if (config.get<OptionId::kCsv>()) {
    io.write(answer_csv(answer));
  } else if (!answer.rows.empty()) {
    const bool colour = io.colour && !config.get<OptionId::kNoColor>();
    io.write(answer_text(answer, config.lang(), io, colour));
  }
  if (!answer.rows.empty()) return kExitOk;
  io.err("gpusight: " + say(MessageId::kQueryEmpty, config.lang()) + "\n");
  return kExitEnvironment;
}

// "LINE:COLUMN: " somewhere in an error.
struct Place {
  size_t line = 0;
  size_t column = 0;
};

std::optional<Place> place_named(std::string_view error) {
  for (size_t colon = error.find(':'); colon != std::string_view::npos;
       colon = error.find(':', colon + 1)) {
    size_t first = colon;
    while (first > 0 && error[first - 1] >= '0' && error[first - 1] <= '9') --first;
    const size_t second = error.find(": ", colon + 1);
    if (first == colon || second == std::string_view::npos) continue;
    const auto line = parse_uint(error.substr(first, colon - first));
    const auto column = parse_uint(error.substr(colon + 1, second - colon - 1));
    if (line && column && *line > 0 && *column > 0) return Place{*line, *column};
  }
  return std::nullopt;
}

}  // namespace

std::string place_in_query(std::string_view query, std::string_view error) {
  const auto place = place_named(error);
  const std::vector<std::string_view> lines = split(query, '\n');
  if (!place || place->line > lines.size()) return {};
  const std::string_view line = lines[place->line - 1];
  const size_t before = std::min(place->column - 1, line.size());
  // Trimmed on both sides by cleaning: what stands before is cleaned with an end that stays.
  const size_t indent = std::min(line.find_first_not_of(" \t"), before);
  const std::string shown = clean_text(line, promql::kMaxQueryLength);
  const std::string front =
      clean_text(std::string(line.substr(indent, before - indent)) + "^", promql::kMaxQueryLength);
  return "  " + shown + "\n  " + std::string(display_width(front) - 1, ' ') + "^\n";
}

int run_query(const Config& config, const Machine& machine, const Hooks& hooks,
              const platform::HttpClient& client, Io& io) {
  const std::string& expression = config.arguments()[0];
  const auto refuse = [&](const std::string& why, int code) {
    io.err("gpusight: " + why + "\n" + place_in_query(expression, why));
    return code;
  };
  if (const auto parsed = promql::parse(expression); !parsed.ok()) {
    return refuse(clean_text(parsed.status().message(), 4096), kExitUsage);
  }
  const auto target = target_of(config, SystemClock().wall());
  const auto fail = [&](const Status& status, int code) {
    io.err("gpusight: " + status.message() + "\n");
    return code;
  };
  if (!target.ok()) return fail(target.status(), kExitUsage);
  const auto body = ask(config, machine, hooks, client, *target);
  if (!body.ok()) return fail(body.status(), kExitEnvironment);
  const auto answer = read_query_answer(body->text);
  if (!answer.ok()) {
    return fail({Code::kCorrupt, say(MessageId::kDaemonUnreachable, config.lang(),
                                     clean_text(body->from), answer.status().message())},
                kExitEnvironment);
  }
  if (!answer->error.empty()) {
    return refuse(answer->error, answer->is_query_wrong ? kExitUsage : kExitEnvironment);
  }
  return show(config, body->text, *answer, io);
}

}  // namespace gpusight::cli
