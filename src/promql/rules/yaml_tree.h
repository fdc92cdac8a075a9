// YAML as rule files and rule tests use it, read into a plain tree, with a place for every value.
//
// One document; whatever follows it is not looked at, as in Prometheus. Anchors, aliases and merge
// keys ("<<") are resolved. Hostile text is bounded: kMaxYamlLength, kMaxYamlDepth, and
// kMaxYamlNodes after aliases are followed. Trees are immutable and may be shared; pure functions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpusight::promql {

inline constexpr size_t kMaxYamlLength = 8UL * 1024 * 1024;  // bytes
inline constexpr size_t kMaxYamlDepth = 50;
inline constexpr size_t kMaxYamlNodes = 500'000;

// Both count from 1; 0: not known.
struct Place {
  int line = 0;
  int column = 0;
};
std::string text_of(Place place);  // "4:13"

struct YamlValue;
using YamlPtr = std::shared_ptr<const YamlValue>;

struct YamlValue {
  enum class Kind : uint8_t { kNull, kScalar, kSequence, kMap };
  struct Entry {
    std::string key;
    Place place;
    YamlPtr value;  // never null
  };
  Kind kind = Kind::kNull;
  std::string text;            // of a scalar
  bool is_plain = false;       // a scalar without quotes, which may be a number
  std::vector<YamlPtr> items;  // of a sequence
  std::vector<Entry> entries;  // of a map, in the order written; keys that are no text are ""
  Place place;
  size_t nodes = 1;  // of the whole, aliases counted each time
};

struct YamlFault {
  Place place;
  std::string message;
};
struct YamlDocument {
  YamlPtr root;  // of empty text a null value; null pointer: see fault
  YamlFault fault;
};
YamlDocument parse_yaml(std::string_view text);

}  // namespace gpusight::promql
