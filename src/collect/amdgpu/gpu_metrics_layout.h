// THE table of gpu_metrics layouts: where each field stands in each revision. Sizes and offsets are
// those of the kernel's structs with natural alignment, little endian.
#pragma once

#include <cstdint>
#include <span>

#include "collect/amdgpu/gpu_metrics.h"

namespace gpusight::collect::amdgpu {

struct FieldRow {
  MetricField field;
  uint8_t bytes;  // of one element: 1, 2, 4 or 8
  uint16_t offset;
  uint8_t count = 1;
  double scale = 1;  // to the field's SI unit
};

struct Layout {
  uint8_t format;
  uint8_t content;
  uint16_t size;
  uint16_t throttle_offset;  // of indep_throttle_status, u64; 0: none
  std::span<const FieldRow> rows;
  std::span<const FieldRow> more_rows = {};
};

// nullptr if the revision is not known.
const Layout* find_layout(uint8_t format, uint8_t content);
std::span<const Layout> layouts();

}  // namespace gpusight::collect::amdgpu
