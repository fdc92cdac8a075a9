// The syntax tree of a rule's template. Internal to promql/rules; immutable once parsed.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "promql/rules/template_value.h"

namespace gpusight::promql {

struct TemplateFunction;

struct Pipeline;
using PipelinePtr = std::unique_ptr<Pipeline>;

// One word of a command. Fields ("$x.Labels.job") follow what they are taken from.
struct Operand {
  struct Dot {};
  struct Variable {
    std::string name;  // with its dollar sign; "$" is the root
  };
  struct Call {
    const TemplateFunction* function = nullptr;
  };
  std::variant<TemplateValue, Dot, Variable, Call, PipelinePtr> base;
  std::vector<std::string> fields;
  std::string text;  // as written, for messages
  size_t offset = 0;
};

// A function with its arguments, or a single operand.
struct Command {
  std::vector<Operand> operands;  // at least one
  std::string text;               // as written, for messages
};

// Commands, each of which gives its value to the next as last argument.
struct Pipeline {
  enum class Target : uint8_t { kNone, kDeclared, kAssigned };
  Target target = Target::kNone;
  std::vector<std::string> variables;  // one, or two for range
  std::vector<Command> commands;       // at least one
};

struct TemplateNode;
using TemplateNodes = std::vector<TemplateNode>;

struct Branch {
  enum class Kind : uint8_t { kIf, kWith, kRange };
  Kind kind = Kind::kIf;
  Pipeline pipeline;
  TemplateNodes then;
  TemplateNodes otherwise;
  size_t offset = 0;
};
struct Jump {
  bool out = false;  // break; else continue
};

struct TemplateNode {
  std::variant<std::string, Pipeline, std::unique_ptr<Branch>, Jump> node;
};

}  // namespace gpusight::promql
