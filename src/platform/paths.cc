#include "platform/paths.h"

#include <unistd.h>

#include <string_view>

namespace gpusight::platform {
namespace {

constexpr std::string_view kSocketName = "/gpusight.sock";
constexpr std::string_view kConfigName = "/gpusight.toml";
constexpr std::string_view kMachineRun = "/run/gpusight";
constexpr std::string_view kMachineState = "/var/lib/gpusight";
constexpr std::string_view kMachineConfig = "/etc/gpusight";

// The first absolute path of a variable that may hold several by colons; empty if there is none.
std::string folder(const Environment& environment, std::string_view name) {
  const auto at = environment.find(name);
  if (at == environment.end()) return {};
  std::string text = at->second.substr(0, at->second.find(':'));
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text.starts_with('/') ? text : std::string();
}

std::string below(const std::string& folder, std::string_view rest) {
  return folder.empty() ? std::string() : folder + std::string(rest);
}

// $NAME/gpusight, else ~/FALLBACK/gpusight.
std::string user_folder(const Environment& environment, std::string_view name,
                        std::string_view fallback) {
  std::string named = below(folder(environment, name), "/gpusight");
  if (!named.empty() || fallback.empty()) return named;
  return below(folder(environment, "HOME"), std::string(fallback) + "/gpusight");
}

// `service` if systemd gave one, else the machine's for root, else the user's.
std::string choose(const std::string& service, bool is_root, std::string_view machine,
                   const std::string& user) {
  if (!service.empty()) return service;
  return is_root ? std::string(machine) : user;
}

}  // namespace

Environment process_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Paths default_paths(const Environment& environment, uint32_t uid) {
  const bool is_root = uid == 0;
  Paths paths;
  paths.state_dir = choose(folder(environment, "STATE_DIRECTORY"), is_root, kMachineState,
                           user_folder(environment, "XDG_STATE_HOME", "/.local/state"));
  if (!paths.state_dir.empty()) paths.state_dirs.push_back(paths.state_dir);
  if (paths.state_dir != kMachineState) paths.state_dirs.emplace_back(kMachineState);
  // Without a runtime folder the state folder is the next place that is ours alone; a shared one
  // such as /tmp would let others put a socket there before us.
  const std::string own_run = user_folder(environment, "XDG_RUNTIME_DIR", "");
  const std::string run = choose(folder(environment, "RUNTIME_DIRECTORY"), is_root, kMachineRun,
                                 own_run.empty() ? paths.state_dir : own_run);
  paths.socket = below(run, kSocketName);
  if (!paths.socket.empty()) paths.daemon_sockets.push_back(paths.socket);
  const std::string machine = std::string(kMachineRun) + std::string(kSocketName);
  if (paths.socket != machine) paths.daemon_sockets.push_back(machine);

  const std::string own_config =
      choose(folder(environment, "CONFIGURATION_DIRECTORY"), is_root, kMachineConfig,
             user_folder(environment, "XDG_CONFIG_HOME", "/.config"));
  if (!own_config.empty()) paths.config_files.push_back(own_config + std::string(kConfigName));
  if (own_config != kMachineConfig) {
    paths.config_files.push_back(std::string(kMachineConfig) + std::string(kConfigName));
  }
  return paths;
}

}  // namespace gpusight::platform
