#include "cli/release.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cli/daemon.h"
#include "cli/format.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::Config;
using config::OptionId;

constexpr Duration kLookEvery = std::chrono::milliseconds(200);
constexpr int kMostLooks = 150;  // half a minute
constexpr int kForbidden = 403;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(all.empty() ? "" : ", ").append(text);
  return clean_text(all);
}

// Whether each source of devices has let go of them, or each has them back.
bool is_settled(const model::Snapshot& snapshot, bool is_release) {
  return std::ranges::all_of(snapshot.self, [&](const model::Sample& sample) {
    return sample.metric != catalog::MetricId::kSelfReleased ||
           sample.value.number().value_or(0) == (is_release ? 1 : 0);
  });
}

// What the sources say that are not as wanted.
std::string trouble_of(const model::Snapshot& snapshot, Lang lang) {
  std::vector<std::string> texts;
  for (const model::SourceStatus& source : snapshot.sources) {
    const auto* released =
        model::find_sample(snapshot.self, catalog::MetricId::kSelfReleased, source.name);
    if (released == nullptr || released->number() == 1) continue;
    texts.push_back(catalog::format_message(source.message, lang, source.arguments));
  }
  return joined(texts);
}

class Command {
 public:
  Command(const Config& config, const Machine& machine, const platform::HttpClient& client, Io& io)
      : config_(config), machine_(machine), client_(client), io_(io), lang_(config.lang()) {}

  int run() {
    const bool is_release = config_.is_default(OptionId::kEnd);
    if (!is_release && config_.get<OptionId::kEnd>() != "now") {
      const std::string shown = clean_text(config_.get<OptionId::kEnd>(), 64);
      return fail(say(MessageId::kUsageBadValue, lang_, std::string("--end"), shown,
                      say(MessageId::kWantNow, lang_)),
                  kExitUsage);
    }
    if (!is_release && !config_.is_default(OptionId::kFor)) {
      return fail(say(MessageId::kUsageExclusive, lang_, std::string("--end"),
                      config_.origin(OptionId::kFor).where),
                  kExitUsage);
    }
    const Duration how_long = is_release ? config_.get<OptionId::kFor>() : Duration::zero();
    if (const int code = tell(how_long); code != kExitOk) return code;
    return wait(is_release, SystemClock().wall() + how_long);
  }

 private:
  int fail(const std::string& text, int code) {
    io_.err("gpusight: " + text + "\n");
    return code;
  }

  int tell(Duration how_long) {
    const std::string& named = config_.get<OptionId::kSocket>();
    std::vector<std::string> sockets = machine_.paths.daemon_sockets;
    if (!named.empty()) sockets = {named};
    const auto told = tell_daemon(client_, sockets,
                                  "/api/gpusight/v1/release?for=" + number_text(seconds(how_long)));
    if (told.ok()) {
      socket_ = told->socket;
      if (told->response.status == 200) return kExitOk;
      if (told->response.status == kForbidden) {
        return fail(say(MessageId::kReleaseRefused, lang_, clean_text(socket_)), kExitEnvironment);
      }
      return fail(
          say(MessageId::kDaemonUnreachable, lang_, clean_text(socket_),
              std::to_string(told->response.status) + " " + clean_text(told->response.body, 200)),
          kExitEnvironment);
    }
    if (told.status().code() == Code::kNotFound) {
      return fail(say(MessageId::kReleaseNoDaemon, lang_, joined(sockets)), kExitEnvironment);
    }
    return fail(say(MessageId::kDaemonUnreachable, lang_, joined(sockets),
                    clean_text(told.status().message(), 1024)),
                kExitEnvironment);
  }

  int wait(bool is_release, WallTime until) {
    Result<model::Snapshot> snapshot = fetch_from_daemon(client_, socket_);
    // What the sources say is seen a tick later.
    int64_t looks = kMostLooks;
    if (snapshot.ok()) looks += 2 * snapshot->interval / kLookEvery;
    for (int64_t look = 1; look < looks && snapshot.ok(); ++look) {
      if (is_settled(*snapshot, is_release) || !io_.sleep(kLookEvery)) break;
      snapshot = fetch_from_daemon(client_, socket_);
    }
    if (!snapshot.ok()) {
      return fail(say(MessageId::kDaemonUnreachable, lang_, clean_text(socket_),
                      clean_text(snapshot.status().message(), 1024)),
                  kExitEnvironment);
    }
    if (is_release && !is_settled(*snapshot, is_release)) {
      return fail(say(MessageId::kReleaseHeld, lang_, trouble_of(*snapshot, lang_)),
                  kExitEnvironment);
    }
    io_.write(summary(*snapshot, is_release, until) + "\n");
    return kExitOk;
  }

  std::string summary(const model::Snapshot& snapshot, bool is_release, WallTime until) const {
    if (!is_release) return say(MessageId::kReleaseOver, lang_);
    const bool any = std::ranges::any_of(snapshot.devices, [](const model::DeviceSnapshot& device) {
      return device.state == model::DeviceState::kReleased;
    });
    return say(any ? MessageId::kReleaseDone : MessageId::kReleaseNothing, lang_,
               date_time_text(until, TimeZone::kLocal));
  }

  const Config& config_;
  const Machine& machine_;
  const platform::HttpClient& client_;
  Io& io_;
  const Lang lang_;
  std::string socket_;
};

}  // namespace

int run_release(const Config& config, const Machine& machine, const platform::HttpClient& client,
                Io& io) {
  return Command(config, machine, client, io).run();
}

}  // namespace gpusight::cli
