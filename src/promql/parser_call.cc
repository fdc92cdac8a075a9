// The parser's part for what has arguments: functions, aggregations and their groupings.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/literal.h"
#include "promql/parser_impl.h"

namespace gpusight::promql {
namespace {

// nullopt: one that Prometheus has behind a flag.
std::optional<AggregateOp> find_aggregate(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(AggregateOp::kCountValues); ++i) {
    if (name_of(static_cast<AggregateOp>(i)) == name) return static_cast<AggregateOp>(i);
  }
  return std::nullopt;
}

bool has_param(AggregateOp op) { return op >= AggregateOp::kTopk; }

int highest(const std::vector<Tree>& trees) {
  int height = 0;
  for (const Tree& tree : trees) height = std::max(height, tree.height);
  return height;
}

// Why a function of the table is not built.
std::string reason(const Function& function) {
  return function.standing == Function::Standing::kExperimental
             ? fmt::format("function \"{}\" is experimental and not supported", function.name)
             : fmt::format("function \"{}\" works on native histograms, which are not supported",
                           function.name);
}

}  // namespace

Result<Tree> Parser::call(const Token& name) {
  size_t end = 0;
  std::vector<Tree> args = TRY(arguments(end));
  if (name.text == "holt_winters") {
    return tokens_.error(name.position,
                         "function \"holt_winters\" was renamed to "
                         "\"double_exponential_smoothing\", which is experimental and not "
                         "supported",
                         Code::kUnsupported);
  }
  const Function* function = find_function(name.text);
  if (function == nullptr) {
    return tokens_.error(name.position,
                         fmt::format("unknown function with name {}", quote_text(name.text)));
  }
  if (function->standing != Function::Standing::kBuilt) {
    return tokens_.error(name.position, reason(*function), Code::kUnsupported);
  }
  Call call{.function = function};
  const int height = highest(args) + 1;
  for (Tree& arg : args) call.args.push_back(std::move(arg.expr));
  return node(std::move(call), {name.position.start, end}, height);
}

Result<Tree> Parser::aggregate(const Token& name) {
  Aggregate aggregate;
  size_t end = 0;
  ++open_aggregations_;
  const auto take_grouping = [&]() -> Result<bool> {
    const Token token = TRY(tokens_.peek());
    if (token.kind != TokenKind::kBy && token.kind != TokenKind::kWithout) return false;
    TRY(tokens_.take());
    aggregate.without = token.kind == TokenKind::kWithout;
    aggregate.grouping = TRY(grouping(end));
    return true;
  };
  const bool grouped = TRY(take_grouping());
  std::vector<Tree> args = TRY(arguments(end));
  if (!grouped) TRY(take_grouping());
  --open_aggregations_;
  return make_aggregate(name, std::move(aggregate), std::move(args), end);
}

Result<Tree> Parser::make_aggregate(const Token& name, Aggregate aggregate, std::vector<Tree> args,
                                    size_t end) {
  const Position position{name.position.start, end};
  if (args.empty()) {
    return tokens_.error(position, "no arguments for aggregate expression provided");
  }
  const std::string op_name = lower(name.text);
  const std::optional<AggregateOp> op = find_aggregate(op_name);
  if (!op) {
    return tokens_.error(position, op_name + "() is experimental and not supported",
                         Code::kUnsupported);
  }
  aggregate.op = *op;
  const size_t wanted = has_param(*op) ? 2 : 1;
  if (args.size() != wanted) {
    return tokens_.error(position, fmt::format("wrong number of arguments for aggregate expression "
                                               "provided, expected {}, got {}",
                                               wanted, args.size()));
  }
  const int height = highest(args) + 1;
  if (wanted == 2) aggregate.param = std::move(args[0].expr);
  aggregate.expr = std::move(args.back().expr);
  return node(std::move(aggregate), position, height);
}

// "(", expressions with commas between them, ")"; `end` is set to the text's end.
Result<std::vector<Tree>> Parser::arguments(size_t& end) {
  if (!TRY(tokens_.accept(TokenKind::kLeftParen))) return unexpected_in_expression();
  std::vector<Tree> args;
  Token token = TRY(tokens_.peek());
  while (token.kind != TokenKind::kRightParen) {
    args.push_back(TRY(expression(1)));
    token = TRY(tokens_.peek());
    if (token.kind == TokenKind::kRightParen) break;
    if (token.kind != TokenKind::kComma) return unexpected_in_expression();
    const Token comma = TRY(tokens_.take());
    token = TRY(tokens_.peek());
    if (token.kind == TokenKind::kRightParen) {
      return tokens_.error(comma.position, "trailing commas not allowed in function call args");
    }
  }
  TRY(tokens_.take());
  end = token.position.end;
  return args;
}

Result<std::vector<std::string>> Parser::grouping(size_t& end) {
  if (!TRY(tokens_.accept(TokenKind::kLeftParen))) {
    return tokens_.unexpected("grouping opts", "\"(\"");
  }
  std::vector<std::string> labels;
  Token token = TRY(tokens_.peek());
  while (token.kind != TokenKind::kRightParen) {
    labels.push_back(TRY(grouping_label()));
    token = TRY(tokens_.peek());
    if (token.kind == TokenKind::kRightParen) break;
    if (token.kind != TokenKind::kComma) {
      return tokens_.unexpected("grouping opts", "\",\" or \")\"");
    }
    TRY(tokens_.take());
    token = TRY(tokens_.peek());
  }
  TRY(tokens_.take());
  end = token.position.end;
  return labels;
}

Result<std::string> Parser::grouping_label() {
  const Token token = TRY(tokens_.peek());
  if (token.kind != TokenKind::kString && !names_label(token)) {
    return tokens_.unexpected("grouping opts", "label");
  }
  TRY(tokens_.take());
  if (token.kind != TokenKind::kString) return std::string(token.text);
  Result<std::string> name = unquote_text(token.text);
  if (!name.ok()) return tokens_.error(token.position, name.status().message());
  if (name->empty() || !is_valid_utf8(*name)) {
    return tokens_.error(token.position, "invalid label name for grouping: " + quote_text(*name));
  }
  return name;
}

}  // namespace gpusight::promql
