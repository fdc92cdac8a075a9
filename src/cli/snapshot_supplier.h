// Where one-shot views get their snapshots: the daemon of this machine if there is one, else the
// devices themselves. Private to src/cli; not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"
#include "model/snapshot.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// Decides at the first snapshot, and keeps to it for all that follow. What it is made of outlives
// it.
class SnapshotSupplier {
 public:
  SnapshotSupplier(const config::Config& config, const Machine& machine, const Hooks& hooks,
                   const platform::HttpClient& client);

  // A failure's text is for the user.
  Result<model::Snapshot> next();

 private:
  const config::Config& config_;
  const Hooks& hooks_;
  const platform::HttpClient& client_;
  std::vector<std::string> sockets_;
  bool must_be_daemon_ = false;
  bool read_before_ = false;
};

// Says on standard error why there is no GPU: for programs, beside their empty list.
void tell_no_devices(const model::Snapshot& snapshot, catalog::Lang lang, Io& io);

}  // namespace gpusight::cli
