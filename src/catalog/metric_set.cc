#include "catalog/metric_set.h"

#include <algorithm>

namespace gpusight::catalog {
namespace {

// Whether `text` is `pattern`, in which each * stands for any text.
bool fits(std::string_view pattern, std::string_view text) {
  size_t star = std::string_view::npos;  // the last one passed
  size_t taken_by_star = 0;              // where in the text what it stands for ends
  size_t p = 0;
  size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken_by_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken_by_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// A companion goes with its mean.
bool is_named(const MetricRow& row, std::string_view word) {
  if (group_key(row.group) == word || fits(word, row.name)) return true;
  return row.mean_row && fits(word, metric(*row.mean_row).name);
}

}  // namespace

bool MetricSet::has_all(std::span<const MetricId> metrics) const {
  return std::ranges::all_of(metrics, [this](MetricId metric) { return has(metric); });
}

bool may_be_disabled(const MetricRow& row) {
  return row.scope != Scope::kSelf && row.id != MetricId::kGpuUp && row.id != MetricId::kGpuAsleep;
}

std::optional<MetricSet> named_metrics(std::string_view word) {
  MetricSet named;
  bool any = false;
  for (const MetricRow& row : metrics()) {
    if (!is_named(row, word)) continue;
    any = true;
    if (may_be_disabled(row)) named.add(row.id);
  }
  return any ? std::optional(named) : std::nullopt;
}

}  // namespace gpusight::catalog
