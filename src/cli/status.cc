#include "cli/status.h"

#include <optional>

#include "cli/format.h"
#include "cli/snapshot_supplier.h"
#include "cli/status_query.h"
#include "cli/status_table.h"
#include "model/snapshot_json.h"

namespace gpusight::cli {
namespace {

using config::Config;
using config::OptionId;

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
      case Form::kJson: return io_.write(document(snapshot) + "\n");
      case Form::kQueryJson: return io_.write(query_json(columns_, snapshot) + "\n");
      case Form::kCsv:
        return io_.write((first ? csv_header(columns_) : "") + csv_rows(columns_, snapshot));
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
      return io_.write(frame + "\x1b[J");
    }
    return io_.write((first ? "" : "\n") + text);
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
  SnapshotSupplier supplier(config, machine, hooks, client);
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
