// Readings that cannot be right beside the others, though each by itself could be: activity of 0
// on a device that is busy, a sensor that stands still to the last bit while what it must follow
// moves. They stay what the driver says; gpu_reading_suspect{reading} says that they are in doubt.
//
// Belongs to one lane.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

class ReadingWatch {
 public:
  static constexpr Duration kContradicts = std::chrono::seconds(10);
  static constexpr Duration kStandsStill = std::chrono::minutes(5);
  static constexpr size_t kSensors = 3;

  explicit ReadingWatch(std::string uuid) : uuid_(std::move(uuid)) {}

  // After all else of a poll was found.
  void look(Gathering& found);

 private:
  // Means of the witness over a minute, since the sensor last moved: a sensor that is slow to
  // follow may stand still over a load that comes and goes within seconds.
  struct Still {
    std::optional<double> number;
    MonoTime since{};
    MonoTime minute_began{};
    double sum = 0;
    uint64_t count = 0;
    std::optional<double> lowest;
    std::optional<double> highest;
    bool is_suspect = false;
  };

  void look_at_activity(Gathering& found);
  void look_at_sensor(Gathering& found, size_t sensor);
  void say(Gathering& found, std::string_view reading, bool is_suspect, bool& was_suspect);

  std::string uuid_;
  std::optional<MonoTime> contradicts_since_;
  bool is_activity_suspect_ = false;
  std::array<Still, kSensors> sensors_{};
};

}  // namespace gpusight::collect::nvml
