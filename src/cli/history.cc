#include "cli/history.h"

#include <fmt/core.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/format.h"
#include "cli/history_place.h"
#include "cli/table.h"
#include "cli/time_text.h"
#include "config/value.h"
#include "store/history_file.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::Config;
using config::OptionId;

int fail(const Status& status, Io& io) {
  io.err("gpusight: " + status.message() + "\n");
  return status.code() == Code::kInvalidArgument ? kExitUsage : kExitEnvironment;
}

std::string number(uint64_t count) { return std::to_string(count); }

std::string local_time(int64_t time_ms) {
  return date_time_text(WallTime(std::chrono::milliseconds(time_ms)), TimeZone::kLocal);
}

// What of a tier is kept, as this machine is configured.
Duration kept(const Config& config, store::Tier tier) {
  switch (tier) {
    case store::Tier::kRaw: return config.get<OptionId::kHistoryRaw>();
    case store::Tier::kMinute: return config.get<OptionId::kHistoryMinutes>();
    case store::Tier::kHour: return config.get<OptionId::kHistoryHours>();
  }
  return {};
}

std::string recording_text(const store::HistoryStats& stats, store::Writer writer, Lang lang) {
  if (!stats.committed_until_ms) return say(MessageId::kHistoryEmpty, lang);
  const MessageId id = writer == store::Writer::kSomebody ? MessageId::kHistoryRecording
                       : writer == store::Writer::kNobody ? MessageId::kHistoryNotRecording
                                                          : MessageId::kHistoryRecordingUnknown;
  return say(id, lang, local_time(*stats.committed_until_ms));
}

std::string info_text(const Config& config, const store::HistoryStats& stats, store::Writer writer,
                      const Io& io) {
  const Lang lang = config.lang();
  std::string text = say(MessageId::kHistorySummary, lang, clean_text(stats.path, 1024),
                         bytes_text(static_cast<double>(stats.bytes)), number(stats.series),
                         number(stats.events)) +
                     "\n" + recording_text(stats, writer, lang) + "\n\n";
  Table table({{say(MessageId::kHistoryColumnTier, lang)},
               {say(MessageId::kHistoryColumnRow, lang)},
               {say(MessageId::kHistoryColumnFrom, lang)},
               {say(MessageId::kHistoryColumnTo, lang)},
               {say(MessageId::kHistoryColumnChunks, lang), Align::kRight},
               {say(MessageId::kHistoryColumnSize, lang), Align::kRight},
               {say(MessageId::kHistoryColumnKept, lang), Align::kRight}});
  for (const store::TierRow& tier : store::kTiers) {
    const auto& of_tier = stats.tiers[static_cast<size_t>(tier.tier)];
    const bool any = of_tier.chunks > 0;
    const std::string none(kAbsentMark);
    table.add({{std::string(tier.name)},
               {tier.resolution_ms == 0
                    ? say(MessageId::kHistoryEverySample, lang)
                    : config::duration_text(std::chrono::milliseconds(tier.resolution_ms))},
               {any ? local_time(of_tier.first_ms) : none},
               {any ? local_time(of_tier.last_ms) : none},
               {number(of_tier.chunks)},
               {any ? bytes_text(static_cast<double>(of_tier.packed_bytes)) : none},
               {config::duration_text(kept(config, tier.tier))}});
  }
  return text + table.render(io.width, io.colour && !config.get<OptionId::kNoColor>());
}

std::string info_json(const Config& config, const store::HistoryStats& stats,
                      store::Writer writer) {
  std::string out;
  JsonWriter json(out);
  const auto time = [&](std::string_view key, std::optional<int64_t> time_ms) {
    json.key(key);
    time_ms ? json.number(static_cast<double>(*time_ms) / 1000) : json.null();
  };
  json.begin_object().key("path").string(stats.path);
  json.key("bytes").integer(static_cast<int64_t>(stats.bytes));
  json.key("series").integer(static_cast<int64_t>(stats.series));
  json.key("events").integer(static_cast<int64_t>(stats.events));
  json.key("recording");
  writer == store::Writer::kUnknown ? json.null()
                                    : json.boolean(writer == store::Writer::kSomebody);
  time("committed_until", stats.committed_until_ms);
  json.key("tiers").begin_array();
  for (const store::TierRow& tier : store::kTiers) {
    const auto& of_tier = stats.tiers[static_cast<size_t>(tier.tier)];
    const bool any = of_tier.chunks > 0;
    json.begin_object().key("tier").string(tier.name);
    json.key("resolution_seconds").number(static_cast<double>(tier.resolution_ms) / 1000);
    time("from", any ? std::optional(of_tier.first_ms) : std::nullopt);
    time("to", any ? std::optional(of_tier.last_ms) : std::nullopt);
    json.key("chunks").integer(static_cast<int64_t>(of_tier.chunks));
    json.key("packed_bytes").integer(static_cast<int64_t>(of_tier.packed_bytes));
    json.key("kept_seconds").number(seconds(kept(config, tier.tier)));
    json.end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

int run_info(const Config& config, const Machine& machine, Io& io) {
  const auto place = find_history(config, machine);
  if (!place.ok()) return fail(place.status(), io);
  const auto file = open_history(*place, config.lang());
  if (!file.ok()) return fail(file.status(), io);
  const auto stats = (*file)->stats();
  if (!stats.ok()) {
    return fail({stats.status().code(), say(MessageId::kHistoryUnreadable, config.lang(),
                                            clean_text(stats.status().message(), 1024))},
                io);
  }
  const store::Writer writer = store::writer_of(place->directory);
  io.write(config.get<OptionId::kJson>() ? info_json(config, *stats, writer)
                                         : info_text(config, *stats, writer, io));
  return kExitOk;
}

std::string check_json(const store::HistoryCheck& check) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("chunks").integer(static_cast<int64_t>(check.chunks));
  json.key("columns").integer(static_cast<int64_t>(check.columns));
  json.key("samples").integer(static_cast<int64_t>(check.samples));
  json.key("faults").begin_array();
  for (const std::string& fault : check.faults) json.string(fault);
  json.end_array().end_object();
  return out + "\n";
}

std::string check_text(const store::HistoryCheck& check, Lang lang) {
  if (check.faults.empty()) {
    return say(MessageId::kHistorySound, lang, number(check.chunks), number(check.columns),
               number(check.samples)) +
           "\n";
  }
  std::string text =
      say(MessageId::kHistoryFaulty, lang, number(check.chunks), number(check.columns),
          number(check.samples), number(check.faults.size())) +
      "\n";
  for (const std::string& fault : check.faults) text += "  " + clean_text(fault, 1024) + "\n";
  return text;
}

int run_check(const Config& config, const Machine& machine, Io& io) {
  const auto place = find_history(config, machine);
  if (!place.ok()) return fail(place.status(), io);
  const auto file = open_history(*place, config.lang());
  if (!file.ok()) return fail(file.status(), io);
  const auto check = (*file)->check();
  if (!check.ok()) {
    return fail({check.status().code(), say(MessageId::kHistoryUnreadable, config.lang(),
                                            clean_text(check.status().message(), 1024))},
                io);
  }
  io.write(config.get<OptionId::kJson>() ? check_json(*check) : check_text(*check, config.lang()));
  return check->faults.empty() ? kExitOk : kExitEnvironment;
}

// Options that a command takes for another of its parts.
Status check_options(const Config& config) {
  const std::string& part = config.arguments()[0];
  const auto refuse = [&](OptionId id, bool taken) -> Status {
    const config::Origin& origin = config.origin(id);
    if (taken || origin.kind != config::OriginKind::kFlag) return {};
    return {Code::kInvalidArgument,
            say(MessageId::kUsageNotTaken, config.lang(), "history " + part, origin.where)};
  };
  const bool moves = part == "export" || part == "import";
  for (const OptionId id : {OptionId::kCsv, OptionId::kStart, OptionId::kEnd, OptionId::kOutput}) {
    TRY(refuse(id, part == "export"));
  }
  TRY(refuse(OptionId::kMatch, moves));
  TRY(refuse(OptionId::kJson, !moves));
  const bool has_file = config.arguments().size() > 1;
  if (part == "import" && !has_file) {
    return {Code::kInvalidArgument,
            say(MessageId::kUsageMissingArgument, config.lang(), std::string("FILE"))};
  }
  if (part != "import" && has_file) {
    return {Code::kInvalidArgument, say(MessageId::kUsageUnexpectedArgument, config.lang(),
                                        clean_text(config.arguments()[1]))};
  }
  return {};
}

}  // namespace

int run_history(const Config& config, const Machine& machine, Io& io) {
  const std::string& part = config.arguments()[0];
  const std::vector<std::string_view> parts =
      split_words(config::command(config::CommandId::kHistory).words);
  if (std::ranges::find(parts, part) == parts.end()) {
    const std::string shown = clean_text(part, 64);
    return fail({Code::kInvalidArgument,
                 say(MessageId::kUsageBadValue, config.lang(), std::string("history"), shown,
                     say(MessageId::kWantChoice, config.lang(),
                         std::string("info, check, export, import"))) +
                     config::did_you_mean(shown, parts, "", config.lang())},
                io);
  }
  if (const Status options = check_options(config); !options.ok()) return fail(options, io);
  const WallTime now = SystemClock().wall();
  if (part == "info") return run_info(config, machine, io);
  if (part == "check") return run_check(config, machine, io);
  if (part == "export") return run_history_export(config, machine, now, io);
  return run_history_import(config, machine, now, io);
}

}  // namespace gpusight::cli
