#include "promql/rules/template_functions.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/parser.h"
#include "promql/replacement.h"
#include "promql/rules/template_format.h"
#include "promql/rules/template_text.h"

namespace gpusight::promql {
namespace {

using Args = std::span<const TemplateValue>;
using Context = const FunctionContext&;
using Value = Result<TemplateValue>;
using MapPtr = std::shared_ptr<const TextMap>;
using SamplePtr = std::shared_ptr<const TemplateSample>;
using SamplesPtr = std::shared_ptr<const TemplateSamples>;

Status fail(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

template <typename T>
Result<T> expect(const TemplateValue& value, std::string_view wanted) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  return fail(fmt::format("wrong type for value; expected {}; got {}", wanted, type_name(value)));
}
Result<std::string> text(const TemplateValue& value) {
  return expect<std::string>(value, "string");
}
Result<SamplePtr> sample(const TemplateValue& value) {
  return expect<SamplePtr>(value, "*template.sample");
}
Result<SamplesPtr> samples(const TemplateValue& value) {
  return expect<SamplesPtr>(value, "template.queryResult");
}

template <std::string (*make)(double)>
Value of_number(Context, Args args) {
  return TemplateValue(make(TRY(to_number(args[0]))));
}
template <std::string (*make)(std::string_view)>
Value of_text(Context, Args args) {
  return TemplateValue(make(TRY(text(args[0]))));
}

Value query(Context context, Args args) {
  const std::string expression = TRY(text(args[0]));
  if (!context.query) return fail("there is nothing to query here");
  TemplateSamples found;
  for (const Sample& element : TRY(context.query(expression))) {
    TextMap labels(element.labels.begin(), element.labels.end());
    found.push_back(std::make_shared<const TemplateSample>(
        TemplateSample{.labels = std::move(labels), .value = element.point.value}));
  }
  return TemplateValue(std::make_shared<const TemplateSamples>(std::move(found)));
}

Value first(Context, Args args) {
  const SamplesPtr all = TRY(samples(args[0]));
  if (all->empty()) return fail("first() called on vector with no elements");
  return TemplateValue(all->front());
}

std::string label_of(const TemplateSample& from, std::string_view name) {
  const auto found = from.labels.find(name);
  return found == from.labels.end() ? std::string() : found->second;
}

Value label(Context, Args args) {
  const std::string name = TRY(text(args[0]));
  return TemplateValue(label_of(*TRY(sample(args[1])), name));
}

Value value(Context, Args args) { return TemplateValue(TRY(sample(args[0]))->value); }

Value strvalue(Context, Args args) {
  return TemplateValue(label_of(*TRY(sample(args[0])), "__value__"));
}

Value sort_by_label(Context, Args args) {
  const std::string name = TRY(text(args[0]));
  TemplateSamples sorted = *TRY(samples(args[1]));
  std::ranges::stable_sort(sorted, {}, [&](const SamplePtr& s) { return label_of(*s, name); });
  return TemplateValue(std::make_shared<const TemplateSamples>(std::move(sorted)));
}

Result<std::unique_ptr<RE2>> compile(const std::string& pattern) {
  auto compiled = std::make_unique<RE2>(re2_pattern(pattern), regex_options());
  if (compiled->ok()) return compiled;
  return fail(fmt::format("error parsing regexp: {}", compiled->error()));
}

Value match(Context, Args args) {
  const auto pattern = TRY(compile(TRY(text(args[0]))));
  return TemplateValue(RE2::PartialMatch(TRY(text(args[1])), *pattern));
}

// Every match by the replacement; an empty match right behind another is none, as in Go.
Result<std::string> replace_all(const RE2& pattern, std::string_view replacement,
                                std::string_view in, size_t max_bytes) {
  const Replacement parts(replacement, pattern);
  std::vector<re2::StringPiece> groups(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
  const re2::StringPiece subject(in.data(), in.size());
  std::string out;
  size_t copied = 0;
  size_t from = 0;
  while (from <= in.size() && pattern.Match(subject, from, in.size(), RE2::UNANCHORED,
                                            groups.data(), static_cast<int>(groups.size()))) {
    const auto begin = static_cast<size_t>(groups[0].data() - in.data());
    const size_t end = begin + groups[0].size();
    out += in.substr(copied, begin - copied);
    if (out.size() + parts.size(groups) > max_bytes) {
      return Status(Code::kExhausted, fmt::format("text is longer than {} bytes", max_bytes));
    }
    if (end > copied || begin == 0) parts.append(out, groups);
    copied = end;
    size_t next = from + 1;  // always on by one character at least
    while (next < in.size() && (in[next] & 0xc0) == 0x80) ++next;
    from = end > from ? std::max(end, from + 1) : next;
  }
  return out.append(in.substr(std::min(copied, in.size())));
}

Value re_replace_all(Context context, Args args) {
  const auto pattern = TRY(compile(TRY(text(args[0]))));
  const std::string replacement = TRY(text(args[1]));
  return TemplateValue(
      TRY(replace_all(*pattern, replacement, TRY(text(args[2])), context.max_bytes)));
}

Value timestamp_text(Context, Args args) {
  return TemplateValue(TRY(humanize_timestamp(TRY(to_number(args[0])))));
}

Value duration_seconds(Context, Args args) {
  const std::string given = TRY(text(args[0]));
  const Result<int64_t> ms = parse_duration(given);
  if (!ms.ok()) return fail(fmt::format("not a valid duration string: {}", go_quoted(given)));
  return TemplateValue(static_cast<double>(*ms) / 1000);
}

std::string link(std::string_view expression, int tab) {
  return fmt::format("/graph?g0.expr={}&g0.tab={}", url_query_escape(expression), tab);
}
Value graph_link(Context, Args args) { return TemplateValue(link(TRY(text(args[0])), 0)); }
Value table_link(Context, Args args) { return TemplateValue(link(TRY(text(args[0])), 1)); }

Value external_url(Context context, Args) {
  return TemplateValue(std::string(context.external_url));
}

// The path of a URL: what stands between the host and "?" or "#".
Value path_prefix(Context context, Args) {
  std::string_view url = context.external_url;
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
    url.remove_prefix(std::min(url.find_first_of("/?#"), url.size()));
  }
  return TemplateValue(std::string(url.substr(0, url.find_first_of("?#"))));
}

Value now(Context context, Args) { return TemplateValue(context.now_seconds); }

Value negate(Context, Args args) { return TemplateValue(!is_true(args[0])); }

Value length(Context, Args args) {
  const auto as_value = [](size_t n) { return TemplateValue(static_cast<int64_t>(n)); };
  if (const auto* given = std::get_if<std::string>(&args[0])) return as_value(given->size());
  if (const auto* map = std::get_if<MapPtr>(&args[0])) return as_value((*map)->size());
  if (const auto* all = std::get_if<SamplesPtr>(&args[0])) return as_value((*all)->size());
  return fail(fmt::format("len of type {}", type_name(args[0])));
}

Value index_one(const TemplateValue& in, const TemplateValue& at) {
  if (const auto* map = std::get_if<MapPtr>(&in)) {
    const auto found = (*map)->find(TRY(text(at)));
    return TemplateValue(found == (*map)->end() ? std::string() : found->second);
  }
  const auto* position = std::get_if<int64_t>(&at);
  if (position == nullptr) {
    return fail(fmt::format("cannot index slice/array with type {}", type_name(at)));
  }
  const auto number = static_cast<size_t>(*position);
  if (const auto* all = std::get_if<SamplesPtr>(&in)) {
    if (number < (*all)->size()) return TemplateValue((**all)[number]);
  } else if (const auto* given = std::get_if<std::string>(&in)) {
    if (number < given->size()) {
      return TemplateValue(static_cast<int64_t>(static_cast<unsigned char>((*given)[number])));
    }
  } else {
    return fail(fmt::format("can't index item of type {}", type_name(in)));
  }
  return fail(fmt::format("error calling index: index out of range: {}", *position));
}

Value index_of(Context, Args args) {
  TemplateValue found = args[0];
  for (const TemplateValue& at : args.subspan(1)) found = TRY(index_one(found, at));
  return found;
}

Value slice(Context, Args args) {
  const std::string whole = TRY(text(args[0]));
  const int64_t from = args.size() > 1 ? TRY(expect<int64_t>(args[1], "int")) : 0;
  const int64_t to =
      args.size() > 2 ? TRY(expect<int64_t>(args[2], "int")) : static_cast<int64_t>(whole.size());
  if (from < 0 || to < from || to > static_cast<int64_t>(whole.size())) {
    return fail(fmt::format("index out of range: {}", from < 0 || to < from ? from : to));
  }
  return TemplateValue(whole.substr(static_cast<size_t>(from), static_cast<size_t>(to - from)));
}

Value print_all(Context, Args args) { return TemplateValue(go_print(args)); }
Value println_all(Context, Args args) { return TemplateValue(go_println(args)); }
Value printf_all(Context, Args args) {
  return TemplateValue(go_printf(TRY(text(args[0])), args.subspan(1)));
}
Value html_all(Context, Args args) { return TemplateValue(html_escape(go_print(args))); }
Value url_all(Context, Args args) { return TemplateValue(url_query_escape(go_print(args))); }
Value as_it_is(Context, Args args) { return TemplateValue(TRY(text(args[0]))); }

// Equal to one of the others.
Value equal(Context, Args args) {
  for (const TemplateValue& other : args.subspan(1)) {
    if (TRY(compare(args[0], other)) == Order::kEqual) return TemplateValue(true);
  }
  return TemplateValue(false);
}
Value not_equal(Context, Args args) {
  return TemplateValue(TRY(compare(args[0], args[1])) != Order::kEqual);
}

template <bool less, bool equal, bool greater>
Value ordered(Context, Args args) {
  const Order order = TRY(compare(args[0], args[1]));
  if (std::holds_alternative<bool>(args[0]) || std::holds_alternative<Nil>(args[0])) {
    return fail("invalid type for comparison");
  }
  return TemplateValue((less && order == Order::kLess) || (equal && order == Order::kEqual) ||
                       (greater && order == Order::kGreater));
}

// Sorted by name (bytes: capitals first).
constexpr std::array kFunctions = {
    TemplateFunction{"and", 1, -1, nullptr, TemplateFunction::Kind::kAnd},
    TemplateFunction{"eq", 2, -1, equal},
    TemplateFunction{"externalURL", 0, 0, external_url},
    TemplateFunction{"first", 1, 1, first},
    TemplateFunction{"ge", 2, 2, ordered<false, true, true>},
    TemplateFunction{"graphLink", 1, 1, graph_link},
    TemplateFunction{"gt", 2, 2, ordered<false, false, true>},
    TemplateFunction{"html", 1, -1, html_all},
    TemplateFunction{"humanize", 1, 1, of_number<humanize>},
    TemplateFunction{"humanize1024", 1, 1, of_number<humanize_1024>},
    TemplateFunction{"humanizeDuration", 1, 1, of_number<humanize_duration>},
    TemplateFunction{"humanizePercentage", 1, 1, of_number<humanize_percentage>},
    TemplateFunction{"humanizeTimestamp", 1, 1, timestamp_text},
    TemplateFunction{"index", 1, -1, index_of},
    TemplateFunction{"label", 2, 2, label},
    TemplateFunction{"le", 2, 2, ordered<true, true, false>},
    TemplateFunction{"len", 1, 1, length},
    TemplateFunction{"lt", 2, 2, ordered<true, false, false>},
    TemplateFunction{"match", 2, 2, match},
    TemplateFunction{"ne", 2, 2, not_equal},
    TemplateFunction{"not", 1, 1, negate},
    TemplateFunction{"now", 0, 0, now},
    TemplateFunction{"or", 1, -1, nullptr, TemplateFunction::Kind::kOr},
    TemplateFunction{"parseDuration", 1, 1, duration_seconds},
    TemplateFunction{"pathPrefix", 0, 0, path_prefix},
    TemplateFunction{"print", 0, -1, print_all},
    TemplateFunction{"printf", 1, -1, printf_all},
    TemplateFunction{"println", 0, -1, println_all},
    TemplateFunction{"query", 1, 1, query},
    TemplateFunction{"reReplaceAll", 3, 3, re_replace_all},
    TemplateFunction{"safeHtml", 1, 1, as_it_is},
    TemplateFunction{"slice", 1, 3, slice},
    TemplateFunction{"sortByLabel", 2, 2, sort_by_label},
    TemplateFunction{"stripDomain", 1, 1, of_text<strip_domain>},
    TemplateFunction{"stripPort", 1, 1, of_text<strip_port>},
    TemplateFunction{"strvalue", 1, 1, strvalue},
    TemplateFunction{"tableLink", 1, 1, table_link},
    TemplateFunction{"title", 1, 1, of_text<title_case>},
    TemplateFunction{"toLower", 1, 1, of_text<to_lower>},
    TemplateFunction{"toUpper", 1, 1, of_text<to_upper>},
    TemplateFunction{"urlQueryEscape", 1, 1, of_text<url_query_escape>},
    TemplateFunction{"urlquery", 1, -1, url_all},
    TemplateFunction{"value", 1, 1, value},
};

}  // namespace

const TemplateFunction* find_template_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(kFunctions, name, {}, &TemplateFunction::name);
  return found != kFunctions.end() && found->name == name ? &*found : nullptr;
}

}  // namespace gpusight::promql
