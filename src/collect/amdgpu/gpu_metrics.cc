#include "collect/amdgpu/gpu_metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "collect/amdgpu/gpu_metrics_layout.h"

namespace gpusight::collect::amdgpu {
namespace {

constexpr size_t kHeaderBytes = 4;

uint64_t read_number(std::string_view bytes, size_t offset, size_t width) {
  uint64_t number = 0;
  for (size_t i = width; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return number;
}

// What the driver fills the table with before the firmware writes what it knows.
bool is_all_ones(uint64_t number, size_t width) {
  return number == (width == 8 ? UINT64_MAX : (uint64_t{1} << (8 * width)) - 1);
}

}  // namespace

void GpuMetrics::add(MetricField field, uint8_t index, double number) {
  Span& span = spans_[static_cast<size_t>(field)];
  if (size_ == kMostReadings) return;
  if (span.count == 0) span.begin = static_cast<uint8_t>(size_);
  readings_[size_++] = {index, number};
  ++span.count;
}

std::span<const GpuMetrics::Element> GpuMetrics::elements(MetricField field) const {
  const Span& span = spans_[static_cast<size_t>(field)];
  return std::span(readings_).subspan(span.begin, span.count);
}

std::optional<double> GpuMetrics::number(MetricField field) const {
  const auto all = elements(field);
  return all.empty() ? std::nullopt : std::optional(all.front().number);
}

std::optional<double> GpuMetrics::highest(MetricField field) const {
  const auto all = elements(field);
  if (all.empty()) return std::nullopt;
  return std::ranges::max(all, {}, &Element::number).number;
}

// A sentinel is recognised before it is scaled; by the header alone, never by the length.
Result<GpuMetrics> parse_gpu_metrics(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    return Status(Code::kCorrupt, fmt::format("gpu_metrics has {} bytes only", bytes.size()));
  }
  const auto size = static_cast<size_t>(read_number(bytes, 0, 2));
  GpuMetrics table;
  table.format = static_cast<uint8_t>(bytes[2]);
  table.content = static_cast<uint8_t>(bytes[3]);
  const Layout* layout = find_layout(table.format, table.content);
  if (layout == nullptr) {
    return Status(Code::kUnsupported,
                  fmt::format("gpu_metrics {}.{} is not known", table.format, table.content));
  }
  if (size < layout->size || bytes.size() < layout->size) {
    return Status(Code::kCorrupt,
                  fmt::format("gpu_metrics {}.{} has {} bytes, says {}, must have {}", table.format,
                              table.content, bytes.size(), size, layout->size));
  }
  for (const auto rows : {layout->rows, layout->more_rows}) {
    for (const FieldRow& row : rows) {
      for (uint8_t i = 0; i < row.count; ++i) {
        const uint64_t raw = read_number(bytes, row.offset + size_t{i} * row.bytes, row.bytes);
        const bool is_missing =
            is_all_ones(raw, row.bytes) || (row.field == MetricField::kEnergy && raw == 0);
        if (!is_missing) table.add(row.field, i, static_cast<double>(raw) * row.scale);
      }
    }
  }
  if (layout->throttle_offset != 0) {
    const uint64_t raw = read_number(bytes, layout->throttle_offset, 8);
    if (!is_all_ones(raw, 8)) table.throttle = raw;
  }
  return table;
}

}  // namespace gpusight::collect::amdgpu
