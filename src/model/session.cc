#include "model/session.h"

#include <algorithm>
#include <iterator>

namespace gpusight::model {
namespace {

constexpr std::string_view kKinds[] = {"encode", "capture"};
constexpr std::string_view kCodecs[] = {"unknown", "h264", "hevc", "av1"};

template <typename E, size_t N>
std::optional<E> find_key(const std::string_view (&keys)[N], std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  if (at == std::end(keys)) return std::nullopt;
  return static_cast<E>(at - std::begin(keys));
}

}  // namespace

std::string_view session_kind_key(SessionKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view video_codec_key(VideoCodec codec) { return kCodecs[static_cast<size_t>(codec)]; }
std::optional<SessionKind> find_session_kind(std::string_view key) {
  return find_key<SessionKind>(kKinds, key);
}
std::optional<VideoCodec> find_video_codec(std::string_view key) {
  return find_key<VideoCodec>(kCodecs, key);
}

}  // namespace gpusight::model
