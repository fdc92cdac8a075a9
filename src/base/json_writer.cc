#include "base/json_writer.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace gpusight {
namespace {

bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F || c == '"' || c == '\\';
}

}  // namespace

void JsonWriter::separate() {
  if (need_comma_) out_ += ',';
  need_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  out_ += '{';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  out_ += '}';
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  out_ += '[';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  out_ += ']';
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_escaped(name);
  out_ += ':';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  append_escaped(text);
  return *this;
}

JsonWriter& JsonWriter::number(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::integer(int64_t number) {
  separate();
  out_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

void JsonWriter::append_escaped(std::string_view text) {
  if (!is_valid_utf8(text)) {
    const std::string cleaned = clean_text(text, text.size() * 3);
    append_escaped(cleaned);
    return;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  while (!text.empty()) {
    const auto plain = static_cast<size_t>(std::ranges::find_if(text, needs_escape) - text.begin());
    out_ += text.substr(0, plain);
    if (plain == text.size()) break;
    const char c = text[plain];
    out_ += '\\';
    if (c == '"' || c == '\\') {
      out_ += c;
    } else {
      out_ += "u00";
      out_ += kHex[static_cast<unsigned char>(c) >> 4];
      out_ += kHex[c & 15];
    }
    text.remove_prefix(plain + 1);
  }
  out_ += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  JsonWriter(out).string(text);
  return out;
}

}  // namespace gpusight
