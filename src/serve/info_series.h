// Recorded series with gpu_info among them, so that `x * on(uuid) group_left(name) gpu_info` works
// on our own history as it does in a Prometheus that scrapes us.
//
// What a device is (its name, its driver, where it sits) is not recorded sample by sample: it is
// known of each device as it is now, or was when it was last seen. gpu_info{uuid,…} 1 therefore
// stands where gpu_up of that device does, with those facts for all times. A device that is known
// no more has none.
//
// Thread-safe, as every Queryable.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/device.h"
#include "model/queryable.h"

namespace gpusight::serve {

class InfoSeries final : public model::Queryable {
 public:
  // Called by any thread; of two devices with one uuid the first counts.
  using Devices = std::function<std::vector<model::Device>()>;
  // `recorded` outlives this and all its sets.
  InfoSeries(const model::Queryable* recorded, Devices devices)
      : recorded_(recorded), devices_(std::move(devices)) {}

  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override;
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher> matchers,
                                               int64_t start_ms, int64_t end_ms,
                                               std::stop_token stop) const override;
  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const model::Matcher> matchers,
                                                int64_t start_ms, int64_t end_ms,
                                                std::stop_token stop) const override;

 private:
  // Label sets of gpu_info that match, in order.
  std::vector<model::Labels> infos(std::span<const model::Matcher> matchers) const;
  // Those of devices that have samples in [start, end].
  Result<std::vector<model::Labels>> infos_in(std::span<const model::Matcher> matchers,
                                              int64_t start_ms, int64_t end_ms,
                                              std::stop_token stop) const;

  const model::Queryable* recorded_;
  Devices devices_;
};

}  // namespace gpusight::serve
