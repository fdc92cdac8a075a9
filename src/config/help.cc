#include "config/help.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/display_width.h"
#include "base/text.h"
#include "catalog/message.h"
#include "config/value.h"

namespace gpusight::config {
namespace {

using catalog::Lang;
using catalog::MessageId;

constexpr size_t kIndent = 2;
constexpr size_t kTextColumn = 27;

template <typename... Args>
std::string say(MessageId id, Lang lang, Args&&... args) {
  const std::array<std::string, sizeof...(args)> arguments{std::string(args)...};
  return catalog::format_message(id, lang, arguments);
}

class Page {
 public:
  explicit Page(const HelpOptions& options)
      : lang_(options.lang), width_(std::clamp<size_t>(options.width, 40, 100)) {}

  void line(std::string_view text = "") { out_ += std::string(text) + "\n"; }

  void title(MessageId id) { line("\n" + say(id, lang_) + (lang_ == Lang::kChinese ? "：" : ":")); }

  void paragraph(std::string_view text, size_t indent = 0) {
    for (const std::string& part : wrap_lines(text, width_ - indent)) {
      line(std::string(indent, ' ') + part);
    }
  }

  // A term at the left, its explanation in a column of its own.
  void entry(std::string_view term, std::string_view text, size_t column = kTextColumn) {
    std::string left = std::string(kIndent, ' ') + std::string(term);
    const size_t used = display_width(left);
    if (used + 1 >= column) {
      line(left);
      left.clear();
    }
    left.append(column - display_width(left), ' ');
    for (const std::string& part : wrap_lines(text, width_ - column)) {
      line(left + part);
      left.assign(column, ' ');
    }
  }

  void option(const OptionRow& row) {
    std::string text(row.help.in(lang_));
    const std::string notes = value_notes(row, lang_);
    if (!notes.empty()) {
      text += lang_ == Lang::kChinese ? "（" + notes + "）" : " (" + notes + ")";
    }
    entry((row.letter == 0 ? "    " : "") + flag_text(row), text);
  }

  void common_options() {
    title(MessageId::kHelpCommonOptions);
    for (const OptionRow& row : kOptions) {
      if (row.commands == kEveryCommand) option(row);
    }
    entry("-h, --help", say(MessageId::kHelpHelp, lang_));
    entry("-V, --version", say(MessageId::kHelpVersion, lang_));
  }

  std::string finish() { return std::move(out_); }

 private:
  Lang lang_;
  size_t width_;
  std::string out_;
};

std::string usage(const CommandRow& row, Lang lang) {
  const bool has_options = std::ranges::any_of(kOptions, [&](const OptionRow& o) {
    return o.commands != kEveryCommand && takes(row.id, o);
  });
  std::string text = say(MessageId::kHelpUsage, lang) + (lang == Lang::kChinese ? "：" : ": ");
  text += "gpusight " + std::string(row.name);
  if (has_options) text += lang == Lang::kChinese ? " [选项]…" : " [OPTION]…";
  if (!row.synopsis.empty()) text += " " + std::string(row.synopsis);
  return text;
}

}  // namespace

std::string flag_text(const OptionRow& row) {
  std::string text;
  if (row.letter != 0) text = std::string("-") + row.letter + ", ";
  text += "--" + std::string(row.flag);
  if (row.value_name.empty()) return text;
  const std::string value(row.value_name);
  return text + (row.implied.empty() ? " " + value : " [" + value + "]");
}

std::string value_notes(const OptionRow& row, Lang lang) {
  const std::string_view comma = lang == Lang::kChinese ? "，" : ", ";
  std::string notes;
  const auto add = [&](const std::string& note) {
    notes += (notes.empty() ? "" : std::string(comma)) + note;
  };
  if (row.type == OptionType::kChoice) {
    std::string list;
    for (const std::string_view choice : split_words(row.choices)) {
      list += (list.empty() ? "" : ", ") + std::string(choice);
    }
    add(say(MessageId::kHelpOneOf, lang, list));
  }
  if (row.min < row.max) {
    const bool is_duration = row.type == OptionType::kDuration;
    const auto bound = [&](int64_t n) {
      return is_duration ? duration_text(std::chrono::milliseconds(n)) : std::to_string(n);
    };
    add(say(MessageId::kHelpFromTo, lang, bound(row.min), bound(row.max)));
  }
  if (!row.initial_help.en.empty()) {
    add(say(MessageId::kHelpDefault, lang, row.initial_help.in(lang)));
  } else if (!row.initial.empty() && row.type != OptionType::kBool) {
    add(say(MessageId::kHelpDefault, lang, row.initial));
  }
  return notes;
}

std::string overview_help(const HelpOptions& options) {
  const Lang lang = options.lang;
  Page page(options);
  page.line("gpusight " + std::string(options.version) + " – " + say(MessageId::kHelpAbout, lang));
  page.line();
  page.line(say(MessageId::kHelpUsage, lang) + (lang == Lang::kChinese
                                                    ? "：gpusight [命令] [选项]…"
                                                    : ": gpusight [COMMAND] [OPTION]…"));
  page.title(MessageId::kHelpCommands);
  for (const CommandRow& row : commands()) {
    if (row.listed == Listed::kYes) page.entry(row.name, row.brief.in(lang), 16);
  }
  page.common_options();
  page.line();
  page.paragraph(say(MessageId::kHelpSources, lang));
  page.paragraph(say(MessageId::kHelpMore, lang));
  return page.finish();
}

std::string command_help(CommandId id, const HelpOptions& options) {
  const Lang lang = options.lang;
  const CommandRow& row = command(id);
  Page page(options);
  page.line("gpusight " + std::string(row.name) + " – " + std::string(row.brief.in(lang)));
  page.line();
  page.paragraph(row.help.in(lang));
  page.line();
  page.line(usage(row, lang));
  bool first = true;
  for (const OptionRow& o : kOptions) {
    if (o.commands == kEveryCommand || !takes(id, o)) continue;
    if (std::exchange(first, false)) page.title(MessageId::kHelpOptions);
    page.option(o);
  }
  page.common_options();
  if (!row.examples.empty()) page.title(MessageId::kHelpExamples);
  for (const Example& example : row.examples) {
    page.line("  " + std::string(example.command_line));
    page.paragraph(example.what.in(lang), 6);
  }
  return page.finish();
}

}  // namespace gpusight::config
