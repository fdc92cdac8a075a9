// A series of a test script from anyone: an error, or labels in order and points within bounds.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "promql/series_notation.h"

using namespace gpusight;
using namespace gpusight::promql;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<NotedSeries> series = parse_series({reinterpret_cast<const char*>(data), size});
  if (!series.ok()) return 0;
  CHECK(series->points.size() <= kMaxExpandedPoints, "more points than allowed");
  CHECK(std::ranges::is_sorted(series->labels), "labels out of order");
  const size_t marked = series->is_histogram.size();
  CHECK(marked == (series->has_histograms ? series->points.size() : 0), "marks without points");
  return 0;
}
