// Finding and opening the driver's management library. Nothing here calls into it: loading it wakes
// no GPU.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catalog/message.h"
#include "collect/nvml/nvml_api.h"
#include "collect/source.h"
#include "platform/dynamic_library.h"

namespace gpusight::collect::nvml {

inline constexpr const char* kLibraryName = "libnvidia-ml.so.1";

// An open library. Unloaded when destroyed: no pointer out of `api` may be used afterwards.
struct NvmlLibrary {
  NvmlApi api;
  std::string path;
  bool simulated = false;
  std::optional<platform::DynamicLibrary> handle;
};

// Why something cannot be: a message for users with what fills it.
struct Problem {
  catalog::MessageId message = catalog::MessageId::kNone;
  std::vector<std::string> arguments;
  bool operator==(const Problem&) const = default;
};

using Loaded = std::variant<std::shared_ptr<NvmlLibrary>, Problem>;

// A library named by hand is the only one looked at. Otherwise: the loader's cache (only when the
// root is this machine's), then the places where drivers put it, below the root. Never the name
// without a version: that is the development link, or the CUDA toolkit's stub.
Loaded load_library(const SourceOptions& options);

// Where a library without a name may lie, for looking whether one has appeared.
std::vector<std::string> known_places(const platform::RootFs& root);

}  // namespace gpusight::collect::nvml
