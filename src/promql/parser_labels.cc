// Label sets as text: parse_labels() and print_labels().
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "promql/literal.h"
#include "promql/parser.h"
#include "promql/token_stream.h"

namespace gpusight::promql {
namespace {

constexpr std::string_view kName = "__name__";

// `name="value"`, `"any name"="value"`, or the metric's name in quotes alone.
Result<model::Labels::value_type> parse_label(TokenStream& tokens) {
  const Token name = TRY(tokens.peek());
  const bool in_quotes = name.kind == TokenKind::kString;
  if (!in_quotes && name.kind != TokenKind::kIdentifier) {
    return tokens.unexpected("label set", "identifier or \"}\"");
  }
  TRY(tokens.take());
  std::string label(name.text);
  if (in_quotes) {
    Result<std::string> text = unquote_text(name.text);
    if (!text.ok()) return tokens.error(name.position, text.status().message());
    label = std::move(*text);
  }
  const bool has_value = TRY(tokens.accept(TokenKind::kAssign));
  if (!has_value && in_quotes) return model::Labels::value_type(kName, label);
  if (!has_value) return tokens.unexpected("label set", "\"=\"");
  const Token value = TRY(tokens.peek());
  if (value.kind != TokenKind::kString) return tokens.unexpected("label set", "string");
  TRY(tokens.take());
  Result<std::string> text = unquote_text(value.text);
  if (!text.ok()) return tokens.error(value.position, text.status().message());
  return model::Labels::value_type(label, *text);
}

Result<bool> parse_braces(TokenStream& tokens, model::Labels& labels) {
  if (!TRY(tokens.accept(TokenKind::kLeftBrace))) return false;
  while (TRY(tokens.peek()).kind != TokenKind::kRightBrace) {
    labels.push_back(TRY(parse_label(tokens)));
    if (TRY(tokens.peek()).kind == TokenKind::kRightBrace) break;
    if (!TRY(tokens.accept(TokenKind::kComma))) {
      return tokens.unexpected("label set", "\",\" or \"}\"");
    }
  }
  TRY(tokens.take());
  return true;
}

}  // namespace

Result<model::Labels> parse_labels(std::string_view text) {
  if (text.size() > kMaxQueryLength) {
    return Status(Code::kInvalidArgument,
                  fmt::format("label set is longer than {} bytes", kMaxQueryLength));
  }
  TokenStream tokens(text);
  model::Labels labels;
  const Token name = TRY(tokens.peek());
  if (is_plain_metric_name(name.text)) {  // any word: nothing else could stand here
    TRY(tokens.take());
    labels.emplace_back(kName, name.text);
  }
  TRY(parse_braces(tokens, labels));
  if (TRY(tokens.peek()).kind != TokenKind::kEnd) return tokens.unexpected("", "");
  std::ranges::sort(labels);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto twice = std::ranges::adjacent_find(labels, same_name);
  if (twice != labels.end()) {
    return tokens.error({}, fmt::format("label {} is set twice", quote_text(twice->first)));
  }
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  return labels;
}

std::string print_labels(const model::Labels& labels) {
  std::string name;
  std::string inside;
  for (const auto& [label, value] : labels) {
    if (label == kName && is_plain_metric_name(value)) {
      name = value;
      continue;
    }
    std::string text =
        label == kName ? quote_text(value) : label_name_text(label) + "=" + quote_text(value);
    if (label == kName) {  // first, wherever "__name__" sorts
      inside = inside.empty() ? text : text + ", " + inside;
    } else {
      inside += (inside.empty() ? "" : ", ") + text;
    }
  }
  if (inside.empty()) return name.empty() ? "{}" : name;
  return name + "{" + inside + "}";
}

}  // namespace gpusight::promql
