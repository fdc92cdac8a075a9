#include "config/command_line.h"

#include <array>

#include "base/text.h"
#include "catalog/message.h"
#include "config/value.h"

namespace gpusight::config {
namespace {

using catalog::Lang;
using catalog::MessageId;

std::vector<std::string_view> flags_of(std::optional<CommandId> command) {
  std::vector<std::string_view> flags = {"help", "version"};
  for (const OptionRow& row : kOptions) {
    if (!command || takes(*command, row)) flags.push_back(row.flag);
  }
  return flags;
}

class Parser {
 public:
  Parser(std::span<const std::string> words, Lang lang) : words_(words), lang_(lang) {}

  Result<CommandLine> run() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") {
        TRY(take_rest());
      } else if (word.starts_with("--")) {
        TRY(take_long(std::string_view(word).substr(2)));
      } else if (word.size() > 1 && word[0] == '-') {
        TRY(take_short(word));
      } else {
        TRY(take_word(word));
      }
    }
    TRY(check());
    return std::move(line_);
  }

 private:
  template <typename... Args>
  Status error(MessageId id, std::string_view more, Args&&... args) const {
    const std::array<std::string, sizeof...(args)> arguments{clean_text(args)...};
    return {Code::kInvalidArgument,
            catalog::format_message(id, lang_, arguments) + std::string(more)};
  }

  Status take_word(const std::string& word) {
    if (!line_.command_named) {
      const CommandRow* row = find_command(word);
      if (row == nullptr) {
        return error(MessageId::kUsageUnknownCommand,
                     did_you_mean(word, listed_command_names(), "", lang_), word);
      }
      line_.command = row->id;
      line_.command_named = true;
      return {};
    }
    const CommandRow& row = command(line_.command);
    if (line_.arguments.size() >= row.max_arguments) {
      return error(MessageId::kUsageUnexpectedArgument, "", word);
    }
    line_.arguments.push_back(word);
    return {};
  }

  // Everything after "--".
  Status take_rest() {
    const bool passes_on = command(line_.command).rest == Rest::kCommand;
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (passes_on) {
        line_.rest.push_back(word);
      } else {
        TRY(take_word(word));
      }
    }
    return {};
  }

  Status take_long(std::string_view text) {
    const size_t equals = text.find('=');
    const std::string_view flag = text.substr(0, equals);
    const std::string written = "--" + std::string(flag);
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) value = text.substr(equals + 1);
    if (take_builtin(flag)) return {};
    const OptionRow* row = find_option_by_flag(flag);
    if (row == nullptr) {
      std::optional<CommandId> scope;
      if (line_.command_named) scope = line_.command;
      return error(MessageId::kUsageUnknownOption, did_you_mean(flag, flags_of(scope), "--", lang_),
                   written);
    }
    return take_value(*row, written, value);
  }

  Status take_short(const std::string& word) {
    const std::string written = word.substr(0, 2);
    std::optional<std::string_view> value;
    if (word.size() > 2) value = std::string_view(word).substr(2);
    if (!value && take_builtin(word == "-h" ? "help" : word == "-V" ? "version" : "")) return {};
    const OptionRow* row = find_option_by_letter(word[1]);
    if (row == nullptr) return error(MessageId::kUsageUnknownOption, "", word);
    return take_value(*row, written, value);
  }

  // --help and --version belong to the parser: they have no value and stand in no file.
  bool take_builtin(std::string_view flag) {
    if (flag == "help") {
      line_.help = true;
    } else if (flag == "version") {
      version_ = true;
    } else {
      return false;
    }
    return true;
  }

  Status take_value(const OptionRow& row, const std::string& written,
                    std::optional<std::string_view> value) {
    if (!value && row.type == OptionType::kBool) value = "true";
    if (!value && !row.implied.empty()) value = optional_next(row);
    if (!value) {
      const bool there = next_ < words_.size() && !looks_like_option(words_[next_]);
      if (!there) return error(MessageId::kUsageMissingValue, "", written);
      value = words_[next_++];
    }
    Parsed parsed = parse_value(row, *value, lang_);
    if (const auto* unwanted = std::get_if<Unwanted>(&parsed)) {
      return error(MessageId::kUsageBadValue, "", written, std::string(*value), unwanted->why);
    }
    store(row, written, std::get<OptionValue>(std::move(parsed)));
    return {};
  }

  // The next word if it is a value of the option, else what the flag means alone.
  std::string_view optional_next(const OptionRow& row) {
    if (next_ == words_.size() || looks_like_option(words_[next_])) return row.implied;
    const Parsed parsed = parse_value(row, words_[next_], lang_);
    const bool digit =
        words_[next_].size() > 0 && words_[next_][0] >= '0' && words_[next_][0] <= '9';
    // A word that begins like a number was meant as one, even if it is out of bounds.
    if (std::holds_alternative<Unwanted>(parsed) && !digit) return row.implied;
    return words_[next_++];
  }

  static bool looks_like_option(const std::string& word) {
    const bool number = word.size() > 1 && word[1] >= '0' && word[1] <= '9';
    return word.size() > 1 && word[0] == '-' && !number;
  }

  void store(const OptionRow& row, const std::string& written, OptionValue value) {
    std::optional<GivenOption>& slot = line_.options[static_cast<size_t>(row.id)];
    if (slot && row.type == OptionType::kAddresses) {
      append<std::vector<Address>>(slot->value, value);
    } else if (slot && (row.type == OptionType::kWords || row.type == OptionType::kMetrics)) {
      append<std::vector<std::string>>(slot->value, value);
    } else {
      slot = GivenOption{std::move(value), written};
    }
  }

  template <typename List>
  static void append(OptionValue& to, OptionValue& from) {
    List& list = std::get<List>(to);
    for (auto& item : std::get<List>(from)) {
      if (std::ranges::find(list, item) == list.end()) list.push_back(std::move(item));
    }
  }

  // What can only be judged when the whole line is known.
  Status check() {
    if (version_ && !line_.help) {
      line_.command = CommandId::kVersion;
      return {};
    }
    if (line_.help) return {};
    const CommandRow& row = command(line_.command);
    for (const OptionRow& o : kOptions) {
      const std::optional<GivenOption>& given = line_.options[static_cast<size_t>(o.id)];
      if (given && !takes(row.id, o)) {
        return error(MessageId::kUsageNotTaken, "", std::string(row.name), given->flag);
      }
    }
    if (line_.arguments.size() < row.min_arguments) {
      return error(MessageId::kUsageMissingArgument, "", std::string(row.synopsis));
    }
    return check_exclusive(OptionId::kJson, OptionId::kCsv);
  }

  Status check_exclusive(OptionId a, OptionId b) const {
    const auto& first = line_.options[static_cast<size_t>(a)];
    const auto& second = line_.options[static_cast<size_t>(b)];
    const auto is_on = [](const auto& o) { return o && std::get<bool>(o->value); };
    if (!is_on(first) || !is_on(second)) return {};
    return error(MessageId::kUsageExclusive, "", first->flag, second->flag);
  }

  std::span<const std::string> words_;
  Lang lang_;
  size_t next_ = 0;
  bool version_ = false;
  CommandLine line_;
};

}  // namespace

Result<CommandLine> parse_command_line(std::span<const std::string> words, Lang lang) {
  return Parser(words, lang).run();
}

}  // namespace gpusight::config
