#include "cli/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/display_width.h"
#include "base/text.h"
#include "catalog/event_kind.h"
#include "cli/table.h"
#include "model/value.h"

namespace gpusight::cli {
namespace {

using catalog::MessageId;
using catalog::MetricRow;

std::string full_name(const MetricRow& row) {
  std::string name(row.name);
  if (!row.label.empty()) name += "{" + std::string(row.label) + "}";
  return name;
}

std::string code(std::string_view text) {
  return text.empty() ? std::string() : "`" + std::string(text) + "`";
}

// A cell of a Markdown table: the one character that ends it is escaped.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string bounds_text(const MetricRow& row) {
  return number_text(row.min) + " … " + number_text(row.max);
}

std::string group_section(catalog::Group group) {
  std::string out = "## " + std::string(catalog::group_title(group).en) +
                    "\n\n| metric | labels | unit | kind | read | resolution | bounds | meaning |\n"
                    "|---|---|---|---|---|---|---|---|\n";
  for (const MetricRow& row : catalog::metrics()) {
    if (row.group != group) continue;
    std::string labels = row.scope == catalog::Scope::kDevice ? "`uuid`" : "";
    if (!row.label.empty()) labels += (labels.empty() ? "" : ", ") + code(row.label);
    out += "| " + code(row.name) + " | " + labels + " | " +
           std::string(catalog::unit_name(row.unit)) + " | " +
           std::string(catalog::kind_name(row.kind)) + " | " +
           std::string(catalog::cadence_name(row.cadence)) + " | " +
           number_text(row.resolution.as_double()) + " | " + bounds_text(row) + " | " +
           cell(row.help.en) + " |\n";
  }
  return out + "\n";
}

std::string elsewhere_section() {
  std::string out =
      "## Names elsewhere\n\nWhat the same thing is called by other tools; empty where they have "
      "no "
      "name that means exactly this.\n\n"
      "| metric | DCGM | DCGM from 4.6 | nvidia_gpu_exporter | OpenTelemetry | Zabbix |\n"
      "|---|---|---|---|---|---|\n";
  const auto line = [&out](const std::string& metric, const catalog::Elsewhere& e) {
    const std::string_view names[] = {e.dcgm, e.dcgm46, e.nvidia_smi, e.otel, e.zabbix};
    if (std::ranges::all_of(names, &std::string_view::empty)) return;
    out += "| " + code(metric);
    for (const std::string_view name : names) out += " | " + code(name);
    out += " |\n";
  };
  for (const MetricRow& row : catalog::metrics()) {
    line(std::string(row.name), row.elsewhere);
    for (const catalog::LabelNames& series : row.by_label) {
      line(fmt::format("{}{{{}=\"{}\"}}", row.name, row.label, series.label), series.names);
    }
  }
  return out + "\n";
}

std::string reasons_section() {
  std::string out =
      "## Why a value is absent\n\nA number is never invented: what is not there is `null` in "
      "JSON, "
      "an empty field in CSV and no series at all in `/metrics`. The reason stands beside it in "
      "JSON.\n\n| reason | meaning |\n|---|---|\n";
  for (size_t i = 0; i < model::kReasonCount; ++i) {
    const auto reason = static_cast<model::Reason>(i);
    out += "| " + code(model::reason_key(reason)) + " | " +
           cell(catalog::message(model::reason_message(reason)).text.en) + " |\n";
  }
  return out + "\n";
}

std::string events_section() {
  std::string out = "## Events\n\n| kind | severity | counted by | title |\n|---|---|---|---|\n";
  for (const catalog::EventKindRow& row : catalog::event_kinds()) {
    const std::string counter =
        row.counter ? code(catalog::metric(*row.counter).name) : std::string();
    out += "| " + code(row.key) + " | " + std::string(catalog::severity_name(row.severity)) +
           " | " + counter + " | " + cell(row.title.en) + " |\n";
  }
  return out;
}

}  // namespace

std::string metrics_text(const ViewOptions& options) {
  Table table({{say(MessageId::kMetricsColumnName, options.lang)},
               {say(MessageId::kMetricsColumnKind, options.lang)},
               {say(MessageId::kMetricsColumnMeaning, options.lang)}});
  for (const catalog::Group group : catalog::groups()) {
    bool first = true;
    for (const MetricRow& row : catalog::metrics()) {
      if (row.group != group) continue;
      if (std::exchange(first, false)) {
        table.add({{""}});
        table.add({{std::string(catalog::group_title(group).in(options.lang)), Style::kGood}});
      }
      table.add({{full_name(row)},
                 {std::string(catalog::kind_name(row.kind)), Style::kDim},
                 {std::string(row.brief.in(options.lang))}});
    }
  }
  return table.render(options.width, options.colour);
}

std::string metrics_markdown() {
  std::string out =
      "# Metrics\n\n"
      "<!-- Made by `gpusight generate` from the table in src/catalog/metrics.cc; do not edit. "
      "-->\n\n"
      "Every metric that gpusight knows. Units are SI base units; a ratio lies between 0 and 1. A "
      "number is rounded to its resolution once, where it enters, so that live, recorded and "
      "exported are the same; a reading outside its bounds is absent with the reason "
      "`implausible`. Fast metrics are read every tick, at ticks shorter than a second at least "
      "once a second; slow ones every ten seconds. `NAME_min` "
      "and "
      "`NAME_max` are the lowest and the highest of the driver's own samples inside a tick.\n\n";
  for (const catalog::Group group : catalog::groups()) {
    const bool any = std::ranges::any_of(catalog::metrics(),
                                         [&](const MetricRow& row) { return row.group == group; });
    if (any) out += group_section(group);
  }
  return out + elsewhere_section() + reasons_section() + events_section();
}

}  // namespace gpusight::cli
