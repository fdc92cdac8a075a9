// What a template computes with: the few types of Go that rules' templates meet, and how Go takes
// them for true, compares them and writes them.
//
// Plain values; all but texts are cheap to copy. Source: Go's documentation of text/template and
// fmt.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace gpusight::promql {

using TextMap = std::map<std::string, std::string, std::less<>>;

struct TemplateSample {
  TextMap labels;
  double value = 0;
};
using TemplateSamples = std::vector<std::shared_ptr<const TemplateSample>>;

// What "." and "$" are at first.
struct TemplateRoot {
  std::shared_ptr<const TextMap> labels;
  std::shared_ptr<const TextMap> external_labels;
  std::string external_url;
  double value = 0;
};

struct Nil {};

using TemplateValue =
    std::variant<Nil, bool, int64_t, double, std::string, std::shared_ptr<const TextMap>,
                 std::shared_ptr<const TemplateSample>, std::shared_ptr<const TemplateSamples>,
                 std::shared_ptr<const TemplateRoot>>;

// As Go names it: "float64", "map[string]string".
std::string_view type_name(const TemplateValue& value);
// Zero, empty and nil are false.
bool is_true(const TemplateValue& value);
// As Go's fmt.Sprint writes it.
std::string text_of(const TemplateValue& value);
// Numbers, texts that are numbers; fails for the rest.
Result<double> to_number(const TemplateValue& value);
// ".name" of a value. A label that is not there is empty; what has no such field fails.
Result<TemplateValue> field_of(const TemplateValue& value, std::string_view name);

enum class Order : uint8_t { kLess, kEqual, kGreater, kUnordered };  // unordered: a NaN is involved
// Fails for values of different types, as int and float64 are, and of types without order.
Result<Order> compare(const TemplateValue& a, const TemplateValue& b);

}  // namespace gpusight::promql
