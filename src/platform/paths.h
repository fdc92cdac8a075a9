// Where gpusight's files lie, by who runs it. Pure: the process's environment and user come in as
// arguments. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpusight::platform {

using Environment = std::map<std::string, std::string, std::less<>>;

// The environment of this process, read once at start-up by main.
Environment process_environment();

struct Paths {
  // Where the daemon listens. Empty when there is no safe place for it: no home, no runtime folder.
  std::string socket;
  // Where the other commands look for a daemon, in this order: one's own, then the machine's.
  std::vector<std::string> daemon_sockets;
  // Empty when there is no place: nothing is remembered across restarts.
  std::string state_dir;
  // Where they look for recorded history, in the same order.
  std::vector<std::string> state_dirs;
  // The first that exists is the configuration.
  std::vector<std::string> config_files;
};

// As a service, systemd's RUNTIME_DIRECTORY, STATE_DIRECTORY and CONFIGURATION_DIRECTORY count;
// root has /run, /var/lib and /etc; everyone else the XDG folders. A variable that is no absolute
// path is passed over, as the XDG specification says.
Paths default_paths(const Environment& environment, uint32_t uid);

}  // namespace gpusight::platform
