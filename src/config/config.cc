#include "config/config.h"

#include <array>

#include "base/text.h"
#include "catalog/message.h"
#include "config/command_line.h"
#include "config/toml_file.h"
#include "config/value.h"

namespace gpusight::config {
namespace {

using catalog::Lang;
using catalog::MessageId;

std::string_view variable(const Environment& environment, std::string_view name) {
  const auto at = environment.find(name);
  return at == environment.end() ? std::string_view() : std::string_view(at->second);
}

std::optional<Lang> find_lang(std::string_view text) {
  if (text == "en") return Lang::kEnglish;
  if (text == "zh") return Lang::kChinese;
  return std::nullopt;
}

// Commands that work without a configuration go on when the file or a variable is broken.
bool needs_configuration(const CommandLine& line) {
  constexpr CommandSet kWithout = set_of(CommandId::kHelp) | set_of(CommandId::kVersion) |
                                  set_of(CommandId::kCompletions) | set_of(CommandId::kGenerate);
  return !line.help && (set_of(line.command) & kWithout) == 0;
}

// NO_COLOR is another project's convention: set to anything, it counts.
Parsed parse_variable(const OptionRow& row, std::string_view text, Lang lang) {
  if (row.environment == "NO_COLOR") return OptionValue(true);
  return parse_value(row, text, lang);
}

struct Layer {
  OptionValue value;
  Origin origin;
};

Result<std::vector<std::optional<Layer>>> from_environment(const LoadInput& input, Lang lang) {
  std::vector<std::optional<Layer>> layer(kOptionCount);
  if (input.trust == Trust::kNoEnvironment) return layer;
  for (const OptionRow& row : kOptions) {
    const std::string_view text = variable(input.environment, row.environment);
    if (row.environment.empty() || text.empty()) continue;
    Parsed parsed = parse_variable(row, text, lang);
    if (const auto* unwanted = std::get_if<Unwanted>(&parsed)) {
      const std::array<std::string, 3> arguments{std::string(row.environment), clean_text(text, 64),
                                                 unwanted->why};
      return Status(Code::kInvalidArgument,
                    catalog::format_message(MessageId::kUsageBadValue, lang, arguments));
    }
    layer[static_cast<size_t>(row.id)] =
        Layer{std::get<OptionValue>(std::move(parsed)),
              {OriginKind::kEnvironment, std::string(row.environment)}};
  }
  return layer;
}

struct FoundFile {
  std::string path;  // empty: none
  std::string text;
};

Result<FoundFile> find_file(const LoadInput& input, const std::string& named, Lang lang) {
  const std::vector<std::string> candidates =
      named.empty() ? input.default_files : std::vector<std::string>{named};
  for (const std::string& path : candidates) {
    Result<std::string> text = input.read_file(path);
    if (text.ok()) return FoundFile{path, std::move(text).value()};
    if (named.empty() && text.status().code() == Code::kNotFound) continue;
    const std::array<std::string, 2> arguments{clean_text(path),
                                               clean_text(text.status().message())};
    return Status(Code::kInvalidArgument,
                  catalog::format_message(MessageId::kConfigUnreadable, lang, arguments));
  }
  return FoundFile{};
}

std::vector<std::optional<Layer>> layer_of(FileValues values, const std::string& path) {
  std::vector<std::optional<Layer>> layer(kOptionCount);
  for (size_t i = 0; i < kOptionCount; ++i) {
    if (!values[i]) continue;
    layer[i] = Layer{std::move(values[i]->value),
                     {OriginKind::kFile, path + ", line " + std::to_string(values[i]->line)}};
  }
  return layer;
}

std::vector<std::optional<Layer>> layer_of(const CommandLine& line) {
  std::vector<std::optional<Layer>> layer(kOptionCount);
  for (size_t i = 0; i < kOptionCount; ++i) {
    if (line.options[i]) {
      layer[i] = Layer{line.options[i]->value, {OriginKind::kFlag, line.options[i]->flag}};
    }
  }
  return layer;
}

}  // namespace

Lang language_of(const Environment& environment) {
  for (const std::string_view name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const std::string_view value = variable(environment, name);
    if (!value.empty()) return value.starts_with("zh") ? Lang::kChinese : Lang::kEnglish;
  }
  return Lang::kEnglish;
}

Lang likely_language(const LoadInput& input) {
  std::optional<Lang> lang = find_lang(variable(input.environment, "GPUSIGHT_LANG"));
  for (size_t i = 0; i < input.words.size() && input.words[i] != "--"; ++i) {
    const std::string_view word = input.words[i];
    std::optional<Lang> named;
    if (word.starts_with("--lang=")) named = find_lang(word.substr(7));
    if (word == "--lang" && i + 1 < input.words.size()) named = find_lang(input.words[i + 1]);
    if (named) lang = named;
  }
  return lang.value_or(language_of(input.environment));
}

Result<Config> Config::load(const LoadInput& input) {
  const Lang lang = likely_language(input);
  const CommandLine line = TRY(parse_command_line(input.words, lang));
  Config config;
  config.command_ = line.command;
  config.command_named_ = line.command_named;
  config.help_wanted_ = line.help;
  config.arguments_ = line.arguments;
  config.rest_ = line.rest;
  for (const OptionRow& row : kOptions) config.values_.push_back(initial_value(row));
  config.origins_.resize(kOptionCount);
  config.values_[static_cast<size_t>(OptionId::kLang)] =
      std::string(language_of(input.environment) == Lang::kChinese ? "zh" : "en");
  const auto apply = [&](std::vector<std::optional<Layer>> layer) {
    for (size_t i = 0; i < kOptionCount; ++i) {
      if (!layer[i]) continue;
      config.values_[i] = std::move(layer[i]->value);
      config.origins_[i] = std::move(layer[i]->origin);
    }
  };
  auto flags = layer_of(line);
  std::vector<std::optional<Layer>> environment(kOptionCount);
  if (auto layer = from_environment(input, lang); layer.ok()) {
    environment = std::move(layer).value();
  } else if (needs_configuration(line)) {
    return layer.status();
  }
  if (needs_configuration(line)) {
    constexpr auto kFile = static_cast<size_t>(OptionId::kConfig);
    const std::optional<Layer>& named = flags[kFile] ? flags[kFile] : environment[kFile];
    const FoundFile file =
        TRY(find_file(input, named ? std::get<std::string>(named->value) : std::string(), lang));
    config.file_ = file.path;
    if (!file.path.empty()) {
      apply(layer_of(TRY(parse_toml_file(file.text, file.path, lang)), file.path));
    }
  }
  apply(std::move(environment));
  apply(std::move(flags));
  return config;
}

Lang Config::lang() const { return find_lang(get<OptionId::kLang>()).value_or(Lang::kEnglish); }

log::Level Config::log_level() const {
  if (is_default(OptionId::kLogLevel) && command_ == CommandId::kServe) return log::Level::kInfo;
  const std::string& name = get<OptionId::kLogLevel>();
  constexpr std::pair<std::string_view, log::Level> kLevels[] = {{"debug", log::Level::kDebug},
                                                                 {"info", log::Level::kInfo},
                                                                 {"warning", log::Level::kWarning},
                                                                 {"error", log::Level::kError},
                                                                 {"off", log::Level::kOff}};
  for (const auto& [key, level] : kLevels) {
    if (key == name) return level;
  }
  return log::Level::kWarning;
}

}  // namespace gpusight::config
