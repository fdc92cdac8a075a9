// What a one-shot command knows of the process it runs in, and what app does for it. Plain values;
// made once by main.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/snapshot.h"
#include "platform/paths.h"

namespace gpusight::cli {

struct Machine {
  platform::Environment environment;
  platform::Paths paths;
  uint32_t uid = 0;
  std::string executable;  // absolute path of this program
  std::string version;
};

// What a command needs of the layers that only app may wire together.
struct Hooks {
  // Reads every source once, itself. `settle` above zero: waits so long and reads again, so that
  // rates and everything else that needs two readings is there. Called again and again by --watch:
  // what is open may stay open between the calls. Fails only if nothing at all can be read; a
  // machine without a GPU is a Snapshot that says why.
  std::function<Result<model::SnapshotPtr>(Duration settle)> read_once;
  // Opens every source and tells how it went.
  std::function<std::vector<model::SourceStatus>()> probe_sources;
  // What Prometheus's API answers to a request for `target` over the recorded history in a file
  // that is there: the text of the body, whatever its status.
  std::function<std::string(const std::string& target, const std::string& history)> answer_query;
  bool has_page = false;  // the web page is built in
};

// Exit codes of every command.
inline constexpr int kExitOk = 0;
inline constexpr int kExitEnvironment = 1;  // no GPU, no driver, a check failed
inline constexpr int kExitUsage = 2;

}  // namespace gpusight::cli
