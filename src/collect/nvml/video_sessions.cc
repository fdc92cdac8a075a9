#include "collect/nvml/video_sessions.h"

#include <algorithm>
#include <array>
#include <span>

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Session;
using model::SessionKind;
using model::VideoCodec;

constexpr double kMicro = 1e-6;
constexpr unsigned kMostSessions = 64;  // of a kind that are listed; more are counted

VideoCodec codec_of(uint32_t number) {
  constexpr VideoCodec kCodecs[] = {VideoCodec::kH264, VideoCodec::kHevc, VideoCodec::kAv1};
  return number < std::size(kCodecs) ? kCodecs[number] : VideoCodec::kUnknown;
}

template <typename Row>
Session session_of(SessionKind kind, const Row& row) {
  return {.kind = kind,
          .pid = row.pid,
          .width = row.width,
          .height = row.height,
          .frames_per_second = static_cast<double>(row.average_fps),
          .latency_seconds = static_cast<double>(row.average_latency_us) * kMicro};
}

// How many sessions there are, 0 where that is not known.
unsigned put_stats(Gathering& found, Return code, const FbcStats& stats,
                   const MetricId (&metrics)[3]) {
  found.put(metrics[0], {code, static_cast<double>(stats.sessions)});
  const unsigned sessions = code == Return::kSuccess ? stats.sessions : 0;
  // An average over nobody is no number.
  if (code == Return::kSuccess && sessions == 0) code = Return::kNoData;
  found.put(metrics[1], {code, static_cast<double>(stats.average_fps)});
  found.put(metrics[2], {code, static_cast<double>(stats.average_latency_us) * kMicro});
  return sessions;
}

void list_encoders(Conversation& talk, std::vector<Session>& sessions) {
  std::array<EncoderSession, kMostSessions> rows{};
  unsigned count = kMostSessions;
  const Return code =
      talk.ask(Query::kEncoderSessions, 0, talk.api().encoder_sessions, &count, rows.data());
  if (code != Return::kSuccess) return;
  for (const EncoderSession& row : std::span(rows).first(std::min(count, kMostSessions))) {
    sessions.push_back(session_of(SessionKind::kEncode, row));
    sessions.back().codec = codec_of(row.codec);
  }
}

void list_captures(Conversation& talk, std::vector<Session>& sessions) {
  std::array<FbcSession, kMostSessions> rows{};
  unsigned count = kMostSessions;
  const Return code =
      talk.ask(Query::kFbcSessions, 0, talk.api().fbc_sessions, &count, rows.data());
  if (code != Return::kSuccess) return;
  for (const FbcSession& row : std::span(rows).first(std::min(count, kMostSessions))) {
    sessions.push_back(session_of(SessionKind::kCapture, row));
  }
}

}  // namespace

void read_sessions(Conversation& talk, Gathering& found) {
  FbcStats encoding{};
  Return code = talk.ask(Query::kEncoderStats, 0, talk.api().encoder_stats, &encoding.sessions,
                         &encoding.average_fps, &encoding.average_latency_us);
  const unsigned encoders =
      put_stats(found, code, encoding,
                {MetricId::kGpuEncoderSessions, MetricId::kGpuEncoderFrameRate,
                 MetricId::kGpuEncoderLatency});
  FbcStats capturing{};
  code = talk.ask(Query::kFbcStats, 0, talk.api().fbc_stats, &capturing);
  const unsigned captures =
      put_stats(found, code, capturing,
                {MetricId::kGpuFbcSessions, MetricId::kGpuFbcFrameRate, MetricId::kGpuFbcLatency});
  // The lists cost calls only while there is something in them.
  std::vector<Session> sessions;
  if (encoders > 0) list_encoders(talk, sessions);
  if (captures > 0) list_captures(talk, sessions);
  talk.report().sessions(std::move(sessions));
}

}  // namespace gpusight::collect::nvml
