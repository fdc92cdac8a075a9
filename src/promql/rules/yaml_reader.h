// Reads a YAML tree into what it should be, and notes everything that it is not: unknown and
// repeated fields, values of another type. Internal to promql/rules.
//
// A reader belongs to one thread. What is wrong is noted and the default kept, so that one pass
// finds all faults of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/rules/yaml_tree.h"

namespace gpusight::promql {

class YamlReader {
 public:
  const std::vector<YamlFault>& faults() const { return faults_; }
  void note(Place place, std::string message);

  // Calls `field` for each entry; it returns false for a name that `what` does not have. Null is an
  // empty map.
  void map(const YamlValue& value, std::string_view what,
           const std::function<bool(const YamlValue::Entry&)>& field);
  // Calls `item` for each; null is an empty sequence.
  void sequence(const YamlValue& value, std::string_view what,
                const std::function<void(const YamlValue&)>& item);

  std::string text(const YamlValue& value);  // null is empty
  int64_t integer(const YamlValue& value);
  double number(const YamlValue& value);
  bool flag(const YamlValue& value);
  int64_t duration_ms(const YamlValue& value);
  std::vector<std::string> texts(const YamlValue& value);
  model::Labels labels(const YamlValue& value);  // sorted; empty values stay

 private:
  void wrong_type(const YamlValue& value, std::string_view wanted);
  std::vector<YamlFault> faults_;
};

// As PromQL's parse_duration(), but only "0" has no unit.
Result<int64_t> parse_rule_duration(std::string_view text);

}  // namespace gpusight::promql
