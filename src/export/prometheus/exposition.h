// Writing Prometheus's text formats: families, samples, labels, and what must be escaped in them.
//
// One writer makes one text, on one thread. It does not check that a family is written once, nor
// that a series is: that is up to whoever walks the readings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "catalog/metric.h"

namespace gpusight::prometheus {

enum class Format : uint8_t {
  kText004,         // text/plain; version=0.0.4
  kOpenMetrics100,  // application/openmetrics-text; version=1.0.0
};
std::string_view content_type(Format format);

// `name="value"`, the value made valid UTF-8 and escaped.
void append_label(std::string& out, std::string_view name, std::string_view value);

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  void reserve(size_t families, size_t samples);

  // Opens a family. `name` is that of its samples: OpenMetrics calls a counter's family without
  // "_total". A unit is named only where the name ends with it.
  void family(std::string_view name, catalog::Kind kind, catalog::Unit unit, std::string_view help);

  // Appends the name and gives the text, for labels in braces; end_sample() ends the line.
  std::string& begin_sample(std::string_view name) { return out_ += name; }
  void end_sample(double number);
  // With the moment it was taken, in milliseconds since 1970.
  void end_sample(double number, int64_t time_ms);

  // What was written since the last take(): a long text goes out in pieces.
  std::string take() { return std::exchange(out_, {}); }
  std::string finish();

 private:
  void comment(std::string_view keyword, std::string_view family);

  const Format format_;
  std::string out_;
};

}  // namespace gpusight::prometheus
