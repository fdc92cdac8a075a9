#include "promql/rules/yaml_reader.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/literal.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

constexpr size_t kMaxFaults = 1000;

std::string_view name_of(YamlValue::Kind kind) {
  static constexpr std::string_view kNames[] = {"null", "scalar", "sequence", "map"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

void YamlReader::note(Place place, std::string message) {
  if (faults_.size() < kMaxFaults) faults_.push_back({place, std::move(message)});
}

void YamlReader::wrong_type(const YamlValue& value, std::string_view wanted) {
  const std::string found = value.kind == YamlValue::Kind::kScalar
                                ? fmt::format("`{}`", clean_text(value.text, 40))
                                : fmt::format("a {}", name_of(value.kind));
  note(value.place, fmt::format("cannot unmarshal {} into {}", found, wanted));
}

void YamlReader::map(const YamlValue& value, std::string_view what,
                     const std::function<bool(const YamlValue::Entry&)>& field) {
  if (value.kind == YamlValue::Kind::kNull) return;
  if (value.kind != YamlValue::Kind::kMap) return wrong_type(value, what);
  std::map<std::string_view, int> lines;
  for (const YamlValue::Entry& entry : value.entries) {
    const auto [known, is_new] = lines.emplace(entry.key, entry.place.line);
    if (!is_new) {
      note(entry.place, fmt::format("mapping key {} already defined at line {}",
                                    go_quoted(entry.key), known->second));
    } else if (!field(entry)) {
      note(entry.place, fmt::format("field {} not found in {}", clean_text(entry.key, 100), what));
    }
  }
}

void YamlReader::sequence(const YamlValue& value, std::string_view what,
                          const std::function<void(const YamlValue&)>& item) {
  if (value.kind == YamlValue::Kind::kNull) return;
  if (value.kind != YamlValue::Kind::kSequence) return wrong_type(value, what);
  for (const YamlPtr& each : value.items) item(*each);
}

std::string YamlReader::text(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::kScalar) return value.text;
  if (value.kind != YamlValue::Kind::kNull) wrong_type(value, "a string");
  return {};
}

int64_t YamlReader::integer(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::kNull) return 0;
  const std::optional<int64_t> number = value.kind == YamlValue::Kind::kScalar && value.is_plain
                                            ? parse_int(value.text)
                                            : std::nullopt;
  if (!number) wrong_type(value, "an integer");
  return number.value_or(0);
}

double YamlReader::number(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::kNull) return 0;
  if (value.kind == YamlValue::Kind::kScalar && value.is_plain) {
    std::string text = value.text;
    const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    if (text.substr(sign, 1) == "." && text.size() == sign + 4) text.erase(sign, 1);  // .inf, .nan
    if (const auto number = go_parse_number(text)) return *number;
  }
  wrong_type(value, "a number");
  return 0;
}

bool YamlReader::flag(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::kNull) return false;
  for (const auto& [text, meaning] : {std::pair("true", true),
                                      {"True", true},
                                      {"TRUE", true},
                                      {"false", false},
                                      {"False", false},
                                      {"FALSE", false}}) {
    if (value.kind == YamlValue::Kind::kScalar && value.is_plain && value.text == text) {
      return meaning;
    }
  }
  wrong_type(value, "true or false");
  return false;
}

int64_t YamlReader::duration_ms(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::kNull) return 0;
  if (value.kind != YamlValue::Kind::kScalar) {
    wrong_type(value, "a duration");
    return 0;
  }
  const Result<int64_t> duration = parse_rule_duration(value.text);
  if (!duration.ok()) note(value.place, duration.status().message());
  return duration.ok() ? *duration : 0;
}

std::vector<std::string> YamlReader::texts(const YamlValue& value) {
  std::vector<std::string> found;
  sequence(value, "a sequence of strings",
           [&](const YamlValue& item) { found.push_back(text(item)); });
  return found;
}

model::Labels YamlReader::labels(const YamlValue& value) {
  model::Labels found;
  map(value, "a map of strings", [&](const YamlValue::Entry& entry) {
    found.emplace_back(entry.key, text(*entry.value));
    return true;
  });
  std::ranges::sort(found);
  return found;
}

Result<int64_t> parse_rule_duration(std::string_view text) {
  if (!text.empty() && text != "0" && !is_letter(text.back())) {
    return Status(Code::kInvalidArgument,
                  fmt::format("not a valid duration string: {}", go_quoted(text)));
  }
  return parse_duration(text);
}

}  // namespace gpusight::promql
