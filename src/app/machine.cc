#include "app/machine.h"

#include <unistd.h>

#include "base/text.h"

namespace gpusight::app {
namespace {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "";
  return clean_text(name);
}

}  // namespace

Origin origin_of(const config::Config& config) {
  using enum config::OptionId;
  catalog::MetricSet disabled;
  for (const std::string& word : config.get<kDisabledMetrics>()) {
    // The configuration was refused where a word names nothing.
    if (const auto named = catalog::named_metrics(word)) disabled.add(*named);
  }
  return {.root = config.get<kRoot>(),
          .nvml_path = config.get<kNvml>(),
          .interval = config.get<kInterval>(),
          .disabled = disabled,
          .job_map_dir = config.get<kJobMapDir>()};
}

Machine::Machine(const Origin& origin, store::Inventory* inventory)
    : inventory_(inventory),
      processes_(platform::RootFs(origin.root), &clock_),
      jobs_(platform::RootFs(origin.root), origin.job_map_dir, &clock_),
      notes_(platform::RootFs(origin.root), &clock_),
      sampler_(sampler_options(origin)) {}

void Machine::record(store::History& history) {
  history_ = &history;
  events_.subscribe([&history](const model::Event& event) { history.append_event(event); });
}

sample::Sampler::Options Machine::sampler_options(const Origin& origin) {
  sample::Sampler::Options options{.clock = &clock_,
                                   .interval = origin.interval,
                                   .host_name = host_name(),
                                   .hub = &hub_,
                                   .events = &events_,
                                   .head = &head_};
  options.disabled = origin.disabled;
  model::SourceNumber number = 0;
  for (const collect::SourceRow& row : collect::source_rows()) {
    options.sources.push_back(row.create({.clock = &clock_,
                                          .root = platform::RootFs(origin.root),
                                          .nvml_path = origin.nvml_path,
                                          .interval = origin.interval,
                                          .disabled = origin.disabled,
                                          .pace = origin.pace,
                                          .number = ++number}));
  }
  options.complete = [this](model::Snapshot& snapshot) {
    std::vector<std::span<model::Process>> lists;
    for (model::DeviceSnapshot& device : snapshot.devices) lists.emplace_back(device.processes);
    processes_.resolve_lists(lists);
    jobs_.add_to(snapshot);
    notes_.add_to(snapshot);
  };
  options.after_tick = [this](const model::SnapshotPtr& snapshot) {
    if (history_ != nullptr) history_->append(snapshot);
  };
  if (inventory_ == nullptr) return options;
  for (const store::Known& known : inventory_->known()) {
    options.expected.push_back(known.device);
  }
  return options;
}

}  // namespace gpusight::app
