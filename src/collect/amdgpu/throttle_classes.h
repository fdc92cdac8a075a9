// What the bits of indep_throttle_status mean, in the words that gpu_throttle_active has for all
// vendors where they mean the same.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpusight::collect::amdgpu {

struct ThrottleClass {
  std::string_view reason;
  uint64_t bits;
};

constexpr uint64_t throttle_bits(unsigned first, unsigned last) {
  return (UINT64_MAX >> (63 - last)) & ~((uint64_t{1} << first) - 1);
}

// The order of the driver's header amdgpu_smu.h: power 0-15, current 16-31, temperature 32-55.
inline constexpr ThrottleClass kThrottleClasses[] = {
    {"sw_power_cap", throttle_bits(0, 15)},  // the package's power limits, slow and fast
    {"current", throttle_bits(16, 31)},      // sustained and peak current of a rail
    {"sw_thermal", throttle_bits(32, 43)},   // a sensor of chip, memory or regulators
    {"hw_thermal", throttle_bits(44, 55)},   // a pin: regulator hot, processor hot
    {"platform", throttle_bits(56, 56)},     // the platform's power manager
    {"reliability", throttle_bits(57, 57)},
};

}  // namespace gpusight::collect::amdgpu
