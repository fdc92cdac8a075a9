#include "app/serve.h"

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <thread>

#include "app/machine.h"
#include "app/simulate.h"
#include "app/version.h"
#include "base/log.h"
#include "serve/server.h"
#include "store/head_restore.h"
#include "store/history.h"
#include "store/inventory.h"
#include "store/state_lock.h"

namespace gpusight::app {
namespace {

using catalog::MessageId;
using config::OptionId;
using std::chrono::seconds;

// SIGTERM to exit takes at most 3 s, stuck drivers and disks or not; 100 ms of it are for the rest.
constexpr Duration kStopPatience = std::chrono::milliseconds(1900);
constexpr Duration kWritePatience = std::chrono::milliseconds(900);
constexpr Duration kQueryPatience = std::chrono::milliseconds(100);
constexpr Duration kRememberEvery = seconds(10);
// Of earlier runs, in the event log.
constexpr size_t kRememberedEvents = 5000;

std::string say(MessageId id, catalog::Lang lang, const std::vector<std::string>& arguments = {}) {
  return catalog::format_message(id, lang, arguments);
}

void print(std::FILE* to, const std::string& text) {
  std::fprintf(to, "%s\n", text.c_str());
  std::fflush(to);
}

// An unwritable place is no reason not to serve; another daemon in it is.
Result<std::optional<store::StateLock>> open_state(const std::string& directory,
                                                   catalog::Lang lang) {
  if (directory.empty()) return std::optional<store::StateLock>();
  Result<store::StateLock> lock = store::StateLock::take(directory);
  if (lock.ok()) return std::optional(std::move(*lock));
  if (lock.status().code() == Code::kUnavailable) {
    return Status(Code::kUnavailable, say(MessageId::kAlreadyRunning, lang, {directory}));
  }
  log::warning("{}", say(MessageId::kStateNotWritable, catalog::Lang::kEnglish,
                         {directory, lock.status().message()}));
  return std::optional<store::StateLock>();
}

// What is remembered of a library that was named by hand has files of its own, and what of another
// library or scenario others again: nobody is to miss its devices, and no chart is to mix them with
// the machine's. What their names have more: two digits of a hash, so that there are at most 256.
std::string by_hand(const Origin& origin, std::string_view scenario) {
  if (origin.nvml_path.empty()) return "";
  uint32_t hash = 2166136261U;  // FNV-1a
  for (const std::string_view part : {std::string_view(origin.nvml_path), scenario}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    hash *= 16777619U;  // a NUL between them
  }
  return fmt::format("-by-hand-{:02x}", hash >> 24);
}

// Signals are taken by sigtimedwait() on the main thread, so every thread starts with them blocked.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return signals;
}

void remember(store::Inventory& inventory, const model::Snapshot& snapshot) {
  inventory.note(snapshot);
  if (!inventory.needs_save()) return;
  if (const Status saved = inventory.save(); !saved.ok()) log::warning("{}", saved.message());
}

class Daemon {
 public:
  Daemon(const config::Config& config, const cli::Machine& host,
         const std::function<Result<config::Config>()>& reload)
      : config_(config), host_(host), reload_(reload), lang_(config.lang()) {}

  int run() {
    // Before signals are held back: looking at a driver that hangs can be broken off.
    Origin origin = origin_of(config_);
    const Status chosen = choose_machine(origin);
    const sigset_t signals = block_signals();
    const Status started = chosen.ok() ? start(origin) : chosen;
    if (!started.ok()) {
      print(stderr, "gpusight: " + started.message());
      return started.code() == Code::kInvalidArgument ? cli::kExitUsage : cli::kExitEnvironment;
    }
    announce();
    wait_for_end(signals);
    return finish();
  }

 private:
  Status choose_machine(Origin& origin) {
    scenario_ = TRY(choose_simulation(config_, host_, origin, [](const std::string& text) {
      print(stderr, "gpusight: " + text);
    }));
    return {};
  }

  Status start(const Origin& origin) {
    const std::string& directory = config_.get<OptionId::kStateDir>();
    state_ = TRY(open_state(directory.empty() ? host_.paths.state_dir : directory, lang_));
    const std::string suffix = by_hand(origin, scenario_.value_or(named_scenario()));
    if (state_) {
      inventory_.emplace(store::Inventory::load(
          fmt::format("{}/inventory{}.json", state_->directory(), suffix), SystemClock().wall()));
    }
    machine_ = std::make_unique<Machine>(origin, inventory_ ? &*inventory_ : nullptr);
    if (state_ && !config_.get<OptionId::kNoHistory>()) open_history("history" + suffix + ".db");
    server_ = TRY(serve::Server::create(TRY(server_options())));
    server_thread_ = std::thread([this] {
      ::pthread_setname_np(::pthread_self(), "server");
      server_->run();
    });
    event(catalog::EventKind::kDaemonStart, {std::string(kVersion)});
    machine_->start();
    return {};
  }

  void open_history(const std::string& file) {
    const auto mib = static_cast<uint64_t>(config_.get<OptionId::kHistorySize>());
    history_ =
        store::History::open({.lock = &*state_,
                              .file = file,
                              .commit_interval = config_.get<OptionId::kHistoryCommit>(),
                              .retention = {.keep = {config_.get<OptionId::kHistoryRaw>(),
                                                     config_.get<OptionId::kHistoryMinutes>(),
                                                     config_.get<OptionId::kHistoryHours>()},
                                            .max_bytes = mib << 20},
                              .head = &machine_->head()});
    if (auto events = history_->events({.limit = kRememberedEvents}); events.ok()) {
      machine_->events().restore(std::move(*events));
    }
    const Clock& clock = machine_->clock();
    const Status restored = store::restore_head(machine_->head(), *history_, clock.mono(),
                                                clock.wall(), store::Head::Options{}.span);
    // Recording has the same trouble and says more; charts begin empty.
    if (!restored.ok()) log::info("the last minutes are not shown: {}", restored.message());
    machine_->record(*history_);
  }

  // What a simulated library that was named by hand plays.
  std::string named_scenario() const {
    const auto at = host_.environment.find("GPUSIGHT_SIM_SCENARIO");
    return at == host_.environment.end() ? std::string() : at->second;
  }

  Result<serve::Server::Options> server_options() {
    std::vector<std::string> listen;
    for (const config::Address& address : config_.get<OptionId::kListen>()) {
      listen.push_back(config::address_text(address));
    }
    const std::string& socket = config_.get<OptionId::kSocket>();
    using Socket = serve::Server::Options::Socket;
    const prometheus::NameSets names =
        TRY(prometheus::parse_name_sets(config_.get<OptionId::kMetricsNames>()));
    return serve::Server::Options{
        .listen = listen,
        .socket_path = socket.empty() ? host_.paths.socket : socket,
        .socket = socket.empty() ? Socket::kIfPossible : Socket::kNeeded,
        .hub = &machine_->hub(),
        .head = &machine_->head(),
        .events = &machine_->events(),
        .clock = &machine_->clock(),
        .version = std::string(kVersion),
        .lang = lang_,
        .metrics_names = names,
        .history = history_ ? &history_->queryable() : nullptr,
        .release = [this](Duration how_long) { return machine_->release(how_long); },
        .tell = [this](const model::LocalUser& sender,
                       std::string_view lines) { return machine_->notes().take(sender, lines); }};
  }

  void announce() {
    if (scenario_) print(stdout, say(MessageId::kSimulatedServing, lang_, {*scenario_}));
    for (const std::string& address : server_->addresses()) {
      print(stdout, say(MessageId::kServeReady, lang_, {"http://" + address + "/"}));
    }
    if (!server_->socket_path().empty()) {
      print(stdout, say(MessageId::kServeSocket, lang_, {server_->socket_path()}));
    } else if (!server_->no_socket_because().empty()) {
      print(stderr,
            "gpusight: " + say(MessageId::kServeNoSocket, lang_, {server_->no_socket_because()}));
    }
  }

  void wait_for_end(const sigset_t& signals) {
    for (;;) {
      const timespec timeout{.tv_sec = std::chrono::duration_cast<seconds>(kRememberEvery).count()};
      const int signal = ::sigtimedwait(&signals, nullptr, &timeout);
      if (signal == SIGTERM || signal == SIGINT) return;
      if (signal == SIGHUP) reload();
      if (inventory_) remember(*inventory_, *machine_->hub().latest());
    }
  }

  // All or nothing: a faulty configuration changes nothing. What cannot change while running is
  // named.
  void reload() {
    const Result<config::Config> next = reload_();
    if (!next.ok()) {
      log::error("configuration not reloaded: {}", next.status().message());
      return;
    }
    log::set_level(next->log_level());
    for (size_t i = 0; i < config::kOptionCount; ++i) {
      const auto id = static_cast<OptionId>(i);
      if (id == OptionId::kLogLevel || next->value(id) == config_.value(id)) continue;
      log::warning("{} has changed: it counts from the next start", config::option(id).key);
    }
    log::info("configuration reloaded");
  }

  void event(catalog::EventKind kind, std::vector<std::string> arguments) {
    machine_->events().append({.wall = machine_->clock().wall(),
                               .mono = machine_->clock().mono(),
                               .kind = kind,
                               .severity = catalog::event_kind(kind).severity,
                               .arguments = std::move(arguments)});
  }

  int finish() {
    if (inventory_) remember(*inventory_, *machine_->hub().latest());
    event(catalog::EventKind::kDaemonStop, {});
    server_->stop();
    server_thread_.join();
    const bool is_idle = machine_->stop(kStopPatience);
    const bool is_written = history_ == nullptr || history_->close(kWritePatience);
    // They were asked to stop before all that.
    const bool is_answered = server_->wait_for_queries(kQueryPatience);
    if (is_idle && is_written && is_answered) return 0;
    // A thread is stuck and still uses what would now be destroyed.
    if (!is_idle) log::warning("a driver call has not come back; leaving without it");
    if (!is_written) log::warning("the disk does not take what was recorded last; leaving without");
    if (!is_answered) log::warning("the disk does not give what a query reads; leaving without");
    std::fflush(nullptr);
    ::_exit(0);
  }

  const config::Config& config_;
  const cli::Machine& host_;
  const std::function<Result<config::Config>()>& reload_;
  const catalog::Lang lang_;
  std::optional<std::string> scenario_;
  std::optional<store::StateLock> state_;  // none: nothing is remembered across restarts
  std::optional<store::Inventory> inventory_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<store::History> history_;
  std::unique_ptr<serve::Server> server_;
  std::thread server_thread_;
};

}  // namespace

int serve(const config::Config& config, const cli::Machine& machine,
          const std::function<Result<config::Config>()>& reload) {
  return Daemon(config, machine, reload).run();
}

}  // namespace gpusight::app
