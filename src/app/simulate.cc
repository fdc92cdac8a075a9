#include "app/simulate.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/sim.h"

namespace gpusight::app {
namespace {

constexpr std::string_view kDefaultScenario = "h100-training";

// Why there is nothing to see, or nullopt where there is: a GPU that sleeps or is lost is one, and
// a driver that hangs has one too.
std::optional<std::string> why_no_gpu(const Origin& origin, catalog::Lang lang) {
  auto probe = std::make_unique<Machine>(origin, nullptr);
  const model::SnapshotPtr snapshot = probe->read_once({});
  if (!probe->stop(std::chrono::seconds(3))) {
    // A thread is stuck in the driver and goes on using it.
    static_cast<void>(probe.release());
    return std::nullopt;
  }
  if (!snapshot->devices.empty()) return std::nullopt;
  for (const model::SourceStatus& source : snapshot->sources) {
    if (source.phase != model::SourcePhase::kAbsent) continue;
    return catalog::format_message(source.message, lang, source.arguments);
  }
  return catalog::format_message(catalog::MessageId::kReasonUnknown, lang);
}

}  // namespace

Result<std::optional<std::string>> choose_simulation(const config::Config& config,
                                                     const cli::Machine& machine, Origin& origin,
                                                     const std::function<void(std::string)>& say) {
  const std::string& when = config.get<config::OptionId::kSimulate>();
  if (when == "never") return std::optional<std::string>();
  std::string scenario = when;
  if (when == "if-no-gpu") {
    const auto why = why_no_gpu(origin, config.lang());
    if (!why) return std::optional<std::string>();
    say(catalog::format_message(catalog::MessageId::kNoDevices, config.lang(), std::vector{*why}));
    scenario = kDefaultScenario;
  }
  const std::string resolved = TRY(cli::resolve_scenario(machine, scenario, config.lang()));
  origin.nvml_path = TRY(cli::find_simulator(machine, config.lang()));
  TRY(cli::check_scenario(origin.nvml_path, resolved, config.lang()));
  ::setenv("GPUSIGHT_SIM_SCENARIO", resolved.c_str(), 1);
  return std::optional(scenario);
}

}  // namespace gpusight::app
