#include "promql/rules/template_value.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/go_text.h"

namespace gpusight::promql {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

using MapPtr = std::shared_ptr<const TextMap>;
using SamplePtr = std::shared_ptr<const TemplateSample>;
using SamplesPtr = std::shared_ptr<const TemplateSamples>;
using RootPtr = std::shared_ptr<const TemplateRoot>;

Status fail(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string text_of_map(const TextMap& map) {
  std::string out = "map[";
  for (const auto& [key, value] : map) {
    if (out.size() > 4) out += ' ';
    out += key;
    out += ':';
    out += value;
  }
  return out + "]";
}

std::string text_of_sample(const TemplateSample& sample) {
  return fmt::format("{{{} {}}}", text_of_map(sample.labels), go_general(sample.value));
}

std::string text_of_samples(const TemplateSamples& samples) {
  std::string out = "[";
  for (const SamplePtr& sample : samples) {
    if (out.size() > 1) out += ' ';
    out += text_of_sample(*sample);
  }
  return out + "]";
}

Result<TemplateValue> field_of_root(const TemplateRoot& root, std::string_view name) {
  if (name == "Labels") return TemplateValue(root.labels);
  if (name == "ExternalLabels") return TemplateValue(root.external_labels);
  if (name == "ExternalURL") return TemplateValue(root.external_url);
  if (name == "Value") return TemplateValue(root.value);
  return fail(
      fmt::format("can't evaluate field {}: there are Labels, ExternalLabels, ExternalURL "
                  "and Value",
                  name));
}

Result<TemplateValue> field_of_sample(const TemplateSample& sample, std::string_view name) {
  if (name == "Labels") return TemplateValue(std::make_shared<const TextMap>(sample.labels));
  if (name == "Value") return TemplateValue(sample.value);
  return fail(fmt::format("can't evaluate field {} in type *template.sample", name));
}

Order order_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return Order::kUnordered;
  if (a == b) return Order::kEqual;
  return a < b ? Order::kLess : Order::kGreater;
}

template <typename T>
Order order_of(const T& a, const T& b) {
  if (a == b) return Order::kEqual;
  return a < b ? Order::kLess : Order::kGreater;
}

}  // namespace

std::string_view type_name(const TemplateValue& value) {
  static constexpr std::string_view kNames[] = {"<nil>",
                                                "bool",
                                                "int",
                                                "float64",
                                                "string",
                                                "map[string]string",
                                                "*template.sample",
                                                "template.queryResult",
                                                "struct"};
  return kNames[value.index()];
}

bool is_true(const TemplateValue& value) {
  return std::visit(Overloaded{
                        [](const Nil&) { return false; },
                        [](bool b) { return b; },
                        [](int64_t n) { return n != 0; },
                        [](double n) { return n != 0; },
                        [](const std::string& text) { return !text.empty(); },
                        [](const MapPtr& map) { return !map->empty(); },
                        [](const SamplePtr&) { return true; },
                        [](const SamplesPtr& samples) { return !samples->empty(); },
                        [](const RootPtr&) { return true; },
                    },
                    value);
}

std::string text_of(const TemplateValue& value) {
  return std::visit(Overloaded{
                        [](const Nil&) { return std::string("<nil>"); },
                        [](bool b) { return std::string(b ? "true" : "false"); },
                        [](int64_t n) { return std::to_string(n); },
                        [](double n) { return go_general(n); },
                        [](const std::string& text) { return text; },
                        [](const MapPtr& map) { return text_of_map(*map); },
                        [](const SamplePtr& sample) { return text_of_sample(*sample); },
                        [](const SamplesPtr& samples) { return text_of_samples(*samples); },
                        [](const RootPtr& root) {
                          return fmt::format("{{{} {} {} {}}}", text_of_map(*root->labels),
                                             text_of_map(*root->external_labels),
                                             root->external_url, go_general(root->value));
                        },
                    },
                    value);
}

Result<double> to_number(const TemplateValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) {
    const std::optional<double> number = go_parse_number(*text);
    if (number) return *number;
    return fail(fmt::format("strconv.ParseFloat: parsing {}: invalid syntax", go_quoted(*text)));
  }
  return fail(fmt::format("can't convert {} to float", type_name(value)));
}

Result<TemplateValue> field_of(const TemplateValue& value, std::string_view name) {
  if (const auto* root = std::get_if<RootPtr>(&value)) return field_of_root(**root, name);
  if (const auto* sample = std::get_if<SamplePtr>(&value)) return field_of_sample(**sample, name);
  if (const auto* map = std::get_if<MapPtr>(&value)) {
    const auto found = (*map)->find(name);
    return TemplateValue(found == (*map)->end() ? std::string() : found->second);
  }
  if (std::holds_alternative<Nil>(value)) {
    return fail(fmt::format("nil data; no entry for key {}", go_quoted(name)));
  }
  return fail(fmt::format("can't evaluate field {} in type {}", name, type_name(value)));
}

Result<Order> compare(const TemplateValue& a, const TemplateValue& b) {
  if (a.index() != b.index()) return fail("incompatible types for comparison");
  if (const auto* number = std::get_if<double>(&a)) return order_of(*number, std::get<double>(b));
  if (const auto* number = std::get_if<int64_t>(&a)) return order_of(*number, std::get<int64_t>(b));
  if (const auto* text = std::get_if<std::string>(&a)) {
    return order_of(*text, std::get<std::string>(b));
  }
  if (const auto* flag = std::get_if<bool>(&a)) return order_of(*flag, std::get<bool>(b));
  if (std::holds_alternative<Nil>(a)) return Order::kEqual;
  return fail("invalid type for comparison");
}

}  // namespace gpusight::promql
