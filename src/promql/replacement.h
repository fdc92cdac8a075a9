// What stands for a match: text in which $1, ${1}, $name and ${name} are the pattern's groups, as
// Go expands it and therefore label_replace() and the templates of rules do.
//
// A name is as long as it can be ($1x is ${1x}, not ${1}x); a group that does not exist or took no
// part is empty; $$ is a dollar sign, and so is a dollar sign that begins no name. Immutable; any
// thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

namespace gpusight::promql {

class Replacement {
 public:
  Replacement(std::string_view text, const RE2& pattern);
  // `groups` as RE2::Match fills them, the whole match first: pattern.NumberOfCapturingGroups()
  // + 1.
  void append(std::string& out, std::span<const re2::StringPiece> groups) const;
  // How many bytes append() adds. Texts grow by it from one replacement to the next.
  size_t size(std::span<const re2::StringPiece> groups) const;

 private:
  struct Part {
    std::string text;
    int group = -1;  // -1: the text itself
  };
  void add_text(std::string_view text);
  void add_group(std::string_view name, const RE2& pattern);
  std::vector<Part> parts_;
};

// Quiet, with bounded memory.
RE2::Options regex_options();
// A pattern of Go's for RE2, which writes groups with names (?P<name>…) only, not (?<name>…).
std::string re2_pattern(std::string_view go_pattern);

}  // namespace gpusight::promql
