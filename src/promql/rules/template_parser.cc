#include "promql/rules/template_parser.h"

#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "promql/go_text.h"
#include "promql/rules/template_functions.h"
#include "promql/rules/template_lexer.h"

namespace gpusight::promql {
namespace {

using Kind = TemplateToken::Kind;

constexpr int kMaxDepth = 50;  // of blocks and parentheses

// Numbers with a point or an exponent are float64, others int; '…' is the character's number.
std::optional<TemplateValue> number_of(std::string_view text) {
  if (text.starts_with('\'')) {
    const std::string_view inner = text.substr(1, text.size() - 2);
    if (inner.size() == 1 && inner[0] != '\\') return TemplateValue(int64_t{inner[0]});
    return std::nullopt;
  }
  std::string plain;
  for (const char c : text) {
    if (c != '_') plain += c;
  }
  const bool is_hex = plain.find_first_of("xX") != std::string::npos;
  if (plain.find_first_of(is_hex ? ".pP" : ".eE") != std::string::npos) {
    const std::optional<double> number = go_parse_number(plain);
    return number ? std::optional<TemplateValue>(*number) : std::nullopt;
  }
  const bool negative = plain[0] == '-';
  std::string_view digits = plain;
  if (negative || digits[0] == '+') digits.remove_prefix(1);
  int base = 10;
  if (is_hex) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = digits[1] == 'b' || digits[1] == 'B' ? 2 : 8;
    const bool has_letter = digits[1] == 'o' || digits[1] == 'O' || base == 2;
    digits.remove_prefix(has_letter ? 2 : 1);
  }
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return TemplateValue(negative ? -number : number);
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<TemplateToken> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<TemplateNodes> run() {
    Stop stop = Stop::kEnd;
    TemplateNodes nodes = TRY(list(stop, 0));
    if (stop == Stop::kElse) return fail("unexpected {{else}}");
    if (stop == Stop::kBlockEnd) return fail("unexpected {{end}}");
    return nodes;
  }

 private:
  enum class Stop : uint8_t { kEnd, kBlockEnd, kElse };

  const TemplateToken& peek() const { return tokens_[at_]; }
  const TemplateToken& take() { return tokens_[at_ < tokens_.size() - 1 ? at_++ : at_]; }
  bool at_sign(std::string_view sign) const {
    return peek().kind == Kind::kSign && peek().text == sign;
  }
  bool at_word(std::string_view word) const {
    return peek().kind == Kind::kWord && peek().text == word;
  }

  Status fail(std::string_view message) const {
    return {Code::kInvalidArgument, fmt::format("{}: {}", line_of(text_, peek().offset), message)};
  }
  Status unexpected(std::string_view where) const {
    const TemplateToken& token = peek();
    if (token.kind == Kind::kEnd) return fail("unexpected EOF");
    const std::string_view written = text_.substr(token.offset, token.end - token.offset);
    return fail(fmt::format("unexpected {} in {}", go_quoted(written), where));
  }

  // Nodes up to {{end}} or {{else}}, whose opening and word are taken.
  Result<TemplateNodes> list(Stop& stop, int depth) {
    if (depth > kMaxDepth) return fail("template is nested too deeply");
    TemplateNodes nodes;
    while (peek().kind != Kind::kEnd) {
      const TemplateToken& token = take();
      if (token.kind == Kind::kText) {
        nodes.push_back({token.text});
        continue;
      }
      if (at_word("end") || at_word("else")) {
        stop = take().text == "end" ? Stop::kBlockEnd : Stop::kElse;
        return nodes;
      }
      nodes.push_back(TRY(action(depth)));
    }
    stop = Stop::kEnd;
    return nodes;
  }

  Result<TemplateNode> action(int depth) {
    if (at_word("if")) return branch(Branch::Kind::kIf, depth);
    if (at_word("with")) return branch(Branch::Kind::kWith, depth);
    if (at_word("range")) return branch(Branch::Kind::kRange, depth);
    if (at_word("break") || at_word("continue")) return jump();
    for (const std::string_view word : {"define", "template", "block"}) {
      if (at_word(word)) {
        return fail(
            fmt::format("{{{{{}}}}}: templates inside of templates are not supported", word));
      }
    }
    Pipeline pipeline = TRY(this->pipeline("command", depth));
    TRY(close("command"));
    return TemplateNode{std::move(pipeline)};
  }

  Status close(std::string_view where) {
    if (peek().kind != Kind::kClose) return unexpected(where);
    take();
    return {};
  }

  Result<TemplateNode> jump() {
    const bool out = at_word("break");
    if (loops_ == 0) {
      return fail(fmt::format("{{{{{}}}}} outside {{{{range}}}}", out ? "break" : "continue"));
    }
    take();
    TRY(close(out ? "{{break}}" : "{{continue}}"));
    return TemplateNode{Jump{out}};
  }

  Result<TemplateNode> branch(Branch::Kind kind, int depth) {
    static constexpr std::string_view kNames[] = {"if", "with", "range"};
    auto made = std::make_unique<Branch>();
    made->kind = kind;
    made->offset = take().offset;
    const std::string_view name = kNames[static_cast<size_t>(kind)];
    const size_t known = variables_.size();
    made->pipeline = TRY(pipeline(name, depth));
    TRY(close(name));
    loops_ += kind == Branch::Kind::kRange ? 1 : 0;
    Stop stop = Stop::kEnd;
    made->then = TRY(list(stop, depth + 1));
    loops_ -= kind == Branch::Kind::kRange ? 1 : 0;
    if (stop == Stop::kElse) TRY(otherwise(*made, stop, depth));
    if (stop != Stop::kBlockEnd) return fail("unexpected EOF");
    if (!closed_by_else_if_) TRY(close("end"));
    closed_by_else_if_ = false;
    variables_.resize(known);
    return TemplateNode{std::move(made)};
  }

  // Behind "else": the end of the action, or another "if" or "with" whose end is this one's too.
  Status otherwise(Branch& branch, Stop& stop, int depth) {
    const bool chains = (branch.kind == Branch::Kind::kIf && at_word("if")) ||
                        (branch.kind == Branch::Kind::kWith && at_word("with"));
    if (chains) {
      if (depth >= kMaxDepth) return fail("template is nested too deeply");
      branch.otherwise.push_back(TRY(this->branch(branch.kind, depth + 1)));
      stop = Stop::kBlockEnd;
      closed_by_else_if_ = true;
      return {};
    }
    TRY(close("else"));
    branch.otherwise = TRY(list(stop, depth + 1));
    if (stop == Stop::kElse) return fail("expected end; found {{else}}");
    return {};
  }

  Result<Pipeline> pipeline(std::string_view where, int depth) {
    Pipeline made;
    TRY(declaration(made, where));
    do {
      made.commands.push_back(TRY(command(where, depth)));
    } while (next_command());
    if (made.target == Pipeline::Target::kDeclared) {
      for (const std::string& name : made.variables) variables_.push_back(name);
    }
    return made;
  }

  bool next_command() {
    if (!at_sign("|")) return false;
    take();
    return true;
  }

  // "$x :=", "$x =", and for range also "$i, $x :=".
  Status declaration(Pipeline& made, std::string_view where) {
    if (peek().kind != Kind::kVariable) return {};
    const auto is_sign = [&](size_t i, std::string_view sign) {
      return i < tokens_.size() && tokens_[i].kind == Kind::kSign && tokens_[i].text == sign;
    };
    size_t count = 0;
    if (is_sign(at_ + 1, ":=") || is_sign(at_ + 1, "=")) count = 1;
    const bool is_pair = is_sign(at_ + 1, ",") && at_ + 2 < tokens_.size() &&
                         tokens_[at_ + 2].kind == Kind::kVariable;
    if (is_pair && (is_sign(at_ + 3, ":=") || is_sign(at_ + 3, "="))) {
      if (where != "range") return fail(fmt::format("too many declarations in {}", where));
      count = 2;
    }
    if (count == 0) return {};
    for (size_t i = 0; i < count; ++i) {
      made.variables.push_back(take().text);
      if (i + 1 < count) take();
    }
    made.target = take().text == ":=" ? Pipeline::Target::kDeclared : Pipeline::Target::kAssigned;
    if (made.target == Pipeline::Target::kAssigned) {
      for (const std::string& name : made.variables) TRY(check_variable(name));
    }
    return {};
  }

  Status check_variable(const std::string& name) const {
    for (const std::string& known : variables_) {
      if (known == name) return {};
    }
    return fail(fmt::format("undefined variable {}", go_quoted(name)));
  }

  bool at_operand_end() const {
    return peek().kind == Kind::kClose || peek().kind == Kind::kEnd || at_sign("|") || at_sign(")");
  }

  Result<Command> command(std::string_view where, int depth) {
    Command made;
    while (!at_operand_end()) {
      const bool follows = !made.operands.empty() && !peek().after_blank && !at_sign("(");
      if (follows) return unexpected("operand");
      made.operands.push_back(TRY(operand(where, depth)));
    }
    if (made.operands.empty()) {
      if (peek().kind == Kind::kEnd) return fail("unclosed action");
      return fail(fmt::format("missing value for {}", where));
    }
    const Operand& head = made.operands.front();
    made.text = std::string(text_.substr(head.offset, tokens_[at_ - 1].end - head.offset));
    const bool is_constant = std::holds_alternative<TemplateValue>(head.base);
    if (made.operands.size() > 1 && !std::holds_alternative<Operand::Call>(head.base)) {
      return fail(is_constant ? fmt::format("can't give argument to non-function {}", head.text)
                              : fmt::format("{} is not a method but has arguments", head.text));
    }
    return made;
  }

  Result<Operand> operand(std::string_view where, int depth) {
    const size_t begin = peek().offset;
    Operand made = TRY(base(where, depth));
    made.offset = begin;
    while (peek().kind == Kind::kField && !peek().after_blank) {
      if (std::holds_alternative<TemplateValue>(made.base)) return unexpected("operand");
      made.fields.push_back(take().text);
    }
    made.text = std::string(text_.substr(begin, tokens_[at_ - 1].end - begin));
    return made;
  }

  Result<Operand> base(std::string_view where, int depth) {
    switch (peek().kind) {
      case Kind::kDot: take(); return Operand{.base = Operand::Dot{}};
      case Kind::kField: {
        Operand made{.base = Operand::Dot{}};
        made.fields.push_back(take().text);
        return made;
      }
      case Kind::kVariable: {
        TRY(check_variable(peek().text));
        return Operand{.base = Operand::Variable{take().text}};
      }
      case Kind::kString: return Operand{.base = TemplateValue(take().text)};
      case Kind::kNumber: {
        const std::optional<TemplateValue> number = number_of(peek().text);
        if (!number) return fail(fmt::format("bad number syntax: {}", go_quoted(peek().text)));
        take();
        return Operand{.base = *number};
      }
      case Kind::kWord: return word();
      default: break;
    }
    if (at_sign("(")) return parenthesized(depth);
    return unexpected(where == "command" ? "operand" : where);
  }

  Result<Operand> word() {
    const std::string& name = peek().text;
    if (name == "true" || name == "false") {
      return Operand{.base = TemplateValue(take().text == "true")};
    }
    if (name == "nil") {
      take();
      return Operand{.base = TemplateValue(Nil{})};
    }
    for (const std::string_view keyword : {"if", "with", "range", "else", "end", "define",
                                           "template", "block", "break", "continue"}) {
      if (name == keyword) return unexpected_keyword(keyword);
    }
    const TemplateFunction* function = find_template_function(name);
    if (function == nullptr) return fail(fmt::format("function {} not defined", go_quoted(name)));
    take();
    return Operand{.base = Operand::Call{function}};
  }

  Status unexpected_keyword(std::string_view keyword) const {
    return fail(fmt::format("unexpected <{}> in operand", keyword));
  }

  Result<Operand> parenthesized(int depth) {
    if (depth >= kMaxDepth) return fail("template is nested too deeply");
    take();
    auto inner = std::make_unique<Pipeline>(TRY(pipeline("parenthesized pipeline", depth + 1)));
    if (!at_sign(")"))
      return peek().kind == Kind::kClose ? fail("unclosed left paren") : unexpected("operand");
    take();
    return Operand{.base = std::move(inner)};
  }

  std::string_view text_;
  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
  int loops_ = 0;
  bool closed_by_else_if_ = false;
  std::vector<std::string> variables_ = {"$", "$labels", "$externalLabels", "$externalURL",
                                         "$value"};
};

}  // namespace

Result<TemplateNodes> parse_template(std::string_view text) {
  std::vector<TemplateToken> tokens = TRY(tokenize_template(text));
  return Parser(text, std::move(tokens)).run();
}

}  // namespace gpusight::promql
