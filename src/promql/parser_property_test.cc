// Trees and texts made at random, with fixed seeds: what is printed reads back as the same tree.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "promql/matcher.h"
#include "promql/parser.h"
#include "promql/test_tree.h"

namespace gpusight::promql {
namespace {

// Makes trees as the parser would: of right types, with parentheses wherever binding needs them.
class TreeMaker {
 public:
  explicit TreeMaker(uint64_t seed) : random_(seed) {}

  ExprPtr vector(int depth) {
    switch (depth <= 0 ? 0 : pick(7)) {
      case 1: return call(depth);
      case 2: return aggregate(depth);
      case 3: return binary(vector(depth - 1), vector(depth - 1));
      case 4: return binary(vector(depth - 1), scalar(depth - 1));
      case 5: return make(Unary{.negative = coin(), .expr = operand(vector(depth - 1))});
      case 6: return make(Paren{vector(depth - 1)});
      default: return make(selector());
    }
  }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  bool coin() { return pick(2) == 0; }
  template <typename T>
  static ExprPtr make(T node) {
    auto expr = std::make_unique<Expr>();
    expr->node = std::move(node);
    return expr;
  }
  // As a side of an operator.
  static ExprPtr operand(ExprPtr expr) {
    const auto* number = expr->as<NumberLiteral>();
    const bool loose = expr->as<Binary>() || expr->as<Unary>() ||
                       (number && !(number->value >= 0) && number->value == number->value);
    return loose ? make(Paren{std::move(expr)}) : std::move(expr);
  }

  std::string name() {
    static const std::vector<std::string> kNames = {"m",   "a_1", "sum",  "by",  "offset", "start",
                                                    "and", "x:y", "fill", "end", "on_"};
    return kNames[pick(kNames.size())];
  }
  std::string text() {
    static const std::vector<std::string> kPieces = {
        "a",    "b c",    "\"",     "'", "`", "\\", "\n", std::string(1, '\0'),
        "\xff", "\u20ac", "\u202e", "{", "}", "#",  "$1", "x|y"};
    std::string out;
    for (size_t i = pick(4); i > 0; --i) out += kPieces[pick(kPieces.size())];
    return out;
  }
  std::string label() { return coin() ? "l" + std::to_string(pick(9)) : "\u00e9 " + text() + "x"; }
  std::vector<std::string> labels() {
    std::vector<std::string> out;
    for (size_t i = pick(3); i > 0; --i) out.push_back("g" + std::to_string(pick(9)) + " .");
    return out;
  }
  int64_t duration_ms() {
    const int64_t units[] = {1, 1000, 60'000, 3'600'000, 86'400'000, 604'800'000, 31'536'000'000};
    return static_cast<int64_t>(1 + pick(290)) * units[pick(std::size(units))];
  }

  ExprPtr scalar(int depth) {
    if (depth > 0 && coin()) return make(Paren{scalar(depth - 1)});
    if (coin()) {
      return make(
          NumberLiteral{.value = static_cast<double>(duration_ms()) / 1000, .is_duration = true});
    }
    const double values[] = {0,
                             1,
                             0.1,
                             -2.5,
                             1e300,
                             5e-324,
                             123456789012345678.0,
                             1e21,
                             1e-7,
                             -0.0,
                             1.0 / 3,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
    return make(NumberLiteral{.value = values[pick(std::size(values))]});
  }

  TimeShift shift() {
    TimeShift out;
    out.at = static_cast<TimeShift::At>(pick(4));
    if (out.at == TimeShift::At::kTime) {
      out.at_ms = std::uniform_int_distribution<int64_t>(-1e15, 1e15)(random_);
    }
    if (coin()) out.offset_ms = coin() ? duration_ms() : -duration_ms();
    return out;
  }
  VectorSelector selector() {
    VectorSelector out;
    out.name = name();
    out.matchers.push_back(model::equal_matcher("__name__", out.name));
    if (coin()) {
      out.name.clear();
      out.matchers[0] = model::equal_matcher("__name__", "utf-8 " + text());
    }
    for (size_t i = pick(3); i > 0; --i) {
      const auto kind = static_cast<model::Matcher::Kind>(pick(4));
      const bool pattern = kind >= model::Matcher::Kind::kRegex;
      out.matchers.push_back(make_matcher(label(), kind, pattern ? "a.*|b?c" : text()).value());
    }
    out.shift = shift();
    return out;
  }
  ExprPtr matrix(int depth) {
    if (coin()) {
      return make(MatrixSelector{.selector = selector(), .range_ms = duration_ms()});
    }
    ExprPtr inner = vector(depth - 1);
    Subquery out{.expr = operand(std::move(inner)), .range_ms = duration_ms(), .shift = shift()};
    if (coin()) out.step_ms = duration_ms();
    return make(std::move(out));
  }

  ExprPtr call(int depth) {
    Call out;
    std::vector<ExprPtr>& args = out.args;
    switch (pick(4)) {
      case 0:
        out.function = find_function("rate");
        args.push_back(matrix(depth));
        break;
      case 1:
        out.function = find_function("clamp");
        args.push_back(vector(depth - 1));
        args.push_back(scalar(depth - 1));
        args.push_back(scalar(depth - 1));
        break;
      case 2:
        out.function = find_function("label_join");
        args.push_back(vector(depth - 1));
        for (size_t i = 2 + pick(3); i > 0; --i) args.push_back(make(StringLiteral{text()}));
        break;
      default: out.function = find_function("hour"); break;
    }
    return make(std::move(out));
  }
  ExprPtr aggregate(int depth) {
    Aggregate out;
    out.op = static_cast<AggregateOp>(pick(12));
    out.without = coin();
    out.grouping = labels();
    if (out.op >= AggregateOp::kTopk) out.param = scalar(depth - 1);
    if (out.op == AggregateOp::kCountValues) out.param = make(StringLiteral{text()});
    out.expr = vector(depth - 1);
    return make(std::move(out));
  }
  ExprPtr binary(ExprPtr lhs, ExprPtr rhs) {
    using Cardinality = VectorMatching::Cardinality;
    Binary out{.lhs = operand(std::move(lhs)), .rhs = operand(std::move(rhs))};
    const bool vectors = out.rhs->type() == ValueType::kVector;
    out.op = static_cast<BinaryOp>(pick(vectors ? 16 : 13));
    out.return_bool = is_comparison(out.op) && coin();
    if (!vectors) return make(std::move(out));
    VectorMatching& matching = out.matching.emplace();
    matching.on = coin();
    matching.labels = labels();
    if (is_set_operator(out.op)) {
      matching.cardinality = Cardinality::kManyToMany;
    } else if (coin()) {
      matching.cardinality = coin() ? Cardinality::kManyToOne : Cardinality::kOneToMany;
      if (coin()) matching.include = {"included", "included too"};
    }
    return make(std::move(out));
  }

  std::mt19937_64 random_;
};

TEST(ParserProperty, APrintedTreeReadsBackAsTheSameTree) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const ExprPtr expr = TreeMaker(seed).vector(5);
    const std::string text = print(*expr);
    if (text.size() > kMaxQueryLength) continue;
    const Result<ExprPtr> again = parse(text);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status().message() << "\n" << text;
    ASSERT_EQ(tree_text(**again), tree_text(*expr)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(print(**again), text) << "seed " << seed;
  }
}

TEST(ParserProperty, ATreePrintedPrettyReadsBackAsTheSameTree) {
  size_t broken = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const ExprPtr expr = TreeMaker(seed).vector(5);
    const std::string text = print_pretty(*expr);
    if (text.size() > kMaxQueryLength) continue;
    broken += text != print(*expr) ? 1 : 0;
    const Result<ExprPtr> again = parse(text);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status().message() << "\n" << text;
    ASSERT_EQ(tree_text(**again), tree_text(*expr)) << "seed " << seed << "\n" << text;
  }
  EXPECT_GT(broken, 100u);
}

// Chains of operators without any parentheses, where only precedence decides.
TEST(ParserProperty, BindingSurvivesPrinting) {
  const std::vector<std::string> operators = {"+",  "-", "*",  "/",  "%",  "^",   "atan2",
                                              "==", "<", ">=", "!=", "or", "and", "unless"};
  std::mt19937_64 random(7);
  const auto pick = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    std::string query = "a";
    for (size_t n = pick(12); n > 0; --n) {
      query += " " + operators[pick(operators.size())] + " ";
      for (size_t signs = pick(3); signs > 0; --signs) query += pick(2) == 0 ? "-" : "+";
      query += pick(3) == 0 ? "c offset 5m" : "b";
    }
    const Result<ExprPtr> expr = parse(query);
    ASSERT_TRUE(expr.ok()) << query << ": " << expr.status().message();
    const Result<ExprPtr> again = parse(print(**expr));
    ASSERT_TRUE(again.ok()) << query;
    ASSERT_EQ(tree_text(**again), tree_text(**expr)) << query;
  }
}

}  // namespace
}  // namespace gpusight::promql
