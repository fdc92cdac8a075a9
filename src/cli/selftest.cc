#include "cli/selftest.h"

#include <algorithm>
#include <array>

#include "base/display_width.h"
#include "base/json_writer.h"
#include "cli/table.h"

namespace gpusight::cli {
namespace {

using catalog::MessageId;
using config::OptionId;

struct Mark {
  MessageId word;
  Style style;
  std::string_view key;
};

Mark mark(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return {MessageId::kSelftestOk, Style::kGood, "ok"};
    case Verdict::kWarn: return {MessageId::kSelftestWarn, Style::kNotice, "warn"};
    case Verdict::kFail: break;
  }
  return {MessageId::kSelftestFail, Style::kBad, "fail"};
}

size_t count(const std::vector<Check>& checks, Verdict verdict) {
  return std::ranges::count(checks, verdict, &Check::verdict);
}

}  // namespace

std::string checks_text(const std::vector<Check>& checks, const ViewOptions& options) {
  size_t name_width = 0;
  size_t mark_width = 0;
  for (const Check& check : checks) {
    name_width = std::max(name_width, display_width(check.name));
    mark_width = std::max(mark_width, display_width(say(mark(check.verdict).word, options.lang)));
  }
  name_width = std::min(name_width, options.width / 3);
  const size_t indent = mark_width + 2 + name_width + 2;
  const size_t room = options.width > indent + 20 ? options.width - indent : 20;
  std::string out;
  for (const Check& check : checks) {
    const Mark m = mark(check.verdict);
    const std::string word = say(m.word, options.lang);
    std::string head = styled(word, m.style, options.colour) +
                       std::string(mark_width - display_width(word) + 2, ' ') +
                       pad_right(check.name, name_width) + "  ";
    for (const std::string& line : wrap_lines(check.found, room)) {
      out += head + line + "\n";
      head.assign(indent, ' ');
    }
    if (check.advice.empty()) continue;
    for (const std::string& line : wrap_lines("→ " + check.advice, room)) {
      out += std::string(indent, ' ') + styled(line, Style::kDim, options.colour) + "\n";
    }
  }
  const std::array<size_t, 3> counts = {count(checks, Verdict::kFail),
                                        count(checks, Verdict::kWarn), count(checks, Verdict::kOk)};
  out += "\n";
  if (counts[0] + counts[1] == 0) {
    return out + say(MessageId::kSelftestAllWell, options.lang, std::to_string(counts[2])) + "\n";
  }
  return out +
         say(MessageId::kSelftestSummary, options.lang, std::to_string(counts[0]),
             std::to_string(counts[1]), std::to_string(counts[2])) +
         "\n";
}

std::string checks_json(const std::vector<Check>& checks) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("ok").boolean(count(checks, Verdict::kFail) == 0);
  w.key("checks").begin_array();
  for (const Check& check : checks) {
    w.begin_object().key("check").string(check.key);
    w.key("verdict").string(mark(check.verdict).key);
    w.key("found").string(check.found).key("advice");
    check.advice.empty() ? w.null() : w.string(check.advice);
    w.end_object();
  }
  w.end_array().end_object();
  return out + "\n";
}

int run_selftest(const SelftestInput& input, Io& io) {
  const std::vector<Check> checks = run_checks(input);
  if (input.config.get<OptionId::kJson>()) {
    io.out(checks_json(checks));
  } else {
    const bool colour = io.colour && !input.config.get<OptionId::kNoColor>();
    io.out(checks_text(checks, {.lang = input.config.lang(), .width = io.width, .colour = colour}));
  }
  return count(checks, Verdict::kFail) == 0 ? kExitOk : kExitEnvironment;
}

}  // namespace gpusight::cli
