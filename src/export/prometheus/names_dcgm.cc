// dcgm-exporter: labels and their order, units and types as it prints them.
#include <algorithm>
#include <string>

#include "catalog/event_kind.h"
#include "export/prometheus/drop_in.h"
#include "export/prometheus/names.h"

namespace gpusight::prometheus {
namespace {

using catalog::Kind;
using catalog::MetricId;
using catalog::Unit;

// DCGM's units (dcgm_fields.h); the rest of ours are its own. Only DCGM_FI_DEV_ counts in percent.
constexpr ForeignUnit kUnits[] = {
    {Unit::kBytes, {1, 1 << 20}, "MiB"},
    {Unit::kHertz, {1, 1'000'000}, "MHz"},
    {Unit::kJoules, {1000, 1}, "mJ"},
    {Unit::kSeconds, {1'000'000'000, 1}, "nanoseconds"},
    {Unit::kRatio, {100, 1}, "percent (0-100)"},
};
constexpr std::string_view kActivity = "DCGM_FI_PROF_";

// dcgm-exporter's list has them as counters, though they say whether anything is pending.
constexpr std::string_view kCountersThere[] = {"DCGM_FI_DEV_RETIRED_PENDING",
                                               "DCGM_FI_DEV_PAGE_RETIRED_PENDING"};

// What the two sets call the machine: its releases before 4.6 spell it so.
constexpr std::string_view kHostLabel = "Hostname";
constexpr std::string_view kHostLabel46 = "hostname";

using Families = std::vector<ForeignFamily>;

Families in_their_units(Families families) {
  for (ForeignFamily& family : families) {
    // What boards call their power is an average, or on older ones the moment.
    if (family.metric == MetricId::kGpuPowerAverage) family.otherwise = MetricId::kGpuPowerInstant;
    if (std::ranges::find(kCountersThere, family.name) != std::end(kCountersThere)) {
      family.kind = Kind::kCounter;
    }
    if (family.name.starts_with(kActivity)) continue;
    const auto* unit =
        std::ranges::find(kUnits, catalog::metric(family.metric).unit, &ForeignUnit::ours);
    if (unit == std::end(kUnits)) continue;
    family.factor = unit->factor;
    family.in_words = unit->in_words;
  }
  return families;
}

const Families& old_families() {
  static const Families families = in_their_units(families_named(&catalog::Elsewhere::dcgm));
  return families;
}

const Families& new_families() {
  static const Families families = in_their_units(families_named(&catalog::Elsewhere::dcgm46));
  return families;
}

// A GPU, or a GPU instance of one.
struct Holder {
  std::string labels;  // without braces
  Parts parts;
};

std::string labels_of(const Board& board, const model::Device* instance, std::string_view host,
                      std::string_view host_label) {
  const model::Device& gpu = *board.gpu->device;
  std::string labels;
  const auto put = [&](std::string_view name, std::string_view value) {
    if (!labels.empty()) labels += ',';
    append_label(labels, name, value);
  };
  put("gpu", text_of(gpu.index));
  put("UUID", gpu.uuid);
  put("pci_bus_id", nvml_bus_id(gpu.pci));
  put("device", gpu.minor ? "nvidia" + text_of(gpu.minor) : "");
  put("modelName", gpu.name);
  if (instance != nullptr) {
    put("GPU_I_PROFILE", gpu_instance_profile(instance->profile));
    put("GPU_I_ID", text_of(instance->gpu_instance));
  }
  if (!host.empty()) put(host_label, host);
  if (!gpu.driver.empty()) put("DCGM_FI_DRIVER_VERSION", gpu.driver);
  return labels;
}

// What a board alone can say (power, temperature, energy) stands on the GPU, not again on each of
// its instances.
std::vector<Holder> holders_of(const model::Snapshot& snapshot, std::string_view host_label) {
  std::vector<Holder> holders;
  for (const Board& board : nvidia_boards(snapshot)) {
    holders.push_back({labels_of(board, nullptr, snapshot.host_name, host_label), {board.gpu}});
    for (const Parts& parts : board.instances) {
      const model::Device& instance = *parts.front()->device;
      holders.push_back({labels_of(board, &instance, snapshot.host_name, host_label), parts});
    }
  }
  return holders;
}

void append_xid(std::string& out, double number) {
  const auto xid = static_cast<uint64_t>(number);
  const std::string_view name = catalog::xid_name(xid);
  out += ',';
  append_label(out, "err_code", std::to_string(xid));
  out += ',';
  append_label(out, "err_msg", xid == 0 ? "No Error" : name.empty() ? "Unknown Error" : name);
}

void append_family(Exposition& out, const ForeignFamily& family,
                   const std::vector<Holder>& holders) {
  std::vector<ForeignReading> readings;
  bool has_heading = false;
  for (const Holder& holder : holders) {
    find_readings(holder.parts, family, readings);
    // DCGM's families know no label of a row: several series would be one and the same.
    if (readings.size() != 1) continue;
    if (!has_heading) out.family(family.name, family.kind, Unit::kNone, help_of(family));
    has_heading = true;
    std::string& text = out.begin_sample(family.name);
    text.append("{").append(holder.labels);
    if (family.metric == MetricId::kGpuXidLast) append_xid(text, readings[0].number);
    text += '}';
    out.end_sample(readings[0].number);
  }
}

bool is_old_name(std::string_view name) {
  return std::ranges::find(old_families(), name, &ForeignFamily::name) != old_families().end();
}

}  // namespace

void append_dcgm(Exposition& out, const model::Snapshot& snapshot, NameSets sets, bool outdated) {
  if (outdated) return;
  const bool has_old = sets.has(NameSet::kDcgm);
  if (has_old) {
    const std::vector<Holder> holders = holders_of(snapshot, kHostLabel);
    for (const ForeignFamily& family : old_families()) append_family(out, family, holders);
  }
  if (!sets.has(NameSet::kDcgm46)) return;
  const std::vector<Holder> holders = holders_of(snapshot, kHostLabel46);
  for (const ForeignFamily& family : new_families()) {
    if (!has_old || !is_old_name(family.name)) append_family(out, family, holders);
  }
}

}  // namespace gpusight::prometheus
