// What Prometheus's HTTP API answers, over whatever is a model::Queryable. Knows no sockets.
//
// Prometheus 3's behaviour for parameters, errors and remarks. Recorded series tell of devices and
// of the host, never of a process, so that every caller is shown the same.
//
// Immutable; answer() may run on several threads at once and takes as long as the query does, at
// most limits.timeout unless the disk hangs. It ends soon after `stop` is asked for.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/queryable.h"
#include "promql/engine.h"
#include "serve/http_message.h"

namespace gpusight::serve {

enum class PromCall : uint8_t {
  // These read history …
  kQuery,
  kQueryRange,
  kSeries,
  kLabels,
  kLabelValues,
  // … and these do not.
  kMetadata,
  kFormatQuery,
  kQueryExemplars,
  kRules,
  kAlerts,
  kBuildInfo,
};

struct PromQuestion {
  PromCall call = PromCall::kQuery;
  std::string label;  // of kLabelValues
  Parameters parameters;
  MonoTime asked_at;  // from when on the timeout counts
};

class PromApi {
 public:
  // Pointers outlive the PromApi.
  struct Options {
    const model::Queryable* data = nullptr;  // nullptr: every question for series is refused
    const Clock* clock = nullptr;
    std::string version;
    // A query takes memory from a program that is to be small, and Prometheus allows 11,000 steps
    // beyond the first.
    promql::QueryLimits limits = {.max_steps = 11'001, .max_bytes = 128ULL << 20};
    size_t max_answer_bytes = 64ULL << 20;  // as text, uncompressed
  };
  explicit PromApi(Options options) : options_(std::move(options)) {}

  // The rest is answered at once.
  static bool reads_history(PromCall call) { return call <= PromCall::kLabelValues; }
  Response answer(const PromQuestion& question, const std::stop_token& stop) const;

 private:
  class Asked;
  const Options options_;
};

}  // namespace gpusight::serve
