// Sessions of the video encoder and of frame-buffer capture.
#include <algorithm>
#include <vector>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// The sessions of one kind that a GPU has now.
std::vector<const VideoSession*> sessions_of(const Call& call, bool capture) {
  std::vector<const VideoSession*> result;
  const auto here = static_cast<unsigned>(call.gpu());
  for (const VideoSession& one : call.scenario().sessions) {
    const bool mine =
        one.gpus.empty() || std::find(one.gpus.begin(), one.gpus.end(), here) != one.gpus.end();
    const bool now = call.t() >= one.from && call.t() < one.until;
    if (one.capture == capture && mine && now) result.push_back(&one);
  }
  return result;
}

struct Means {
  unsigned sessions = 0;
  unsigned frames = 0;  // a second, over all sessions
  unsigned latency_us = 0;
};

Means means_of(const std::vector<const VideoSession*>& sessions) {
  Means means{.sessions = static_cast<unsigned>(sessions.size())};
  if (sessions.empty()) return means;
  for (const VideoSession* one : sessions) {
    means.frames += one->frames;
    means.latency_us += one->latency_us;
  }
  means.frames /= means.sessions;
  means.latency_us /= means.sessions;
  return means;
}

// The size protocol of both lists, then a row for each session.
template <class Row, class Write>
nvmlReturn_t list_sessions(Fn fn, nvmlDevice_t device, bool capture, unsigned* count, Row* rows,
                           Write write) {
  return on_gpu(fn, device, count != nullptr, [&](Call& call) -> nvmlReturn_t {
    const std::vector<const VideoSession*> sessions = sessions_of(call, capture);
    const unsigned offered = *count;
    *count = static_cast<unsigned>(sessions.size());
    if (rows == nullptr) return NVML_SUCCESS;
    if (offered < sessions.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < sessions.size(); ++i) write(rows[i], *sessions[i], i + 1);
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetEncoderCapacity(nvmlDevice_t device, nvmlEncoderType_t type,
                                          unsigned int* capacity) {
  return on_gpu(Fn::nvmlDeviceGetEncoderCapacity, device,
                capacity != nullptr && type <= NVML_ENCODER_QUERY_AV1,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().encoders == 0) return NVML_ERROR_NOT_SUPPORTED;
                  const std::vector<const VideoSession*> sessions = sessions_of(call, false);
                  const auto busy = static_cast<unsigned>(sessions.size()) * 12;
                  call.put(capacity, busy >= 100 ? 0U : 100 - busy);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int* sessions,
                                       unsigned int* frames, unsigned int* latency) {
  return on_gpu(Fn::nvmlDeviceGetEncoderStats, device,
                sessions != nullptr && frames != nullptr && latency != nullptr, [&](Call& call) {
                  const Means means = means_of(sessions_of(call, false));
                  call.put(sessions, means.sessions, "sessionCount");
                  call.put(frames, means.frames, "averageFps");
                  call.put(latency, means.latency_us, "averageLatency");
                  return kSuccess;
                });
}

nvmlReturn_t nvmlDeviceGetEncoderSessions(nvmlDevice_t device, unsigned int* count,
                                          nvmlEncoderSessionInfo_t* rows) {
  return list_sessions(Fn::nvmlDeviceGetEncoderSessions, device, false, count, rows,
                       [](nvmlEncoderSessionInfo_t& row, const VideoSession& session, unsigned id) {
                         row = {.sessionId = id,
                                .pid = session.pid,
                                .vgpuInstance = 0,
                                .codecType = session.codec,
                                .hResolution = session.width,
                                .vResolution = session.height,
                                .averageFps = session.frames,
                                .averageLatency = session.latency_us};
                       });
}

nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t* stats) {
  return on_gpu(Fn::nvmlDeviceGetFBCStats, device, stats != nullptr, [&](Call& call) {
    const Means means = means_of(sessions_of(call, true));
    *stats = {.sessionsCount = means.sessions,
              .averageFPS = means.frames,
              .averageLatency = means.latency_us};
    return kSuccess;
  });
}

nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned int* count,
                                      nvmlFBCSessionInfo_t* rows) {
  return list_sessions(Fn::nvmlDeviceGetFBCSessions, device, true, count, rows,
                       [](nvmlFBCSessionInfo_t& row, const VideoSession& session, unsigned id) {
                         row = {.sessionId = id,
                                .pid = session.pid,
                                .vgpuInstance = 0,
                                .displayOrdinal = 0,
                                .sessionType = 1,  // to system memory
                                .sessionFlags = 0,
                                .hMaxResolution = 3840,
                                .vMaxResolution = 2160,
                                .hResolution = session.width,
                                .vResolution = session.height,
                                .averageFPS = session.frames,
                                .averageLatency = session.latency_us};
                       });
}
