// Which field values are read of a GPU, and what each means. Numbers, units and the drivers in
// which a number has its meaning are those of the headers of drivers 384 to 610.
#pragma once

#include <vector>

#include "collect/nvml/field_reader.h"

namespace gpusight::collect::nvml {

// Every tick. Where two rows give the same series the first one that answers counts.
std::vector<FieldRow> fast_fields();
// Every ten seconds.
std::vector<FieldRow> slow_fields();
// The same, of `links` NVLinks, each series labelled by its link.
std::vector<FieldRow> link_fields(unsigned links);
// Of which the sum over all links is wanted: the rows of one series lie together, `links` each.
std::vector<FieldRow> link_sum_fields(unsigned links);
// Of `links` links between the chips of one package.
std::vector<FieldRow> c2c_fields(unsigned links);
// Byte counters of the PCI Express link.
std::vector<FieldRow> pcie_byte_fields();
// Without the rows of what is disabled.
std::vector<FieldRow> wanted(std::vector<FieldRow> rows, const catalog::MetricSet& disabled);
// What a field that counts links says; 0 when it says nothing sound.
unsigned link_count(const Reading& count);

// More links than any board has (18 up to now); a count beyond it is garbage.
inline constexpr unsigned kMostLinks = 36;
// "0" and so on: a label that rows may point at.
std::string_view link_label(unsigned link);

}  // namespace gpusight::collect::nvml
