// What operators do with labels: look up, set, drop, and tell groups apart.
//
// Internal to promql. Pure functions; a LabelSubset is immutable but for its scratch space and
// belongs to one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/queryable.h"

namespace gpusight::promql {

inline constexpr std::string_view kMetricName = "__name__";
inline constexpr std::string_view kBucketLabel = "le";

// Empty: the label is not there.
std::string_view label_value(const model::Labels& labels, std::string_view name);
void remove_label(model::Labels& labels, std::string_view name);
void set_label(model::Labels& labels, std::string_view name, std::string_view value);
// Memory they take, about.
size_t bytes_of(const model::Labels& labels);
// `{a="b", c="d"}`, the metric's name among them, as Prometheus writes labels in its errors.
std::string text_of(const model::Labels& labels);

// Which labels count: those listed ("by", "on"), or all but those and the metric's name ("without",
// "ignoring").
class LabelSubset {
 public:
  enum class Kind : uint8_t { kListed, kAllBut };
  LabelSubset(Kind kind, std::vector<std::string> names);

  model::Labels of(const model::Labels& labels) const;
  // Equal for two sets of labels exactly when of() is. Valid until the next call.
  std::string_view key(const model::Labels& labels);

 private:
  bool counts(std::string_view name) const;
  Kind kind_;
  std::vector<std::string> names_;  // sorted
  std::string key_;
};

// Numbers keys in the order in which they come.
class KeyIndex {
 public:
  struct Found {
    size_t index = 0;
    bool is_new = false;
  };
  Found find_or_add(std::string_view key);
  std::optional<size_t> find(std::string_view key) const;
  size_t size() const { return indices_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> indices_;
};

}  // namespace gpusight::promql
