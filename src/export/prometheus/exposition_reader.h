// Reads plain exposition text back, for the tests of this folder: strict where Prometheus is.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace gpusight::prometheus {

using LabelList = std::vector<std::pair<std::string, std::string>>;  // in the order of the text

struct ReadSample {
  LabelList labels;
  double number = 0;
  std::string label(std::string_view name) const {
    for (const auto& [key, value] : labels) {
      if (key == name) return value;
    }
    return "";
  }
  bool has(std::string_view name) const {
    for (const auto& [key, value] : labels) {
      if (key == name) return true;
    }
    return false;
  }
};

struct ReadFamily {
  std::string type;
  std::string help;
  std::vector<ReadSample> samples;
};

// `name="value",…` with its escapes undone.
inline LabelList read_labels(std::string_view text) {
  LabelList labels;
  while (!text.empty()) {
    const size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) {
      ADD_FAILURE() << "no label: " << text;
      break;
    }
    std::string value;
    size_t i = equals + 2;
    for (; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
      if (i < text.size()) value += text[i] == 'n' && text[i - 1] == '\\' ? '\n' : text[i];
    }
    labels.emplace_back(text.substr(0, equals), value);
    text.remove_prefix(std::min(text.size(), i + 1));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return labels;
}

// Families by name. Fails on a family in pieces or without HELP and TYPE, a series that stands
// twice and a label that stands twice in one.
inline std::map<std::string, ReadFamily> read_exposition(const std::string& text) {
  std::map<std::string, ReadFamily> families;
  std::set<std::string> series;
  std::string current;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto words = split(line, ' ');
    if (line.starts_with("# HELP ")) {
      current = words[2];
      EXPECT_FALSE(families.contains(current)) << "in pieces: " << current;
      families[current].help = line.substr(std::min(line.size(), 8 + current.size()));
      continue;
    }
    if (line.starts_with("# TYPE ")) {
      EXPECT_EQ(words[2], current);
      families[current].type = words[3];
      continue;
    }
    const size_t space = line.rfind(' ');
    const std::string_view key = line.substr(0, space);
    EXPECT_TRUE(series.insert(std::string(key)).second) << "twice: " << key;
    const size_t brace = key.find('{');
    EXPECT_EQ(key.substr(0, brace), current) << "outside its family: " << line;
    ReadSample sample;
    if (brace != std::string_view::npos) {
      EXPECT_TRUE(key.ends_with('}')) << line;
      sample.labels = read_labels(key.substr(brace + 1, key.size() - brace - 2));
      std::set<std::string> names;
      for (const auto& [name, value] : sample.labels) {
        EXPECT_TRUE(names.insert(name).second) << "label twice: " << line;
      }
    }
    const auto number = parse_double(line.substr(space + 1));
    EXPECT_TRUE(number.has_value()) << line;
    sample.number = number.value_or(0);
    families[current].samples.push_back(std::move(sample));
  }
  for (const auto& [name, family] : families) {
    EXPECT_FALSE(family.help.empty()) << name;
    EXPECT_TRUE(family.type == "gauge" || family.type == "counter") << name;
    EXPECT_FALSE(family.samples.empty()) << "a heading alone: " << name;
  }
  return families;
}

}  // namespace gpusight::prometheus
