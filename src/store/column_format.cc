#include "store/column_format.h"

#include <zlib.h>

namespace gpusight::store::column_format {

uint32_t checksum(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(::crc32_z(0, bytes.data(), bytes.size()));
}

}  // namespace gpusight::store::column_format
