// Reads OpenMetrics text with times, line by line: what an import takes. Strict: the first fault
// ends it, and a text that does not end with "# EOF" was cut off.
//
// Taken are samples `name{label="value",…} number time`, an exemplar behind which is skipped; HELP,
// TYPE and UNIT are looked at for their form only. Names are those of OpenMetrics 1.0 (letters,
// digits, underscores, colons). A sample without a time is a fault: it would have to be given one.
//
// Not thread-safe; holds no more than one line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/queryable.h"

namespace gpusight::prometheus {

struct TimedSample {
  model::Labels labels;  // the name among them, under "__name__"
  double number = 0;     // NaN and infinities as written
  int64_t time_ms = 0;   // since 1970; written in seconds, rounded to a millisecond
};

class OpenMetricsReader {
 public:
  static constexpr size_t kMaxLine = 65'536;  // bytes
  static constexpr size_t kMaxLabels = 64;

  enum class Line : uint8_t { kSample, kComment, kEnd };
  // A line without its line feed. Fills `sample` for kSample. kCorrupt says what is wrong, without
  // the line's number.
  Result<Line> read(std::string_view line, TimedSample& sample);

  // Lines read so far: the number of the last one, from 1.
  uint64_t line_number() const { return line_number_; }
  // Ok once "# EOF" was read.
  Status check_end() const;

 private:
  uint64_t line_number_ = 0;
  bool has_ended_ = false;
};

}  // namespace gpusight::prometheus
