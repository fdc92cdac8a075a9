// Days of history for figures, as columns of whole multiples of the catalogue's resolution, made in
// seconds instead of recorded in a day.
//
// simulated_day: the simulated machine's scenario `h100-training`, read as the NVML source reads it
// (means, lowest and highest over the driver's rings, power from the energy counter). Its noise:
// power at an instant ±1.5 W times (0.3 + activity), power averaged ±0.6 W, both uniform;
// utilisation in whole percents of a sixth of a second; ticks wake late by 0.1 ms on average and
// one in a hundred by up to 3 ms, and a GPU is read 0.1 to 0.6 ms after that, so that no two
// minutes are alike.
//
// noisy_day: another machine, made of random walks (store/head_shape.h): no two seconds are alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpusight::bench {

struct DayColumn {
  std::string metric;
  std::string label;            // "" for none
  std::vector<int64_t> quanta;  // one for each time
};

// What one subject's metrics of one cadence read in a day.
struct DayGroup {
  std::string uuid;
  std::vector<int64_t> times_ms;
  std::vector<DayColumn> columns;  // by metric in the catalogue's order, then label
};

// Whether its numbers are not all the same.
bool varies(const DayColumn& column);

std::vector<DayGroup> simulated_day(int64_t seconds);
std::vector<DayGroup> noisy_day(int64_t seconds);

}  // namespace gpusight::bench
