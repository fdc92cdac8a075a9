#include "promql/replacement.h"

#include <algorithm>
#include <charconv>

namespace gpusight::promql {
namespace {

// The number of a group: plain digits, no leading zero, of a size that Go takes for one.
int group_number(std::string_view name) {
  constexpr size_t kMaxDigits = 8;
  if (name.size() > kMaxDigits || (name.size() > 1 && name.front() == '0')) return -1;
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number >= 0 ? number : -1;
}

}  // namespace

Replacement::Replacement(std::string_view text, const RE2& pattern) {
  // "Letter" and "digit" are Unicode's, of which RE2 has the tables.
  static const RE2 kReference(R"((?s)(\C*?)\$(?:(\$)|\{([\pL\p{Nd}_]+)\}|([\pL\p{Nd}_]+)))");
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece before;
  re2::StringPiece dollar;
  re2::StringPiece braced;
  re2::StringPiece bare;
  while (RE2::Consume(&rest, kReference, &before, &dollar, &braced, &bare)) {
    add_text({before.data(), before.size()});
    if (!dollar.empty()) {
      add_text("$");
      continue;
    }
    const re2::StringPiece& name = braced.empty() ? bare : braced;
    add_group({name.data(), name.size()}, pattern);
  }
  add_text({rest.data(), rest.size()});
}

void Replacement::add_text(std::string_view text) {
  if (!text.empty()) parts_.push_back({.text = std::string(text)});
}

void Replacement::add_group(std::string_view name, const RE2& pattern) {
  int group = group_number(name);
  if (group < 0) {
    const auto& names = pattern.NamedCapturingGroups();
    const auto found = names.find(std::string(name));
    if (found == names.end()) return;
    group = found->second;
  }
  if (group <= pattern.NumberOfCapturingGroups()) parts_.push_back({.group = group});
}

void Replacement::append(std::string& out, std::span<const re2::StringPiece> groups) const {
  for (const Part& part : parts_) {
    if (part.group < 0) {
      out += part.text;
    } else {
      const re2::StringPiece& group = groups[static_cast<size_t>(part.group)];
      out.append(group.data(), group.size());
    }
  }
}

size_t Replacement::size(std::span<const re2::StringPiece> groups) const {
  size_t bytes = 0;
  for (const Part& part : parts_) {
    bytes += part.group < 0 ? part.text.size() : groups[static_cast<size_t>(part.group)].size();
  }
  return bytes;
}

std::string re2_pattern(std::string_view go_pattern) {
  std::string out;
  bool in_class = false;
  size_t class_begin = 0;  // behind its "[" or "[^"
  for (size_t i = 0; i < go_pattern.size(); ++i) {
    const std::string_view rest = go_pattern.substr(i);
    if (rest.starts_with("\\Q")) {  // as it is, up to \E
      const size_t end = std::min(rest.find("\\E"), rest.size());
      out += rest.substr(0, end);
      i += end - 1;
    } else if (rest[0] == '\\') {
      out += rest.substr(0, 2);
      ++i;
    } else if (!in_class && rest.starts_with("(?<")) {
      out += "(?P<";
      i += 2;
    } else {
      if (!in_class && rest[0] == '[') {
        in_class = true;
        class_begin = i + (rest.starts_with("[^") ? 2 : 1);
      } else if (in_class && rest[0] == ']' && i != class_begin) {  // there it belongs to the class
        in_class = false;
      }
      out += rest[0];
    }
  }
  return out;
}

RE2::Options regex_options() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace gpusight::promql
