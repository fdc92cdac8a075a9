// gzip, whole or put together from pieces that were compressed once and are sent to many.
//
// Pure functions and plain values, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gpusight::serve {

std::string gzip(std::string_view text);

// A stretch of a gzip stream that may stand anywhere in it: it refers to nothing before itself.
struct GzipPiece {
  std::string deflated;
  uint32_t crc = 0;
  uint64_t length = 0;  // of the text
};
GzipPiece compressed_piece(std::string_view text);
GzipPiece stored_piece(std::string_view text);  // at most 65535 bytes, as they are

// One gzip member of the pieces in their order.
std::string join_gzip(std::span<const GzipPiece* const> pieces);

}  // namespace gpusight::serve
