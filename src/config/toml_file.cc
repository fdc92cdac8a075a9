#include "config/toml_file.h"

#include <array>

#include "base/text.h"
#include "catalog/message.h"
#include "config/value.h"

#include <toml++/toml.h>

namespace gpusight::config {
namespace {

using catalog::Lang;
using catalog::MessageId;

struct Fault {
  int64_t line = 0;
  std::string text;
};

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys;
  for (const OptionRow& row : kOptions) {
    if (!row.key.empty()) keys.push_back(row.key);
  }
  return keys;
}

bool is_section(std::string_view path) {
  return std::ranges::any_of(kOptions, [&](const OptionRow& row) {
    return row.key.size() > path.size() && row.key.starts_with(path) && row.key[path.size()] == '.';
  });
}

class Reader {
 public:
  Reader(std::string_view name, Lang lang) : name_(name), lang_(lang), values_(kOptionCount) {}

  void read_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      const auto line = static_cast<int64_t>(key.source().begin.line);
      if (const OptionRow* row = find_option_by_key(path)) {
        read_value(*row, node, line);
      } else if (!is_section(path)) {
        add(line, MessageId::kConfigUnknownKey, did_you_mean(path, known_keys(), "", lang_),
            {path});
      } else if (const toml::table* inner = node.as_table()) {
        read_table(*inner, path + ".");
      } else {
        bad_value(line, path, node, say(MessageId::kWantTable, path));
      }
    }
  }

  Result<FileValues> finish() {
    if (faults_.empty()) return std::move(values_);
    std::ranges::stable_sort(faults_, {}, &Fault::line);
    std::string text;
    for (const Fault& fault : faults_) text += (text.empty() ? "" : "\n") + fault.text;
    return Status(Code::kInvalidArgument, text);
  }

 private:
  void read_value(const OptionRow& row, const toml::node& node, int64_t line) {
    std::string why;
    const std::optional<std::string> text = text_of(row, node, why);
    if (!text) return bad_value(line, std::string(row.key), node, why);
    Parsed parsed = parse_value(row, *text, lang_);
    if (const auto* unwanted = std::get_if<Unwanted>(&parsed)) {
      return bad_value(line, std::string(row.key), node, unwanted->why);
    }
    values_[static_cast<size_t>(row.id)] =
        FileValue{std::get<OptionValue>(std::move(parsed)), line};
  }

  // The node in the syntax of the command line, if it has the right kind for the option.
  std::optional<std::string> text_of(const OptionRow& row, const toml::node& node,
                                     std::string& why) const {
    if (row.type == OptionType::kBool) {
      if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
      why = say(MessageId::kWantBool, "");
      return std::nullopt;
    }
    if (row.type == OptionType::kInteger) {
      if (const auto value = node.value_exact<int64_t>()) return std::to_string(*value);
      why = say(MessageId::kWantInteger, "");
      return std::nullopt;
    }
    const bool is_list = row.type == OptionType::kAddresses || row.type == OptionType::kWords ||
                         row.type == OptionType::kMetrics;
    if (const toml::array* array = node.as_array(); array != nullptr && is_list) {
      std::string joined;
      for (const toml::node& item : *array) {
        const auto text = item.value_exact<std::string>();
        if (!text) break;
        joined += (joined.empty() ? "" : ",") + *text;
      }
      if (!array->empty() && array->is_homogeneous(toml::node_type::string)) return joined;
    }
    if (const auto value = node.value_exact<std::string>()) return *value;
    why = say(row.type == OptionType::kDuration    ? MessageId::kWantDuration
              : row.type == OptionType::kAddresses ? MessageId::kWantAddress
                                                   : MessageId::kWantText,
              "");
    return std::nullopt;
  }

  static std::string shown(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return "\"" + *text + "\"";
    if (const auto whole = node.value_exact<int64_t>()) return std::to_string(*whole);
    if (const auto number = node.value_exact<double>()) return number_text(*number);
    if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
    return node.is_table() ? "{…}" : node.is_array() ? "[…]" : "…";
  }

  std::string say(MessageId id, std::string_view argument) const {
    const std::array<std::string, 1> arguments{clean_text(argument, 64)};
    return catalog::format_message(id, lang_, arguments);
  }

  void bad_value(int64_t line, const std::string& path, const toml::node& node,
                 const std::string& why) {
    add(line, MessageId::kConfigBadValue, "", {path, clean_text(shown(node), 64), why});
  }

  void add(int64_t line, MessageId id, const std::string& more,
           const std::vector<std::string>& rest) {
    constexpr size_t kMost = 20;  // enough to mend a file by; a wrong file altogether has thousands
    if (faults_.size() >= kMost) return;
    std::vector<std::string> arguments{name_, std::to_string(line)};
    for (const std::string& argument : rest) arguments.push_back(clean_text(argument));
    faults_.push_back({line, catalog::format_message(id, lang_, arguments) + more});
  }

  std::string name_;
  Lang lang_;
  FileValues values_;
  std::vector<Fault> faults_;
};

Status syntax_error(std::string_view name, int64_t line, std::string_view what, Lang lang) {
  const std::array<std::string, 3> arguments{std::string(name), std::to_string(line),
                                             clean_text(what)};
  return {Code::kInvalidArgument,
          catalog::format_message(MessageId::kConfigSyntax, lang, arguments)};
}

}  // namespace

Result<FileValues> parse_toml_file(std::string_view text, std::string_view name, Lang lang) {
  const std::string shown_name = clean_text(name);
  if (text.size() > kMaxConfigBytes) {
    return syntax_error(shown_name, 1, "longer than " + std::to_string(kMaxConfigBytes) + " bytes",
                        lang);
  }
  toml::table table;
  try {
    table = toml::parse(text, std::string_view(shown_name));
  } catch (const toml::parse_error& error) {
    return syntax_error(shown_name, error.source().begin.line, error.description(), lang);
  }
  Reader reader(shown_name, lang);
  reader.read_table(table, "");
  return reader.finish();
}

}  // namespace gpusight::config
