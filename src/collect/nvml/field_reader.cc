#include "collect/nvml/field_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collect/nvml/sample_rings.h"

namespace gpusight::collect::nvml {
namespace {

constexpr uint32_t kLastOldEccField = 31;  // ids up to it carry 64 bits whatever the type says

// Ids lie below 512, scopes that matter below 64; "all links" is told apart by the last of them.
uint32_t sub_key(const FieldRow& row) { return row.id | (row.scope & 0x3F) << 9; }

// Not a number when there is more in it than mantissa and exponent.
double error_ratio(double number) {
  if (!(number >= 0 && number <= 0xFFF)) return std::numeric_limits<double>::quiet_NaN();
  const auto packed = static_cast<unsigned>(number);
  return (packed >> 8) * std::pow(10.0, -static_cast<double>(packed & 0xFF));
}

}  // namespace

Reading field_reading(const FieldValue& field, const FieldRow& row) {
  // Some drivers leave an entry that they do not support as it was, and say success.
  const bool untouched = field.timestamp_us == 0 && field.value_type == ValueType::kDouble;
  if (field.result != Return::kSuccess) return {field.result, 0};
  if (untouched) return {Return::kNotSupported, 0};
  ValueType type = field.value_type;
  if (row.id <= kLastOldEccField) type = ValueType::kUint64;
  const bool is_wide = type == ValueType::kUint64 || type == ValueType::kUnsignedLong;
  if (row.width == FieldWidth::k64Bits && !is_wide) return {Return::kNotSupported, 0};
  const double number =
      type == ValueType::kUint32 ? number_of(field.value.as_uint32) : as_double(type, field.value);
  if (row.packing == FieldPacking::kErrorRatio) return {Return::kSuccess, error_ratio(number)};
  return {Return::kSuccess, number * row.unit};
}

FieldReader::FieldReader(uint32_t batch, std::vector<FieldRow> rows,
                         const std::optional<DriverVersion>& driver)
    : batch_(batch), rows_(std::move(rows)) {
  std::erase_if(rows_, [&](const FieldRow& row) { return !row.ages.holds(driver); });
  for (const FieldRow& row : rows_) {
    const auto first = std::ranges::find_if(rows_, [&](const FieldRow& other) {
      return other.metric == row.metric && other.label == row.label;
    });
    series_.push_back(static_cast<size_t>(first - rows_.begin()));
  }
  source_.resize(rows_.size());
}

bool FieldReader::is_another_counter(size_t row) const {
  const std::optional<size_t>& source = source_[series_[row]];
  return source && *source != row;
}

bool FieldReader::counts(catalog::MetricId metric, std::string_view label) const {
  const auto first = std::ranges::find_if(
      rows_, [&](const FieldRow& row) { return row.metric == metric && row.label == label; });
  return first != rows_.end() && source_[static_cast<size_t>(first - rows_.begin())].has_value();
}

void FieldReader::read_some(Conversation& talk, std::span<const size_t> places, uint32_t part,
                            DriverClock* clock) {
  values_.assign(places.size(), FieldValue{});  // all zero, or leftovers pass for values
  for (size_t i = 0; i < places.size(); ++i) {
    values_[i].field_id = rows_[places[i]].id;
    values_[i].scope_id = rows_[places[i]].scope;
  }
  const MonoTime before = talk.report().now();
  const Return code = talk.ask(Query::kFieldValues, batch_ << 8 | part, talk.api().field_values,
                               static_cast<int>(places.size()), values_.data());
  const MonoTime after = talk.report().now();
  for (size_t i = 0; i < places.size(); ++i) {
    const FieldRow& row = rows_[places[i]];
    // The call succeeds when any entry does: each has its own code.
    readings_[places[i]] =
        code == Return::kSuccess ? field_reading(values_[i], row) : Reading{code, 0};
    if (code != Return::kSuccess) continue;
    talk.note(Query::kField, sub_key(row), readings_[places[i]].code);
    const int64_t stamp = values_[i].timestamp_us;
    if (clock != nullptr && stamp > 0) {
      clock->observe(stamp, before, after, talk.report().wall());
      clock = nullptr;  // one stamp a call says it all
    }
  }
}

std::span<const Reading> FieldReader::read(Conversation& talk, DriverClock* clock) {
  const Return none = talk.fate().is_over() ? talk.fate().fatal : Return::kNotSupported;
  readings_.assign(rows_.size(), Reading{none, 0});
  places_.clear();
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (talk.is_worth_asking(Query::kField, sub_key(rows_[i]))) places_.push_back(i);
  }
  uint32_t part = 0;
  for (std::span<const size_t> rest(places_); !rest.empty(); ++part) {
    const size_t some = std::min(rest.size(), kMostAtOnce);
    read_some(talk, rest.first(some), part, clock);
    rest = rest.subspan(some);
  }
  return readings_;
}

void FieldReader::read_into(Conversation& talk, Gathering& found, DriverClock* clock) {
  const std::span<const Reading> readings = read(talk, clock);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (is_another_counter(i)) continue;
    const bool is_counter = catalog::metric(rows_[i].metric).kind == catalog::Kind::kCounter;
    if (is_counter && readings[i].ok()) source_[series_[i]] = i;
    found.put(rows_[i].metric, readings[i], rows_[i].label);
  }
}

}  // namespace gpusight::collect::nvml
