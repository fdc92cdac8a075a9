#include "cli/status.h"

#include <optional>

#include "cli/daemon.h"
#include "cli/format.h"
#include "cli/status_query.h"
#include "cli/status_table.h"
#include "model/snapshot_json.h"

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

// Where snapshots come from; decided at the first, kept for all that follow.
class Supplier {
 public:
  Supplier(const Config& config, const Machine& machine, const Hooks& hooks,
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

  // A failure's text is for the user.
  Result<model::Snapshot> next() {
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

 private:
  const Config& config_;
  const Hooks& hooks_;
  const platform::HttpClient& client_;
  std::vector<std::string> sockets_;
  bool must_be_daemon_ = false;
  bool read_before_ = false;
};

enum class Form : uint8_t { kTable, kJson, kCsv, kQueryJson };

class Writer {
 public:
  Writer(const Config& config, const Machine& machine, Io& io, Form form,
         std::vector<QueryColumn> columns)
      : config_(config), machine_(machine), io_(io), form_(form), columns_(std::move(columns)) {}

  // False when nobody reads any more.
  bool write(const model::Snapshot& snapshot) {
    const bool first = std::exchange(first_, false);
    // The columns stay what they were at the first row, whatever comes and goes.
    if (first) columns_ = expand_labels(std::move(columns_), snapshot);
    switch (form_) {
      case Form::kTable: return write_table(snapshot, first);
      case Form::kJson: return io_.out(document(snapshot) + "\n");
      case Form::kQueryJson: return io_.out(query_json(columns_, snapshot) + "\n");
      case Form::kCsv:
        return io_.out((first ? csv_header(columns_) : "") + csv_rows(columns_, snapshot));
    }
    return true;
  }

 private:
  // What this process knows it may tell: the daemon left out what the user may not see, and what
  // was read here was read with the user's own rights.
  std::string document(const model::Snapshot& snapshot) const {
    const model::Caller caller{.identity = model::LocalUser{machine_.uid},
                               .role = model::Role::kAdmin};
    return model::snapshot_json(snapshot, caller, machine_.version);
  }

  bool write_table(const model::Snapshot& snapshot, bool first) {
    const ViewOptions options{
        .lang = config_.lang(),
        .width = io_.width,
        .colour = io_.colour && !config_.get<OptionId::kNoColor>(),
    };
    std::string text = status_text(snapshot, options);
    const bool watching = config_.get<OptionId::kWatch>() > Duration::zero();
    if (watching && io_.screen == Screen::kTerminal) {
      // Home, each line cleared behind its text, the rest of the screen below: no flicker.
      std::string frame = first ? "\x1b[2J\x1b[H" : "\x1b[H";
      for (const char c : text) frame += c == '\n' ? "\x1b[K\n" : std::string(1, c);
      return io_.out(frame + "\x1b[J");
    }
    return io_.out((first ? "" : "\n") + text);
  }

  const Config& config_;
  const Machine& machine_;
  Io& io_;
  Form form_;
  std::vector<QueryColumn> columns_;
  bool first_ = true;
};

Form form_of(const Config& config) {
  const bool has_query = !config.get<OptionId::kQuery>().empty();
  if (config.get<OptionId::kJson>()) return has_query ? Form::kQueryJson : Form::kJson;
  return has_query || config.get<OptionId::kCsv>() ? Form::kCsv : Form::kTable;
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

}  // namespace

int run_status(const Config& config, const Machine& machine, const Hooks& hooks,
               const platform::HttpClient& client, Io& io) {
  const Form form = form_of(config);
  const std::vector<std::string>& query = config.get<OptionId::kQuery>();
  std::vector<QueryColumn> columns = all_columns();
  if (!query.empty()) {
    Result<std::vector<QueryColumn>> parsed = parse_columns(query, config.lang());
    if (!parsed.ok()) {
      io.err("gpusight: " + parsed.status().message() + "\n");
      return kExitUsage;
    }
    columns = std::move(parsed).value();
  }
  Supplier supplier(config, machine, hooks, client);
  Writer writer(config, machine, io, form, std::move(columns));
  const Duration every = config.get<OptionId::kWatch>();
  for (;;) {
    Result<model::Snapshot> snapshot = supplier.next();
    if (!snapshot.ok()) {
      io.err("gpusight: " + snapshot.status().message() + "\n");
      return kExitEnvironment;
    }
    const bool read = writer.write(*snapshot);
    const bool has_devices = !snapshot->devices.empty();
    if (every == Duration::zero()) {
      if (!has_devices && form != Form::kTable) tell_no_devices(*snapshot, config.lang(), io);
      return has_devices ? kExitOk : kExitEnvironment;
    }
    if (!read || !io.sleep(every)) return kExitOk;
  }
}

}  // namespace gpusight::cli
