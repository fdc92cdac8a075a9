// Trees to text: print() and print_pretty().
//
// The text has the tokens of the tree in their order and no parentheses of its own: those that were
// written are nodes, and a tree that was parsed needs no others.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "promql/literal.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

constexpr size_t kMaxColumns = 100;
constexpr size_t kIndent = 2;
constexpr size_t kMaxIndent = 25;  // levels; what is deeper is no further to the right

std::string label_list(const std::vector<std::string>& labels) {
  std::string out = "(";
  for (const std::string& label : labels) {
    if (out.size() > 1) out += ", ";
    out += label_name_text(label);
  }
  return out + ")";
}

std::string matcher_text(const model::Matcher& matcher) {
  static constexpr std::string_view kOperators[] = {"=", "!=", "=~", "!~"};
  return label_name_text(matcher.name) +
         std::string(kOperators[static_cast<size_t>(matcher.kind)]) + quote_text(matcher.value);
}

std::string shift_text(const TimeShift& shift) {
  std::string out;
  if (shift.at == TimeShift::At::kStart) out += " @ start()";
  if (shift.at == TimeShift::At::kEnd) out += " @ end()";
  if (shift.at == TimeShift::At::kTime) {
    const int64_t size = std::abs(shift.at_ms);
    out += fmt::format(" @ {}{}.{:03}", shift.at_ms < 0 ? "-" : "", size / 1000, size % 1000);
  }
  if (shift.offset_ms != 0) out += " offset " + print_duration(shift.offset_ms);
  return out;
}

std::string range_text(const MatrixSelector& matrix) {
  return "[" + print_duration(matrix.range_ms) + "]";
}

std::string range_text(const Subquery& subquery) {
  return "[" + print_duration(subquery.range_ms) + ":" +
         (subquery.step_ms ? print_duration(*subquery.step_ms) : "") + "]" +
         shift_text(subquery.shift);
}

std::string number_text_of(const NumberLiteral& number) {
  if (!number.is_duration) return print_number(number.value);
  const std::string size = print_duration(std::llround(std::fabs(number.value) * 1000));
  return std::signbit(number.value) ? "-" + size : size;
}

std::string head_of(const Aggregate& aggregate) {
  std::string out(name_of(aggregate.op));
  if (aggregate.without || !aggregate.grouping.empty()) {
    out += aggregate.without ? " without " : " by ";
    out += label_list(aggregate.grouping) + " ";
  }
  return out;
}

// The operator with everything that stands between the two sides.
std::string operator_text(const Binary& binary) {
  using Cardinality = VectorMatching::Cardinality;
  std::string out(name_of(binary.op));
  if (binary.return_bool) out += " bool";
  if (!binary.matching) return out;
  const VectorMatching& matching = *binary.matching;
  const bool grouped = matching.cardinality == Cardinality::kManyToOne ||
                       matching.cardinality == Cardinality::kOneToMany;
  if (matching.on || grouped || !matching.labels.empty()) {
    out += (matching.on ? " on " : " ignoring ") + label_list(matching.labels);
  }
  if (grouped) {
    out += matching.cardinality == Cardinality::kManyToOne ? " group_left " : " group_right ";
    out += label_list(matching.include);
  }
  return out;
}

// Writes on one line, or breaks where a line would get too long. Whether a subtree fits is found by
// printing as much of it as a line takes.
class Printer {
 public:
  enum class Style : uint8_t { kOneLine, kPretty };
  // Stops somewhere behind `limit` bytes.
  explicit Printer(Style style, size_t limit = std::string::npos) : style_(style), limit_(limit) {}

  void write(const Expr& expr) {
    if (out_.size() > limit_) return;
    broken_ = style_ == Style::kPretty && !fits(expr);
    std::visit([&](const auto& node) { write(node); }, expr.node);
  }
  std::string take() { return std::move(out_); }

 private:
  bool fits(const Expr& expr) const {
    const size_t newline = out_.rfind('\n');
    const size_t column = out_.size() - (newline == std::string::npos ? 0 : newline + 1);
    if (column > kMaxColumns) return false;
    Printer line_printer(Style::kOneLine, kMaxColumns);
    line_printer.write(expr);
    return column + line_printer.out_.size() <= kMaxColumns;
  }
  void new_line() {
    out_ += '\n';
    out_.append(std::min(indent_, kMaxIndent) * kIndent, ' ');
  }

  void write(const NumberLiteral& number) { out_ += number_text_of(number); }
  void write(const StringLiteral& text) { out_ += quote_text(text.value); }
  void write(const VectorSelector& selector) { write_selector(selector, ""); }
  void write(const MatrixSelector& matrix) { write_selector(matrix.selector, range_text(matrix)); }
  void write(const Subquery& subquery) {
    write(*subquery.expr);
    out_ += range_text(subquery);
  }
  void write(const Unary& unary) {
    out_ += unary.negative ? '-' : '+';
    write(*unary.expr);
  }
  void write(const Paren& paren) { write_list("(", {paren.expr.get()}); }

  void write(const Call& call) {
    std::vector<const Expr*> args;
    for (const ExprPtr& arg : call.args) args.push_back(arg.get());
    write_list(std::string(call.function->name) + "(", args);
  }

  void write(const Aggregate& aggregate) {
    std::vector<const Expr*> args;
    if (aggregate.param) args.push_back(aggregate.param.get());
    args.push_back(aggregate.expr.get());
    write_list(head_of(aggregate) + "(", args);
  }

  void write(const Binary& binary) {
    const bool broken = broken_;
    write(*binary.lhs);
    if (broken) {
      new_line();
    } else {
      out_ += ' ';
    }
    out_ += operator_text(binary) + " ";
    write(*binary.rhs);
  }

  void write_selector(const VectorSelector& selector, const std::string& range) {
    const bool broken = broken_;
    out_ += selector.name;
    std::vector<std::string> texts;
    for (size_t i = selector.name.empty() ? 0 : 1; i < selector.matchers.size(); ++i) {
      texts.push_back(matcher_text(selector.matchers[i]));
    }
    if (!texts.empty()) {
      begin("{", broken);
      for (size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) separate(broken, ",");
        out_ += texts[i];
      }
      end("}", broken);
    }
    out_ += range + shift_text(selector.shift);
  }

  void write_list(const std::string& head, const std::vector<const Expr*>& items) {
    const bool broken = broken_ && !items.empty();
    begin(head, broken);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) separate(broken, broken ? "," : ", ");
      write(*items[i]);
    }
    end(")", broken);
  }

  void begin(const std::string& head, bool broken) {
    out_ += head;
    if (!broken) return;
    ++indent_;
    new_line();
  }
  void separate(bool broken, const std::string& separator) {
    out_ += separator;
    if (broken) new_line();
  }
  void end(const std::string& tail, bool broken) {
    if (broken) {
      --indent_;
      new_line();
    }
    out_ += tail;
  }

  Style style_;
  size_t limit_;
  std::string out_;
  size_t indent_ = 0;
  bool broken_ = false;  // the node being written does not fit onto its line
};

}  // namespace

std::string print(const Expr& expr) {
  Printer printer(Printer::Style::kOneLine);
  printer.write(expr);
  return printer.take();
}

std::string print_pretty(const Expr& expr) {
  Printer printer(Printer::Style::kPretty);
  printer.write(expr);
  return printer.take();
}

}  // namespace gpusight::promql
