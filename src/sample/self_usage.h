// What gpusight itself costs, from its own /proc entry. Not thread-safe.
#pragma once

#include "sample/board.h"

namespace gpusight::sample {

// Processor time from getrusage; resident memory from /proc/self/statm (the real one: we are not
// part of a fixture tree). `known` is false when the kernel does not tell.
Board::SelfReadings read_self_usage();

}  // namespace gpusight::sample
