// A Snapshot in Prometheus's text formats: what /metrics serves, under gpusight's own names, those
// of another exporter (names.h), or several of them in one text.
//
// Pure function, any thread. Only fresh values become samples: what is stale or absent is not there
// at all, so that a series ends when its reading ends. Device series carry `uuid` and the label of
// their row, nothing else; facts that may change stand on gpu_info. Beside the catalogue's metrics
// there are
//   gpu_info{uuid,gpu,name,vendor,driver,pci,kind,…} 1   one a device; empty facts are left out
//   gpusight_build_info{version} 1
//   gpusight_simulated                                   1 when any of the devices does not exist
//   gpusight_snapshot_timestamp_seconds                  when the values were published
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "export/prometheus/exposition.h"
#include "export/prometheus/name_set.h"
#include "model/caller.h"
#include "model/snapshot.h"

namespace gpusight::prometheus {

// True when sampling has not published for max(3 ticks, 10 s): then no reading is fresh any more.
bool is_outdated(const model::Snapshot& snapshot, MonoTime now);

// The format that answers: names of other exporters are written in plain text only.
Format format_of(NameSets names, Format wanted);

// True if what is rendered differs from caller to caller: processes do.
bool depends_on_caller(NameSets names);

struct RenderOptions {
  Format format = Format::kText004;
  std::string_view version;  // of gpusight
  // An outdated snapshot: its readings are withdrawn, the rest stays.
  bool outdated = false;
  NameSets names = {};
  model::Caller caller = {};
};

// Labels of the device's gpu_info beside uuid, those that it has, in the order of the text.
std::vector<std::pair<std::string_view, std::string>> info_facts(const model::Device& device);

std::string render(const model::Snapshot& snapshot, const RenderOptions& options);

}  // namespace gpusight::prometheus
