// A template's text in pieces: plain text, and the words between {{ and }}.
//
// Internal to promql/rules. Source: the "Text and spaces" and "Actions" sections of the
// documentation of Go's text/template. Pure; linear in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpusight::promql {

struct TemplateToken {
  enum class Kind : uint8_t {
    kText,      // outside of actions, trimmed as its neighbours ask for
    kOpen,      // {{
    kClose,     // }}
    kWord,      // identifiers and keywords
    kField,     // .name; `text` is the name
    kVariable,  // $ or $name
    kDot,       // .
    kNumber,    // also a character constant
    kString,    // `text` is the value
    kSign,      // | ( ) , := =
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  bool after_blank = false;
  size_t offset = 0;  // of its first byte
  size_t end = 0;
};

// Messages are "LINE: what is wrong" in Go's words. The last token is kEnd.
Result<std::vector<TemplateToken>> tokenize_template(std::string_view text);

// "LINE" of an offset, counted from 1.
size_t line_of(std::string_view text, size_t offset);

}  // namespace gpusight::promql
