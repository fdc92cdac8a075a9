// Sessions of video on a device: how many there are with their averages, and each by itself.
#pragma once

#include "collect/nvml/conversation.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

void read_sessions(Conversation& talk, Gathering& found);

}  // namespace gpusight::collect::nvml
