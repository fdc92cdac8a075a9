// Any text as OpenMetrics with times, as an import reads it: each line is refused, or what it says
// comes back the same after writing it anew.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "export/prometheus/exposition.h"
#include "export/prometheus/openmetrics_reader.h"

namespace gpusight::prometheus {
namespace {

void write_and_read(const TimedSample& sample) {
  std::string name;
  std::string labels;
  for (const auto& [label, value] : sample.labels) {
    if (label == "__name__") {
      name = value;
      continue;
    }
    labels += labels.empty() ? '{' : ',';
    append_label(labels, label, value);
  }
  if (!labels.empty()) labels += '}';
  Exposition out(Format::kOpenMetrics100);
  out.begin_sample(name) += labels;
  out.end_sample(sample.number, sample.time_ms);
  std::string line = out.take();
  CHECK(line.ends_with('\n'), "a line ends");
  line.pop_back();
  OpenMetricsReader reader;
  TimedSample again;
  const auto read = reader.read(line, again);
  // Escapes may have made it longer than a line may be.
  if (line.size() > OpenMetricsReader::kMaxLine) return;
  CHECK(read.ok() && *read == OpenMetricsReader::Line::kSample, "what is written is read");
  CHECK(again.labels == sample.labels && again.time_ms == sample.time_ms, "labels and time");
  const bool both_nan = std::isnan(again.number) && std::isnan(sample.number);
  CHECK(both_nan || again.number == sample.number, "the number");
}

void read_text(std::string_view text) {
  OpenMetricsReader reader;
  TimedSample sample;
  for (const std::string_view line : split(text, '\n')) {
    const auto read = reader.read(line, sample);
    if (read.ok() && *read == OpenMetricsReader::Line::kSample) write_and_read(sample);
  }
  static_cast<void>(reader.check_end());
}

}  // namespace
}  // namespace gpusight::prometheus

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpusight::prometheus::read_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
