// A video session on a device: someone encodes, or captures what a display shows. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpusight::model {

enum class SessionKind : uint8_t { kEncode, kCapture };
std::string_view session_kind_key(SessionKind kind);  // "encode", "capture"
std::optional<SessionKind> find_session_kind(std::string_view key);

enum class VideoCodec : uint8_t { kUnknown, kH264, kHevc, kAv1 };
std::string_view video_codec_key(VideoCodec codec);  // "unknown", "h264", "hevc", "av1"
std::optional<VideoCodec> find_video_codec(std::string_view key);

struct Session {
  SessionKind kind = SessionKind::kEncode;
  int64_t pid = 0;  // 0: not known, or not shown to this caller
  VideoCodec codec = VideoCodec::kUnknown;
  uint32_t width = 0;  // in pixels
  uint32_t height = 0;
  double frames_per_second = 0;  // averages over the driver's own time
  double latency_seconds = 0;

  bool operator==(const Session&) const = default;
};

}  // namespace gpusight::model
