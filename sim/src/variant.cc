#include "library.h"

namespace gpusight::sim {

const char* variant_driver() { return GPUSIGHT_SIM_VARIANT_DRIVER; }

}  // namespace gpusight::sim
