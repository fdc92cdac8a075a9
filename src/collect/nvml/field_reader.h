// Field values: many numbers in one call of the driver. What is asked stands in tables of rows;
// what a handle does not support is remembered and not asked again for a while.
//
// Rows are constant data. A FieldReader belongs to one lane.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collect/nvml/conversation.h"
#include "collect/nvml/driver_clock.h"
#include "collect/nvml/driver_version.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

// Which types of value are believed.
enum class FieldWidth : uint8_t {
  kAny,
  k64Bits,  // a counter that would wrap within a tick if it had only 32
};

// How a number is packed.
enum class FieldPacking : uint8_t {
  kPlain,
  kErrorRatio,  // four bits of mantissa above eight of a negative power of ten
};

struct FieldRow {
  uint32_t id;
  catalog::MetricId metric;
  double unit = 1;  // of the driver's number, in the catalogue's unit
  std::string_view label = {};
  uint32_t scope = 0;    // which link, which part of the board
  DriverAges ages = {};  // where the number means this
  FieldWidth width = FieldWidth::kAny;
  FieldPacking packing = FieldPacking::kPlain;
};

// The number in a field value, as the driver left it.
Reading field_reading(const FieldValue& field, const FieldRow& row);

class FieldReader {
 public:
  // `batch` tells this reader's calls from those of others about the same handle.
  FieldReader(uint32_t batch, std::vector<FieldRow> rows,
              const std::optional<DriverVersion>& driver);

  // One reading for each of rows(), in their order. Valid until the next read.
  std::span<const Reading> read(Conversation& talk, DriverClock* clock = nullptr);
  // The same, put where it belongs. Where several rows are ways to read one counter, the first that
  // answers is the one for good: another's count would look like a reset.
  void read_into(Conversation& talk, Gathering& found, DriverClock* clock = nullptr);

  std::span<const FieldRow> rows() const { return rows_; }
  // Whether a counter has its row, so that it must not be read in another way.
  bool counts(catalog::MetricId metric, std::string_view label) const;

 private:
  // Some libraries walk a batch under one lock: that is kept short.
  static constexpr size_t kMostAtOnce = 128;

  bool is_another_counter(size_t row) const;
  void read_some(Conversation& talk, std::span<const size_t> places, uint32_t part,
                 DriverClock* clock);

  uint32_t batch_;
  std::vector<FieldRow> rows_;
  std::vector<size_t> series_;                 // of each row: the first row of the same series
  std::vector<std::optional<size_t>> source_;  // of each series that is a counter: its row
  std::vector<Reading> readings_;
  std::vector<FieldValue> values_;
  std::vector<size_t> places_;
};

}  // namespace gpusight::collect::nvml
