#include "cli/who.h"

#include <algorithm>

#include "base/text.h"
#include "cli/format.h"
#include "cli/snapshot_supplier.h"
#include "cli/status_parts.h"
#include "cli/who_table.h"
#include "model/snapshot_json.h"

namespace gpusight::cli {
namespace {

using catalog::MessageId;
using config::Config;
using config::OptionId;

constexpr size_t kLeastOfUuid = 6;  // characters that may stand for the whole

bool is_named(const model::Snapshot& snapshot, const model::DeviceSnapshot& device,
              std::string_view word) {
  const model::Device& d = *device.device;
  return word == device_label(snapshot, device) || word == d.pci ||
         (word.size() >= kLeastOfUuid && d.uuid.starts_with(word));
}

// The devices of that name, with the instances that they are divided into.
std::vector<model::DeviceSnapshot> named(const model::Snapshot& snapshot, std::string_view word) {
  std::vector<model::DeviceSnapshot> found;
  std::ranges::copy_if(
      snapshot.devices, std::back_inserter(found), [&](const model::DeviceSnapshot& device) {
        return is_named(snapshot, device, word) ||
               std::ranges::any_of(snapshot.devices, [&](const model::DeviceSnapshot& parent) {
                 return parent.device->uuid == device.device->parent &&
                        is_named(snapshot, parent, word);
               });
      });
  return found;
}

std::string labels_of(const model::Snapshot& snapshot) {
  std::vector<std::string> labels;
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    labels.push_back(device_label(snapshot, device));
  }
  return label_ranges(labels);
}

}  // namespace

int run_who(const Config& config, const Machine& machine, const Hooks& hooks,
            const platform::HttpClient& client, Io& io) {
  Result<model::Snapshot> snapshot = SnapshotSupplier(config, machine, hooks, client).next();
  if (!snapshot.ok()) {
    io.err("gpusight: " + snapshot.status().message() + "\n");
    return kExitEnvironment;
  }
  if (snapshot->devices.empty()) {
    tell_no_devices(*snapshot, config.lang(), io);
    return kExitEnvironment;
  }
  if (!config.arguments().empty()) {
    const std::string word = clean_text(config.arguments()[0], 64);
    std::vector<model::DeviceSnapshot> wanted = named(*snapshot, word);
    if (wanted.empty()) {
      io.err("gpusight: " +
             say(MessageId::kWhoNoSuchGpu, config.lang(), word, labels_of(*snapshot)) + "\n");
      return kExitUsage;
    }
    snapshot->devices = std::move(wanted);
  }
  if (config.get<OptionId::kJson>()) {
    // The daemon left out what the user may not see; what was read here, was with their own rights.
    const model::Caller caller{.identity = model::LocalUser{.uid = machine.uid},
                               .role = model::Role::kAdmin};
    io.write(model::owners_json(*snapshot, caller, machine.version) + "\n");
    return kExitOk;
  }
  const ViewOptions options{.lang = config.lang(),
                            .width = io.width,
                            .colour = io.colour && !config.get<OptionId::kNoColor>()};
  io.write(who_text(*snapshot, options));
  return kExitOk;
}

}  // namespace gpusight::cli
