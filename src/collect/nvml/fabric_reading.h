// What a GPU says of its place in an NVSwitch fabric, in the newest form that its library takes.
#pragma once

#include <functional>
#include <string>

#include "collect/nvml/conversation.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

struct Fabric {
  Return code = Return::kNotSupported;  // also when the GPU says that it belongs to none
  uint8_t state = 0;
  uint32_t clique = 0;
  uint32_t health = 0;       // two bits a fault
  uint8_t summary = 0;       // 0: not told
  std::string cluster = {};  // its UUID, empty until registration is complete
};

// `ask` makes the call about the GPU that fills a structure of the form 3, 2 or 1.
using AskFabric = std::function<Return(unsigned form, void* info)>;
Fabric ask_fabric(const AskFabric& ask);

void read_fabric(Conversation& talk, Gathering& found);

}  // namespace gpusight::collect::nvml
