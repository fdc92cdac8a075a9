#include "collect/nvml/diagnosis.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/text.h"
#include "collect/nvml/return_code.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MessageId;
using platform::PciDevice;

constexpr std::string_view kControlNode = "/dev/nvidiactl";

bool is_version(std::string_view word) {
  const auto parts = split(word, '.');
  if (parts.size() < 2 || parts.size() > 4) return false;
  return std::ranges::all_of(parts, [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  });
}

std::string unknown_if_empty(std::string text) { return text.empty() ? "?" : std::move(text); }

// "13.580.105.08", the library's own number in front of the driver's.
std::string library_version(const NvmlLibrary& library, CallMeter& call) {
  char text[kVersionBytes + 1] = {};
  if (call(library.api.nvml_version, text, kVersionBytes) == Return::kSuccess) {
    const std::string version = clean_text(text);
    const size_t dot = version.find('.');
    if (dot != std::string::npos && is_version(version.substr(dot + 1))) {
      return version.substr(dot + 1);
    }
  }
  return version_in_file_name(library.path);
}

std::string describe_node(const platform::RootFs& root, const std::string& path) {
  struct stat info {};
  if (::stat(root.real_path(path).c_str(), &info) != 0) return path;
  return fmt::format("{} (owner {}, group {}, mode {:04o})", path, info.st_uid, info.st_gid,
                     info.st_mode & 07777);
}

// /dev/nvidiactl and /dev/nvidia0, /dev/nvidia1, …
std::vector<std::string> device_nodes(const platform::RootFs& root) {
  std::vector<std::string> nodes{std::string(kControlNode)};
  for (const std::string& name : root.list("/dev")) {
    constexpr std::string_view kFront = "nvidia";
    if (name.starts_with(kFront) && parse_uint(name.substr(kFront.size()))) {
      nodes.push_back("/dev/" + name);
    }
  }
  return nodes;
}

}  // namespace

DeviceFiles real_device_files() {
  return {.open_error =
              [](const std::string& path) {
                const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
                return fd.valid() ? 0 : errno;
              },
          .may_open =
              [](const std::string& path) {
                return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
              }};
}

std::string kernel_driver_version(const platform::RootFs& root) {
  const auto text = root.read("/proc/driver/nvidia/version", 4096);
  if (!text.ok()) return {};
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 …"
  const std::string_view line = split(*text, '\n').front();
  for (const std::string_view word : split_words(line)) {
    if (is_version(word)) return std::string(word);
  }
  return {};
}

std::string version_in_file_name(std::string_view path) {
  constexpr std::string_view kMark = ".so.";
  const size_t at = path.rfind(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view version = path.substr(at + kMark.size());
  return is_version(version) ? std::string(version) : "";
}

// What the bus says when the driver does not answer; nullopt when its driver holds a device.
std::optional<Problem> Diagnosis::driver_problem() const {
  if (bus_.empty()) return Problem{MessageId::kNvmlNothingOnBus, {}};
  const bool driven =
      std::ranges::any_of(bus_, [](const PciDevice& device) { return device.driver == "nvidia"; });
  if (driven) return std::nullopt;
  const auto other =
      std::ranges::find_if(bus_, [](const PciDevice& device) { return !device.driver.empty(); });
  if (other != bus_.end()) {
    return Problem{MessageId::kNvmlOtherDriver, {other->address, other->driver}};
  }
  return Problem{MessageId::kNvmlNoDriver, {bus_.front().address}};
}

Problem Diagnosis::without_library(const Problem& found) const {
  // A library that is there and is no good is the thing to repair.
  if (found.message != MessageId::kNvmlLibraryMissing) return found;
  // Containers and the Windows subsystem hide the bus, not the driver.
  if (bus_.empty() && !kernel_driver_version(root_).empty()) return found;
  return driver_problem().value_or(found);
}

Problem Diagnosis::init_failed(Return code, const NvmlLibrary& library, CallMeter& call) const {
  Problem failed{MessageId::kNvmlInitFailed, {return_text(code)}};
  switch (code) {
    case Return::kVersionMismatch: return version_mismatch(library, call);
    // What the CUDA toolkit's stub answers: it is a library for linking, not for running.
    case Return::kLibraryNotFound:
    case Return::kFunctionNotFound: return {MessageId::kNvmlStubLibrary, {library.path}};
    case Return::kDriverNotLoaded: return driver_problem().value_or(failed);
    case Return::kGpuNotFound: return {MessageId::kNvmlNoDevices, {}};
    case Return::kNoPermission:
    case Return::kOperatingSystem: return no_permission();
    case Return::kUnknown: {
      // The node is ours by its mode and still refused: the container's device rules were
      // rewritten.
      const int error = files_.open_error(root_.real_path(kControlNode));
      if (error == EPERM) return {MessageId::kNvmlAccessRevoked, {}};
      return error == EACCES ? no_permission() : failed;
    }
    default: return failed;
  }
}

Problem Diagnosis::version_mismatch(const NvmlLibrary& library, CallMeter& call) const {
  return {MessageId::kNvmlVersionMismatch,
          {unknown_if_empty(kernel_driver_version(root_)),
           unknown_if_empty(library_version(library, call))}};
}

Problem Diagnosis::no_permission() const {
  std::string refused;
  for (const std::string& node : device_nodes(root_)) {
    if (!root_.exists(node) || files_.may_open(root_.real_path(node))) continue;
    if (!refused.empty()) refused += ", ";
    refused += describe_node(root_, node);
  }
  if (refused.empty()) refused = describe_node(root_, std::string(kControlNode));
  return {MessageId::kNvmlNoPermission, {refused}};
}

Problem Diagnosis::no_devices(Return code, unsigned refused) const {
  if (code != Return::kSuccess && code != Return::kGpuNotFound) {
    if (code == Return::kNoPermission || code == Return::kOperatingSystem) return no_permission();
    return {MessageId::kNvmlInitFailed, {return_text(code)}};
  }
  if (refused > 0) return no_permission();
  return {MessageId::kNvmlNoDevices, {}};
}

}  // namespace gpusight::collect::nvml
