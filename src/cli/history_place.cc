#include "cli/history_place.h"

#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "cli/format.h"
#include "cli/time_text.h"
#include "promql/parser.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::OptionId;

Status bad_value(std::string_view flag, std::string_view value, const std::string& wanted,
                 Lang lang) {
  return {Code::kInvalidArgument, say(MessageId::kUsageBadValue, lang, "--" + std::string(flag),
                                      clean_text(value), wanted)};
}

}  // namespace

Result<HistoryPlace> find_history(const config::Config& config, const Machine& machine) {
  const std::string& named = config.get<OptionId::kStateDir>();
  const std::string& file = config.get<OptionId::kHistoryFile>();
  const std::vector<std::string> directories =
      named.empty() ? machine.paths.state_dirs : std::vector<std::string>{named};
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + file;
    // One that may not be looked at is there as well, and opening it says why not.
    if (::access(path.c_str(), F_OK) == 0 || errno == EACCES) return HistoryPlace{directory, path};
  }
  for (const std::string& directory : directories) {
    std::string others;
    for (const std::string& name : store::history_files(directory)) {
      others += (others.empty() ? "" : ", ") + clean_text(name);
    }
    if (others.empty()) continue;
    return Status(Code::kNotFound, say(MessageId::kHistoryOthers, config.lang(), clean_text(file),
                                       clean_text(directory), others));
  }
  const std::string wanted = directories.empty() ? file : directories.front() + "/" + file;
  return Status(Code::kNotFound,
                say(MessageId::kHistoryNone, config.lang(), clean_text(wanted, 1024)));
}

Result<std::unique_ptr<store::HistoryFile>> open_history(const HistoryPlace& place, Lang lang) {
  auto file = store::HistoryFile::open(place.path);
  if (file.ok()) return file;
  return Status(file.status().code(), say(MessageId::kHistoryUnreadable, lang,
                                          clean_text(file.status().message(), 1024)));
}

Result<std::vector<model::Matcher>> parse_selector(std::string_view text, Lang lang) {
  if (text.empty()) return std::vector<model::Matcher>();
  const Result<promql::ExprPtr> parsed = promql::parse(text);
  const auto* selector = parsed.ok() ? (*parsed)->as<promql::VectorSelector>() : nullptr;
  const bool is_plain = selector != nullptr && selector->shift.offset_ms == 0 &&
                        selector->shift.at == promql::TimeShift::At::kNone;
  if (is_plain) return selector->matchers;
  const std::string why = parsed.ok() ? std::string("…") : parsed.status().message();
  return bad_value("match", text, say(MessageId::kWantSelector, lang, why), lang);
}

Result<int64_t> parse_time_option(OptionId id, const std::string& text, WallTime now, Lang lang) {
  const auto time_ms = parse_moment(text, now);
  if (time_ms) return *time_ms;
  return bad_value(config::option(id).flag, text, say(MessageId::kWantTime, lang), lang);
}

}  // namespace gpusight::cli
