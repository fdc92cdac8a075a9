// The parser of expressions: recursive descent, binary operators by precedence climbing.
//
// It builds the tree in one pass and knows grammar only; check() then looks at types and at what
// operators and functions allow, as Prometheus does, so that a mistake in grammar is always told
// first. A tree never gets higher than kMaxDepth, chains like 1+1+1 included, which are as high as
// they are long: whatever walks it may recurse.
//
// A Parser serves one query and one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "promql/ast.h"
#include "promql/parser.h"
#include "promql/token_stream.h"

namespace gpusight::promql {

// Types, matching rules, numbers of arguments, and that selectors select. Also settles what depends
// on types: Binary::matching is there only between vectors, and many to many for set operators.
Status check(std::string_view query, Expr& expr);

// A tree being built: how many nodes stand one below the other in it.
struct Tree {
  ExprPtr expr;
  int height = 1;
};

class Parser {
 public:
  explicit Parser(std::string_view query) : tokens_(query) {}
  Result<ExprPtr> whole();

 private:
  // parser.cc
  Result<Tree> expression(int min_precedence);
  Result<Tree> chain(int min_precedence);
  Result<Tree> binary(Tree lhs, const Token& op);
  Status binary_modifiers(Binary& binary);
  Result<Tree> unary();
  Result<Tree> modified();
  Result<Tree> primary();
  Result<Tree> number();
  Result<Tree> paren();
  Result<Tree> node(Expr::Node node, Position position, int height);
  Status unexpected_in_expression();

  // parser_call.cc
  Result<Tree> call(const Token& name);
  Result<Tree> aggregate(const Token& name);
  Result<Tree> make_aggregate(const Token& name, Aggregate aggregate, std::vector<Tree> args,
                              size_t end);
  Result<std::vector<Tree>> arguments(size_t& end);
  Result<std::vector<std::string>> grouping(size_t& end);
  Result<std::string> grouping_label();

  // parser_selector.cc
  Result<Tree> selector();
  Status matchers(VectorSelector& selector, size_t& end);
  Result<model::Matcher> matcher();
  Result<Tree> bracket(Tree tree);
  Result<Tree> matrix(Tree tree, int64_t range_ms, Position bracket);
  Result<int64_t> bracketed_duration(std::string_view context, std::string_view wanted);
  Status offset(Tree& tree);
  Status at(Tree& tree);
  Result<double> timestamp(size_t& end);
  Result<double> number_value(const Token& token);
  Status duration_expression(Position position);

  TokenStream tokens_;
  int level_ = 0;              // of expressions inside each other being parsed
  int open_aggregations_ = 0;  // around what is being parsed, for messages
};

}  // namespace gpusight::promql
