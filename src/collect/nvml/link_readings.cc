#include "collect/nvml/link_readings.h"

#include <algorithm>

#include "collect/nvml/field_tables.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using enum catalog::MetricId;

// Told apart from the batches of others about the same handle.
constexpr uint32_t kCountBatch = 2;
constexpr uint32_t kLinkBatch = 3;
constexpr uint32_t kSumBatch = 4;
constexpr uint32_t kC2cCountBatch = 5;
constexpr uint32_t kC2cBatch = 6;
constexpr uint32_t kFieldLinkCount = 91;
constexpr uint32_t kFieldC2cCount = 170;

// Those of ECC have a turn of their own: with them a poll of eighteen links had no room for more.
struct ErrorRow {
  LinkError error;
  MetricId metric;
};
constexpr ErrorRow kErrors[] = {
    {LinkError::kReplay, kGpuNvlinkReplays},
    {LinkError::kRecovery, kGpuNvlinkRecoveries},
    {LinkError::kCrcFlit, kGpuNvlinkCrcErrors},
    {LinkError::kCrcData, kGpuNvlinkCrcDataErrors},
};

// Whether anything that is told of a link of this kind is wanted.
bool is_any_wanted(std::initializer_list<std::vector<FieldRow>> tables,
                   const catalog::MetricSet& disabled) {
  return std::ranges::any_of(tables,
                             [&](const auto& rows) { return !wanted(rows, disabled).empty(); });
}

template <typename T>
Reading reading(Return code, T number) {
  return {code, static_cast<double>(number)};
}

}  // namespace

std::vector<MetricId> link_error_metrics() {
  std::vector<MetricId> metrics;
  for (const ErrorRow& row : kErrors) metrics.push_back(row.metric);
  return metrics;
}

LinkReadings::LinkReadings(const NvmlApi& api, const std::optional<DriverVersion>& driver,
                           const catalog::MetricSet& disabled)
    : driver_(driver),
      disabled_(disabled),
      count_(kCountBatch, {{.id = kFieldLinkCount, .metric = kGpuNvlinkState}}, driver),
      c2c_count_(kC2cCountBatch, {{.id = kFieldC2cCount, .metric = kGpuC2cState}}, driver),
      activity_(api, driver, GpmPart::kLinks) {
  const bool has_other_wants = !disabled.has_all(link_error_metrics()) ||
                               !disabled.has(kGpuNvlinkLinkReceiveMean) ||
                               !disabled.has(kGpuNvlinkLinkTransmitMean);
  is_nvlink_wanted_ =
      has_other_wants || is_any_wanted({link_fields(1), link_sum_fields(1)}, disabled);
  is_c2c_wanted_ = is_any_wanted({c2c_fields(1)}, disabled);
}

void LinkReadings::read_fields(Conversation& talk, Gathering& found) {
  if (!fields_ && is_nvlink_wanted_) find_links(talk, found);
  if (fields_) {
    fields_->read_into(talk, found);
    read_sums(talk, found);
  }
  if (is_c2c_wanted_) read_c2c(talk, found);
}

void LinkReadings::find_links(Conversation& talk, Gathering& found) {
  const Reading count = count_.read(talk).front();
  if (!count.ok()) return found.put(kGpuNvlinkState, count);
  versions_.resize(link_count(count));
  fields_.emplace(kLinkBatch, wanted(link_fields(links()), disabled_), driver_);
  sums_.emplace(kSumBatch, wanted(link_sum_fields(links()), disabled_), driver_);
}

// A part is no sum: one link that does not answer makes it unknown.
void LinkReadings::read_sums(Conversation& talk, Gathering& found) {
  const std::span<const Reading> readings = sums_->read(talk);
  const std::span<const FieldRow> rows = sums_->rows();
  for (size_t first = 0; first < rows.size(); first += links()) {
    Reading sum{Return::kSuccess, 0};
    for (const Reading& one : readings.subspan(first, links())) {
      if (!one.ok() && sum.ok()) sum.code = one.code;
      sum.number += one.number;
    }
    found.put(rows[first].metric, sum, rows[first].label);
  }
}

void LinkReadings::read_c2c(Conversation& talk, Gathering& found) {
  if (!c2c_) {
    const Reading count = c2c_count_.read(talk).front();
    if (!count.ok()) return found.put(kGpuC2cState, count);
    c2c_.emplace(kC2cBatch, wanted(c2c_fields(link_count(count)), disabled_), driver_);
  }
  c2c_->read_into(talk, found);
}

// Before 520 there are no fields of a link's state and version: a call each. The version is the
// hardware's, so it is asked for once: as many calls again would leave others no room.
void LinkReadings::read_states(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  for (unsigned link = 0; link < links(); ++link) {
    const std::string_view label = link_label(link);
    unsigned number = 0;
    if (found.lacks(kGpuNvlinkState, label)) {
      const Return code = talk.ask(Query::kLinkState, link, api.link_state, link, &number);
      found.put(kGpuNvlinkState, reading(code, number), label);
    }
    if (!found.lacks(kGpuNvlinkVersion, label)) continue;
    Reading& version = versions_[link];
    if (!version.ok()) {
      const Return code = talk.ask(Query::kLinkVersion, link, api.link_version, link, &number);
      version = reading(code, number);
    }
    found.put(kGpuNvlinkVersion, version, label);
  }
}

// Fields number the checksum errors of the first twelve links only. A board that does not count
// one kind of error on one link does not on any: it is not asked link by link.
void LinkReadings::read_errors(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  for (const ErrorRow& row : kErrors) {
    if (!found.wants(row.metric)) continue;
    for (unsigned link = 0; link < links(); ++link) {
      const std::string_view label = link_label(link);
      if (found.has(row.metric, label) || fields_->counts(row.metric, label)) continue;
      unsigned long long count = 0;
      const Return code = talk.ask(Query::kLinkErrors, link << 4 | static_cast<uint32_t>(row.error),
                                   api.link_errors, link, LinkError{row.error}, &count);
      found.put(row.metric, reading(code, count), label);
      if (is_unsupported(code)) break;
    }
  }
}

void LinkReadings::read_ecc_errors(Conversation& talk, Gathering& found) {
  for (unsigned link = 0; link < links(); ++link) {
    const std::string_view label = link_label(link);
    const bool is_there =
        !found.lacks(kGpuNvlinkEccErrors, label) || fields_->counts(kGpuNvlinkEccErrors, label);
    if (is_there) continue;
    unsigned long long count = 0;
    const Return code = talk.ask(Query::kLinkEccErrors, link, talk.api().link_errors, link,
                                 LinkError{LinkError::kEcc}, &count);
    found.put(kGpuNvlinkEccErrors, reading(code, count), label);
    if (is_unsupported(code)) return;
  }
}

void LinkReadings::read_activity(Conversation& talk, Gathering& found) {
  if (links() > 0) activity_.read(talk, found);
}

}  // namespace gpusight::collect::nvml
