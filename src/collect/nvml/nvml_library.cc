#include "collect/nvml/nvml_library.h"

#include <fmt/format.h>

#include "base/log.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MessageId;
using platform::DynamicLibrary;

// Windows subsystem, NixOS, Debian, Jetson (old and new), Red Hat, the usual places for when the
// root is another machine's and its loader cannot be asked, and where containers and Kubernetes
// have a driver put: by its operator, and by Google's nodes.
constexpr std::string_view kFolders[] = {
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/usr/lib64/nvidia",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/local/nvidia/lib64",
    "/home/kubernetes/bin/nvidia/lib64",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
    "/run/nvidia/driver/usr/lib64",
};

bool is_stub_path(std::string_view path) { return path.find("/stubs/") != std::string_view::npos; }

Problem load_problem(const std::string& name, const Status& status) {
  switch (status.code()) {
    case Code::kNotFound: return {MessageId::kNvmlLibraryMissing, {name}};
    case Code::kUnsupported: return {MessageId::kNvmlWrongArchitecture, {name, status.message()}};
    default: return {MessageId::kNvmlLibraryUnusable, {name, status.message()}};
  }
}

Loaded open_library(const std::string& name) {
  if (is_stub_path(name)) return Problem{MessageId::kNvmlStubLibrary, {name}};
  Result<DynamicLibrary> opened = DynamicLibrary::open(name);
  if (!opened.ok()) return load_problem(name, opened.status());
  auto library = std::make_shared<NvmlLibrary>();
  library->handle = std::move(opened).value();
  library->path = library->handle->path();
  if (is_stub_path(library->path)) return Problem{MessageId::kNvmlStubLibrary, {library->path}};
  const DynamicLibrary& handle = *library->handle;
  library->api = resolve([&handle](const char* symbol) { return handle.symbol(symbol); });
  library->simulated = library->api.sim_scenario != nullptr;
  if (const char* missing = missing_essential(library->api)) {
    return Problem{MessageId::kNvmlLibraryUnusable,
                   {library->path, fmt::format("it has no {}", missing)}};
  }
  return library;
}

Loaded open_named(const std::string& path) {
  // Through links: what counts is the file that would be run.
  if (!platform::may_load(path)) return Problem{MessageId::kNvmlLibraryUntrusted, {path}};
  // With a slash, the loader opens this file and nothing of the same name elsewhere.
  return open_library(path.find('/') == std::string::npos ? "./" + path : path);
}

// Of several failures the one that says most: that a library is nowhere says least.
bool says_more(const Problem& candidate, const Problem& than) {
  return than.message == MessageId::kNvmlLibraryMissing &&
         candidate.message != MessageId::kNvmlLibraryMissing;
}

}  // namespace

std::vector<std::string> known_places(const platform::RootFs& root) {
  std::vector<std::string> places;
  for (const std::string_view folder : kFolders) {
    places.push_back(root.real_path(fmt::format("{}/{}", folder, kLibraryName)));
  }
  return places;
}

Loaded load_library(const SourceOptions& options) {
  if (!options.nvml_path.empty()) {
    if (!platform::runs_with_raised_rights()) return open_named(options.nvml_path);
    log::warning("{}: ignored, because gpusight runs with more rights than who started it",
                 options.nvml_path);
  }
  std::vector<std::string> names = known_places(options.root);
  if (options.root.is_real()) names.insert(names.begin(), kLibraryName);
  Problem worst{MessageId::kNvmlLibraryMissing, {"the loader's cache and the usual folders"}};
  for (const std::string& name : names) {
    Loaded loaded = open_library(name);
    const Problem* problem = std::get_if<Problem>(&loaded);
    if (problem == nullptr) return loaded;
    if (says_more(*problem, worst)) worst = *problem;
  }
  return worst;
}

}  // namespace gpusight::collect::nvml
