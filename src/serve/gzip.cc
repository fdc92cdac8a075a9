#include "serve/gzip.h"

#include <zlib.h>

#include "base/check.h"

namespace gpusight::serve {
namespace {

// Level 1 costs a third of level 6 and leaves documents of numbers a sixth longer.
constexpr int kLevel = 1;
constexpr int kRawDeflate = -15;  // zlib's way to say: largest window, no header
constexpr int kMemory = 8;

uint32_t crc_of(std::string_view text) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

void append_little_endian(std::string& out, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 0xFF);
}

}  // namespace

GzipPiece compressed_piece(std::string_view text) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kRawDeflate, kMemory, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib does not start");
  GzipPiece piece{.crc = crc_of(text), .length = text.size()};
  // Room for the flush marker beside what deflateBound() knows of.
  piece.deflated.resize(deflateBound(&stream, text.size()) + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(piece.deflated.data());
  stream.avail_out = static_cast<uInt>(piece.deflated.size());
  // The flush ends the piece at a whole byte, so that another may follow.
  const int result = deflate(&stream, Z_SYNC_FLUSH);
  CHECK(result == Z_OK && stream.avail_in == 0, "zlib did not take the whole text");
  piece.deflated.resize(stream.total_out);
  deflateEnd(&stream);
  return piece;
}

GzipPiece stored_piece(std::string_view text) {
  CHECK(text.size() <= 0xFFFF, "a stored piece holds at most 65535 bytes");
  GzipPiece piece{.crc = crc_of(text), .length = text.size()};
  const auto length = static_cast<uint16_t>(text.size());
  piece.deflated += '\0';  // not the last block, stored
  for (const uint16_t part : {length, static_cast<uint16_t>(~length)}) {
    piece.deflated += static_cast<char>(part & 0xFF);
    piece.deflated += static_cast<char>(part >> 8);
  }
  piece.deflated += text;
  return piece;
}

std::string join_gzip(std::span<const GzipPiece* const> pieces) {
  constexpr std::string_view kHeader("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);  // no name, no time
  constexpr std::string_view kLastBlock("\x01\0\0\xff\xff", 5);            // stored, empty
  size_t size = kHeader.size() + kLastBlock.size() + 8;
  for (const GzipPiece* piece : pieces) size += piece->deflated.size();
  std::string out;
  out.reserve(size);
  out += kHeader;
  uint32_t crc = 0;
  uint64_t length = 0;
  for (const GzipPiece* piece : pieces) {
    out += piece->deflated;
    crc =
        static_cast<uint32_t>(crc32_combine(crc, piece->crc, static_cast<z_off_t>(piece->length)));
    length += piece->length;
  }
  out += kLastBlock;
  append_little_endian(out, crc);
  append_little_endian(out, static_cast<uint32_t>(length));
  return out;
}

std::string gzip(std::string_view text) {
  const GzipPiece piece = compressed_piece(text);
  const GzipPiece* const pieces[] = {&piece};
  return join_gzip(pieces);
}

}  // namespace gpusight::serve
