#include "model/framework.h"

namespace gpusight::model {
namespace {

constexpr double kMostBytes = 281474976710656.0;  // of one process: 256 TiB
constexpr double kMostCount = 1e15;
constexpr double kMostSeconds = 1e9;

constexpr FrameworkNumber kNumbers[] = {
    {"allocated_bytes", &FrameworkUse::allocated_bytes, kMostBytes, true},
    {"reserved_bytes", &FrameworkUse::reserved_bytes, kMostBytes, true},
    {"largest_free_bytes", &FrameworkUse::largest_free_bytes, kMostBytes, true},
    {"limit_bytes", &FrameworkUse::limit_bytes, kMostBytes, true},
    {"out_of_memory_total", &FrameworkUse::out_of_memory_total, kMostCount, true},
    {"step_seconds", &FrameworkUse::step_seconds, kMostSeconds, false},
    {"tokens_per_second", &FrameworkUse::tokens_per_second, kMostCount, false},
    {"data_wait_ratio", &FrameworkUse::data_wait_ratio, 1, false},
};

}  // namespace

std::span<const FrameworkNumber> framework_numbers() { return kNumbers; }

}  // namespace gpusight::model
