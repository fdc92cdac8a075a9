#include "promql/label_set.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "promql/go_text.h"
#include "promql/literal.h"

namespace gpusight::promql {
namespace {

auto place_of(const model::Labels& labels, std::string_view name) {
  return std::ranges::lower_bound(labels, name, {}, &model::Labels::value_type::first);
}

void append_counted(std::string& out, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

}  // namespace

std::string_view label_value(const model::Labels& labels, std::string_view name) {
  const auto at = place_of(labels, name);
  return at != labels.end() && at->first == name ? std::string_view(at->second)
                                                 : std::string_view();
}

void remove_label(model::Labels& labels, std::string_view name) {
  const auto at = place_of(labels, name);
  if (at != labels.end() && at->first == name) labels.erase(at);
}

void set_label(model::Labels& labels, std::string_view name, std::string_view value) {
  if (value.empty()) return remove_label(labels, name);
  const auto at = place_of(labels, name);
  if (at != labels.end() && at->first == name) {
    labels[static_cast<size_t>(at - labels.begin())].second = std::string(value);
  } else {
    labels.emplace(at, std::string(name), std::string(value));
  }
}

size_t bytes_of(const model::Labels& labels) {
  size_t bytes = labels.size() * sizeof(model::Labels::value_type);
  for (const auto& [name, value] : labels) bytes += name.size() + value.size();
  return bytes;
}

std::string text_of(const model::Labels& labels) {
  std::string text = "{";
  for (const auto& [name, value] : labels) {
    if (text.size() > 1) text += ", ";
    text += label_name_text(name);
    text += '=';
    text += go_quoted(value);
  }
  return text + "}";
}

LabelSubset::LabelSubset(Kind kind, std::vector<std::string> names)
    : kind_(kind), names_(std::move(names)) {
  if (kind_ == Kind::kAllBut) names_.emplace_back(kMetricName);
  std::ranges::sort(names_);
}

bool LabelSubset::counts(std::string_view name) const {
  return std::ranges::binary_search(names_, name) == (kind_ == Kind::kListed);
}

model::Labels LabelSubset::of(const model::Labels& labels) const {
  model::Labels kept;
  for (const auto& label : labels) {
    if (counts(label.first)) kept.push_back(label);
  }
  return kept;
}

std::string_view LabelSubset::key(const model::Labels& labels) {
  key_.clear();
  for (const auto& [name, value] : labels) {
    if (!counts(name)) continue;
    append_counted(key_, name);
    append_counted(key_, value);
  }
  return key_;
}

std::optional<size_t> KeyIndex::find(std::string_view key) const {
  const auto at = indices_.find(key);
  return at == indices_.end() ? std::nullopt : std::optional(at->second);
}

KeyIndex::Found KeyIndex::find_or_add(std::string_view key) {
  if (const auto known = find(key)) return {*known, false};
  const size_t index = indices_.size();
  indices_.emplace(std::string(key), index);
  return {index, true};
}

}  // namespace gpusight::promql
