// Activity of a GPU's units from the hardware's own counters (GPM: Hopper and newer), as a mean
// between two readings. It takes no lock that profilers need.
//
// Belongs to one lane. The samples that the library allocates are freed with the reader, which must
// not outlive the library's session.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "collect/nvml/conversation.h"
#include "collect/nvml/driver_version.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

// Which of the counters: they are read at different pace.
enum class GpmPart : uint8_t {
  kUnits,  // of the whole: processors, memory, engines, all links together
  kLinks,  // of each NVLink
};

// What it sets of kUnits.
std::span<const catalog::MetricId> gpm_metrics();

class GpmReader {
 public:
  // Of a whole GPU, or of one of its GPU instances; the handle spoken to is the GPU's in both
  // cases.
  GpmReader(const NvmlApi& api, const std::optional<DriverVersion>& driver, GpmPart part,
            std::optional<uint32_t> gpu_instance = std::nullopt);
  ~GpmReader();
  GpmReader(const GpmReader&) = delete;
  GpmReader& operator=(const GpmReader&) = delete;

  void read(Conversation& gpu, Gathering& found);

 private:
  // The library refuses samples that lie closer together.
  static constexpr Duration kShortest = std::chrono::milliseconds(100);

  Return prepare(Conversation& gpu);
  Return take_sample(Conversation& gpu, GpmSample into);
  void put_metrics(Conversation& gpu, Gathering& found, Duration window);

  const NvmlApi& api_;
  std::optional<DriverVersion> driver_;
  GpmPart part_;
  std::optional<uint32_t> gpu_instance_;
  std::array<GpmSample, 2> samples_{};  // the earlier and the one to come
  std::optional<MonoTime> taken_at_;    // of the earlier
};

}  // namespace gpusight::collect::nvml
