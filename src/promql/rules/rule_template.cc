#include "promql/rules/rule_template.h"

#include <optional>

#include <fmt/format.h>

#include "promql/go_text.h"
#include "promql/rules/template_lexer.h"
#include "promql/rules/template_parser.h"
#include "promql/rules/template_tree.h"

namespace gpusight::promql {
namespace {

using MapPtr = std::shared_ptr<const TextMap>;
using SamplesPtr = std::shared_ptr<const TemplateSamples>;

MapPtr map_of(const model::Labels& labels) {
  return std::make_shared<const TextMap>(labels.begin(), labels.end());
}

std::shared_ptr<const TemplateRoot> root_of(const TemplateInput& input) {
  return std::make_shared<const TemplateRoot>(
      TemplateRoot{.labels = map_of(input.labels),
                   .external_labels = map_of(input.external_labels),
                   .external_url = std::string(input.external_url),
                   .value = input.value});
}

// Walks the tree once, writing as it goes.
class Executor {
 public:
  Executor(const TemplateInput& input, std::string_view text, std::string_view name)
      : context_{.query = input.query,
                 .external_url = input.external_url,
                 .now_seconds = static_cast<double>(input.time_ms) / 1000,
                 .max_bytes = kMaxTemplateOutput},
        text_(text),
        name_(name) {
    const auto root = root_of(input);
    dot_ = root;
    variables_ = {{"$", root},
                  {"$labels", root->labels},
                  {"$externalLabels", root->external_labels},
                  {"$externalURL", root->external_url},
                  {"$value", root->value}};
  }

  Result<std::string> run(const TemplateNodes& nodes) {
    TRY(walk(nodes));
    return std::move(out_);
  }

 private:
  enum class Flow : uint8_t { kOn, kBreak, kContinue };
  struct Variable {
    std::string name;
    TemplateValue value;
  };

  // What failed, for messages.
  struct Where {
    size_t offset = 0;
    std::string_view text;
  };
  static Where where_of(const Operand& operand) { return {operand.offset, operand.text}; }
  static Where where_of(const Command& command) {
    return {command.operands.front().offset, command.text};
  }

  Status fail_at(const Where& where, const Status& why) const {
    return {why.code(), fmt::format("template: {}:{}:{}: executing {} at <{}>: {}", name_,
                                    line_of(text_, where.offset), column_of(where.offset),
                                    go_quoted(name_), where.text, why.message())};
  }
  Status fail_at(const Where& where, std::string_view why) const {
    return fail_at(where, Status(Code::kInvalidArgument, std::string(why)));
  }
  // As Go counts it: bytes from the beginning of the line, the first being 0.
  size_t column_of(size_t offset) const {
    const size_t line_feed = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    return offset - (line_feed == std::string_view::npos ? 0 : line_feed + 1);
  }

  Status count_step() {
    if (++steps_ <= kMaxTemplateSteps) return {};
    return {Code::kExhausted, fmt::format("template takes more than {} steps", kMaxTemplateSteps)};
  }

  static Status check_bytes(size_t bytes) {
    if (bytes <= kMaxTemplateOutput) return {};
    return {Code::kExhausted, fmt::format("template makes more than {} bytes", kMaxTemplateOutput)};
  }

  Status write(std::string_view text) {
    TRY(check_bytes(out_.size() + text.size()));
    out_ += text;
    return {};
  }

  // What a copy of it takes; values of other kinds are shared.
  static size_t bytes_of(const TemplateValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? 0 : text->size();
  }

  // All that variables hold.
  Status check_variables() const {
    size_t bytes = 0;
    for (const Variable& variable : variables_) bytes += bytes_of(variable.value);
    return check_bytes(bytes);
  }

  Result<Flow> walk(const TemplateNodes& nodes) {
    for (const TemplateNode& node : nodes) {
      TRY(count_step());
      if (const auto* text = std::get_if<std::string>(&node.node)) {
        TRY(write(*text));
      } else if (const auto* action = std::get_if<Pipeline>(&node.node)) {
        const TemplateValue value = TRY(evaluate(*action));
        if (action->target == Pipeline::Target::kNone) TRY(write(written(value)));
      } else if (const auto* branch = std::get_if<std::unique_ptr<Branch>>(&node.node)) {
        const Flow flow = TRY(take(**branch));
        if (flow != Flow::kOn) return flow;
      } else {
        return std::get<Jump>(node.node).out ? Flow::kBreak : Flow::kContinue;
      }
    }
    return Flow::kOn;
  }

  static std::string written(const TemplateValue& value) {
    return std::holds_alternative<Nil>(value) ? "<no value>" : text_of(value);
  }

  Result<Flow> take(const Branch& branch) {
    const size_t known = variables_.size();
    const TemplateValue value = TRY(evaluate(branch.pipeline));
    Result<Flow> flow = Flow::kOn;
    if (branch.kind == Branch::Kind::kRange) {
      flow = range(branch, value);
    } else if (is_true(value)) {
      flow = branch.kind == Branch::Kind::kWith ? with(value, branch.then) : walk(branch.then);
    } else {
      flow = walk(branch.otherwise);
    }
    variables_.resize(known);
    return flow;
  }

  Result<Flow> with(const TemplateValue& dot, const TemplateNodes& nodes) {
    const TemplateValue before = std::exchange(dot_, dot);
    Result<Flow> flow = walk(nodes);
    dot_ = before;
    return flow;
  }

  Result<Flow> range(const Branch& branch, const TemplateValue& over) {
    if (const auto* samples = std::get_if<SamplesPtr>(&over)) {
      int64_t index = 0;
      for (const auto& sample : **samples) {
        const Flow flow = TRY(once(branch, TemplateValue(index++), TemplateValue(sample)));
        if (flow == Flow::kBreak) break;
      }
      if (!(*samples)->empty()) return Flow::kOn;
    } else if (const auto* map = std::get_if<MapPtr>(&over)) {
      for (const auto& [key, value] : **map) {
        const Flow flow = TRY(once(branch, TemplateValue(key), TemplateValue(value)));
        if (flow == Flow::kBreak) break;
      }
      if (!(*map)->empty()) return Flow::kOn;
    } else if (const auto* count = std::get_if<int64_t>(&over)) {
      for (int64_t i = 0; i < *count; ++i) {
        const Flow flow = TRY(once(branch, TemplateValue(i), TemplateValue(i)));
        if (flow == Flow::kBreak) break;
      }
      if (*count > 0) return Flow::kOn;
    } else if (!std::holds_alternative<Nil>(over)) {
      return fail_at(where_of(branch.pipeline.commands.back()),
                     fmt::format("range can't iterate over {}", text_of(over)));
    }
    return walk(branch.otherwise);
  }

  // One turn of a loop.
  Result<Flow> once(const Branch& branch, const TemplateValue& key, const TemplateValue& value) {
    TRY(count_step());
    const size_t known = variables_.size();
    const std::vector<std::string>& names = branch.pipeline.variables;
    if (names.size() == 1) TRY(set(branch.pipeline.target, names[0], value));
    if (names.size() == 2) {
      TRY(set(branch.pipeline.target, names[0], key));
      TRY(set(branch.pipeline.target, names[1], value));
    }
    Result<Flow> flow = with(value, branch.then);
    variables_.resize(known);
    return flow;
  }

  Status set(Pipeline::Target target, const std::string& name, TemplateValue value) {
    constexpr size_t kSmall = 1024;  // as many of these as a template has variables are no matter
    const bool is_large = bytes_of(value) > kSmall;
    if (target == Pipeline::Target::kDeclared) {
      variables_.push_back({name, std::move(value)});
    } else {
      for (size_t i = variables_.size(); i-- > 0;) {
        if (variables_[i].name != name) continue;
        variables_[i].value = std::move(value);
        break;
      }
    }
    return is_large ? check_variables() : Status();
  }

  Result<TemplateValue> evaluate(const Pipeline& pipeline) {
    std::optional<TemplateValue> piped;
    for (const Command& command : pipeline.commands) {
      piped = TRY(evaluate(command, piped));
    }
    // In a range the variables are set turn by turn.
    if (pipeline.variables.size() == 1) {
      TRY(set(pipeline.target, pipeline.variables[0], *piped));
    }
    return *piped;
  }

  Result<TemplateValue> evaluate(const Command& command,
                                 const std::optional<TemplateValue>& piped) {
    TRY(count_step());
    const Operand& head = command.operands.front();
    if (const auto* call = std::get_if<Operand::Call>(&head.base)) {
      return with_fields(head, TRY(this->call(*call->function, command, piped)));
    }
    if (piped) {
      return fail_at(where_of(head),
                     fmt::format("can't give argument to non-function {}", head.text));
    }
    return operand(head);
  }

  Result<TemplateValue> operand(const Operand& operand) {
    TRY(count_step());
    if (const auto* constant = std::get_if<TemplateValue>(&operand.base)) return *constant;
    if (std::holds_alternative<Operand::Dot>(operand.base)) return with_fields(operand, dot_);
    if (const auto* variable = std::get_if<Operand::Variable>(&operand.base)) {
      return with_fields(operand, value_of(variable->name));
    }
    if (const auto* call = std::get_if<Operand::Call>(&operand.base)) {  // without arguments
      return with_fields(operand, TRY(run(*call->function, where_of(operand), {})));
    }
    return with_fields(operand, TRY(evaluate(*std::get<PipelinePtr>(operand.base))));
  }

  TemplateValue value_of(std::string_view name) const {
    for (size_t i = variables_.size(); i-- > 0;) {
      if (variables_[i].name == name) return variables_[i].value;
    }
    return Nil{};
  }

  Result<TemplateValue> with_fields(const Operand& operand, TemplateValue value) {
    for (const std::string& name : operand.fields) {
      Result<TemplateValue> next = field_of(value, name);
      if (!next.ok()) return fail_at(where_of(operand), next.status());
      value = std::move(next).value();
    }
    return value;
  }

  Result<TemplateValue> call(const TemplateFunction& function, const Command& command,
                             const std::optional<TemplateValue>& piped) {
    const std::span<const Operand> given = std::span(command.operands).subspan(1);
    if (function.kind != TemplateFunction::Kind::kPlain) {
      return first_that_decides(function, where_of(command), given, piped);
    }
    std::vector<TemplateValue> args;
    size_t bytes = 0;
    for (const Operand& arg : given) {
      args.push_back(TRY(operand(arg)));
      TRY(check_bytes(bytes += bytes_of(args.back())));
    }
    if (piped) args.push_back(*piped);
    return run(function, where_of(command), args);
  }

  Status check_count(const TemplateFunction& function, const Where& where, size_t count) const {
    const auto most = static_cast<size_t>(function.max_args);
    const bool too_few = count < static_cast<size_t>(function.min_args);
    if (!too_few && (function.max_args < 0 || count <= most)) return {};
    const bool is_exact = function.min_args == function.max_args;
    return fail_at(where,
                   fmt::format("wrong number of args for {}: want {}{} got {}", function.name,
                               is_exact ? "" : "at least ", function.min_args, count));
  }

  Result<TemplateValue> run(const TemplateFunction& function, const Where& where,
                            std::span<const TemplateValue> args) {
    TRY(check_count(function, where, args.size()));
    Result<TemplateValue> result = function.run(context_, args);
    if (result.ok()) {
      TRY(check_bytes(bytes_of(*result)));
      return result;
    }
    return fail_at(where,
                   Status(result.status().code(), fmt::format("error calling {}: {}", function.name,
                                                              result.status().message())));
  }

  // "and" ends at the first false argument, "or" at the first true one; what follows is not looked
  // at.
  Result<TemplateValue> first_that_decides(const TemplateFunction& function, const Where& where,
                                           std::span<const Operand> given,
                                           const std::optional<TemplateValue>& piped) {
    TRY(check_count(function, where, given.size() + (piped ? 1 : 0)));
    const bool decides = function.kind == TemplateFunction::Kind::kOr;
    TemplateValue value = Nil{};
    for (const Operand& arg : given) {
      value = TRY(operand(arg));
      if (is_true(value) == decides) return value;
    }
    return piped ? *piped : value;
  }

  const FunctionContext context_;
  std::string_view text_;
  std::string_view name_;
  TemplateValue dot_;
  std::vector<Variable> variables_;
  std::string out_;
  size_t steps_ = 0;
};

}  // namespace

RuleTemplate::RuleTemplate() = default;
RuleTemplate::~RuleTemplate() = default;
RuleTemplate::RuleTemplate(RuleTemplate&&) noexcept = default;
RuleTemplate& RuleTemplate::operator=(RuleTemplate&&) noexcept = default;

Result<RuleTemplate> RuleTemplate::parse(std::string_view text, std::string_view name) {
  if (text.size() > kMaxTemplateLength) {
    return Status(Code::kInvalidArgument,
                  fmt::format("template: {}: longer than {} bytes", name, kMaxTemplateLength));
  }
  Result<TemplateNodes> nodes = parse_template(text);
  if (!nodes.ok()) {
    return Status(nodes.status().code(),
                  fmt::format("template: {}:{}", name, nodes.status().message()));
  }
  RuleTemplate made;
  made.text_ = text;
  made.name_ = name;
  made.nodes_ = std::move(nodes).value();
  return made;
}

Result<std::string> RuleTemplate::expand(const TemplateInput& input) const {
  Result<std::string> expanded = Executor(input, text_, name_).run(nodes_);
  if (expanded.ok()) return expanded;
  return Status(expanded.status().code(),
                fmt::format("error executing template {}: {}", name_, expanded.status().message()));
}

}  // namespace gpusight::promql
