#include "collect/nvml/counter_rate.h"

#include <utility>

namespace gpusight::collect::nvml {

Reading CounterRate::update(const Reading& count, MonoTime now) {
  if (!count.ok()) {
    last_.reset();
    return count;
  }
  const auto before = std::exchange(last_, Point{count.number, now});
  if (!before || count.number < before->count || now <= before->at) return {Return::kNotReady, 0};
  window_ = now - before->at;
  return {Return::kSuccess, (count.number - before->count) / seconds(window_)};
}

}  // namespace gpusight::collect::nvml
