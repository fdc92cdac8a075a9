// Writes JSON straight into a string: for what is produced every second. Keys and strings are
// escaped, invalid UTF-8 replaced; NaN and infinities become null. Not thread-safe.
//
//   JsonWriter w(out);
//   w.begin_object().key("a").number(1).key("b").begin_array().string("x").end_array().end_object();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpusight {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& number(double number);
  JsonWriter& integer(int64_t number);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // already JSON

 private:
  void separate();
  void append_escaped(std::string_view text);

  std::string& out_;
  bool need_comma_ = false;
};

std::string json_string(std::string_view text);  // quoted and escaped

}  // namespace gpusight
