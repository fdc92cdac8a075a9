#include "cli/snapshot_supplier.h"

#include "cli/daemon.h"
#include "cli/format.h"

namespace gpusight::cli {
namespace {

using catalog::MessageId;
using config::Config;
using config::OptionId;
using config::OriginKind;

bool named_by_hand(const Config& config, OptionId id) {
  const OriginKind kind = config.origin(id).kind;
  return kind == OriginKind::kFlag || kind == OriginKind::kEnvironment;
}

}  // namespace

SnapshotSupplier::SnapshotSupplier(const Config& config, const Machine& machine, const Hooks& hooks,
                                   const platform::HttpClient& client)
    : config_(config), hooks_(hooks), client_(client) {
  const std::string& socket = config.get<OptionId::kSocket>();
  must_be_daemon_ = !config.is_default(OptionId::kSocket) &&
                    config.origin(OptionId::kSocket).kind == OriginKind::kFlag;
  const bool own_reading =
      named_by_hand(config, OptionId::kNvml) || named_by_hand(config, OptionId::kRoot);
  if (!socket.empty()) {
    sockets_ = {socket};
  } else {
    sockets_ = machine.paths.daemon_sockets;
  }
  if (own_reading && !must_be_daemon_) sockets_.clear();
}

Result<model::Snapshot> SnapshotSupplier::next() {
  for (const std::string& socket : sockets_) {
    Result<model::Snapshot> snapshot = fetch_from_daemon(client_, socket);
    if (snapshot.ok()) {
      // From now on this daemon is the one: its loss is told, not papered over.
      sockets_ = {socket};
      must_be_daemon_ = true;
      return snapshot;
    }
    if (snapshot.status().code() == Code::kNotFound && !must_be_daemon_) continue;
    return Status(snapshot.status().code(), say(MessageId::kDaemonUnreachable, config_.lang(),
                                                socket, snapshot.status().message()));
  }
  sockets_.clear();
  const Duration settle = read_before_ ? Duration::zero() : config_.get<OptionId::kSettle>();
  read_before_ = true;
  Result<model::SnapshotPtr> snapshot = hooks_.read_once(settle);
  if (!snapshot.ok()) return snapshot.status();
  return **snapshot;
}

// The table says itself why there is no GPU; programs get it beside their empty list.
void tell_no_devices(const model::Snapshot& snapshot, catalog::Lang lang, Io& io) {
  for (const model::SourceStatus& source : snapshot.sources) {
    if (source.name == "host") continue;
    io.err("gpusight: " +
           say(MessageId::kNoDevices, lang,
               catalog::format_message(source.message, lang, source.arguments)) +
           "\n");
  }
}

}  // namespace gpusight::cli
