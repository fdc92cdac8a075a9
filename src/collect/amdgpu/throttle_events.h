// Events when a reason that holds a GPU's clocks down begins and ends. Used by the fast lane of one
// GPU; kept across generations, so that opening again begins nothing anew.
#pragma once

#include <map>
#include <string>

#include "collect/source.h"

namespace gpusight::collect::amdgpu {

class ThrottleEvents {
 public:
  // Compares what the report says of gpu_throttle_active now with what was. A reason that is not
  // told now is as it was.
  void update(const std::string& uuid, Report& report);

 private:
  std::map<std::string, MonoTime, std::less<>> began_;  // by reason
};

}  // namespace gpusight::collect::amdgpu
