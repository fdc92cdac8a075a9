#include "promql/matcher.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "base/text.h"
#include "promql/replacement.h"

namespace gpusight::promql {
namespace {

using Accepts = std::function<bool(std::string_view)>;
using Kind = model::Matcher::Kind;

bool is_literal(std::string_view pattern) {
  return pattern.find_first_of(R"(\.+*?()|[]{}^$)") == std::string_view::npos;
}

// The patterns that most queries have need no automaton: "a|b|c", "prefix.*", "prefix.+". Empty if
// `pattern` is none of them.
Accepts simple_pattern(std::string_view pattern) {
  const std::string_view tail =
      pattern.substr(pattern.size() - std::min<size_t>(pattern.size(), 2));
  const std::string_view head = pattern.substr(0, pattern.size() - tail.size());
  if ((tail == ".*" || tail == ".+") && is_literal(head)) {
    return [prefix = std::string(head), more = tail == ".+" ? 1 : 0](std::string_view text) {
      return text.starts_with(prefix) && text.size() >= prefix.size() + more;
    };
  }
  std::vector<std::string> alternatives;
  for (const std::string_view part : split(pattern, '|')) {
    if (!is_literal(part)) return {};
    alternatives.emplace_back(part);
  }
  return [alternatives = std::move(alternatives)](std::string_view text) {
    return std::ranges::find(alternatives, text) != alternatives.end();
  };
}

Result<Accepts> compile(const std::string& pattern) {
  RE2::Options options = regex_options();
  options.set_dot_nl(true);
  auto compiled = std::make_shared<const RE2>(re2_pattern(pattern), options);
  if (!compiled->ok()) {
    return Status(Code::kInvalidArgument, "error parsing regexp: " + compiled->error());
  }
  if (Accepts simple = simple_pattern(pattern)) return simple;
  return Accepts([compiled = std::move(compiled)](std::string_view text) {
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled);
  });
}

}  // namespace

Result<model::Matcher> make_matcher(std::string name, Kind kind, std::string value) {
  Accepts accepts = [value](std::string_view text) { return text == value; };
  if (kind == Kind::kRegex || kind == Kind::kNotRegex) accepts = TRY(compile(value));
  if (kind == Kind::kNotEqual || kind == Kind::kNotRegex) {
    accepts = [accepts = std::move(accepts)](std::string_view text) { return !accepts(text); };
  }
  return model::Matcher{.name = std::move(name),
                        .kind = kind,
                        .value = std::move(value),
                        .accepts = std::move(accepts)};
}

}  // namespace gpusight::promql
