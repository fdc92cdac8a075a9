// Field values: which field a number means with this driver, and the batch call.
#include "field_table.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

FieldName field_of(const Call& call, unsigned id) {
  const std::vector<FieldName>& numbers = call.plan().fields;
  return id < numbers.size() ? numbers[id] : FieldName::kCount;
}

// The row of each field in the tables; null for those that this library has no figure for.
std::vector<const Field*> rows_by_name() {
  std::vector<const Field*> rows(static_cast<std::size_t>(FieldName::kCount));
  for (const std::span<const Field> table : {device_fields(), link_fields()}) {
    for (const Field& field : table) {
      const auto first = static_cast<std::size_t>(field.first);
      const auto last = static_cast<std::size_t>(field.last);
      for (std::size_t name = first; name <= last; ++name) rows[name] = &field;
    }
  }
  return rows;
}

const Field* row_of(FieldName name) {
  static const std::vector<const Field*> rows = rows_by_name();
  return rows[static_cast<std::size_t>(name)];
}

bool is_ecc_counter(FieldName name) {
  return name >= FieldName::NVML_FI_DEV_ECC_SBE_VOL_TOTAL &&
         name <= FieldName::NVML_FI_DEV_ECC_DBE_AGG_CBU;
}

void store(const Call& call, nvmlFieldValue_t& value, unsigned type, std::int64_t what) {
  const std::string id = std::to_string(value.fieldId);
  value.valueType = type;
  value.value.ullVal = 0;
  if (type == kU32) {
    call.put(&value.value.uiVal, static_cast<unsigned>(what), id);
  } else if (type == kI32) {
    call.put(&value.value.siVal, static_cast<int>(what), id);
  } else {
    call.put(&value.value.ullVal, static_cast<unsigned long long>(what), id);
  }
}

// Fills one entry; false when it holds no value afterwards.
bool fill(const Call& call, nvmlFieldValue_t& value) {
  const FieldName name = field_of(call, value.fieldId);
  const bool known = name != FieldName::kCount;
  // Some drivers leave the entry of an ECC counter as it was when there is no ECC.
  if (is_ecc_counter(name) && call.board().ecc != Ecc::kEnabled && call.driver_older_than("470")) {
    return false;
  }
  value.timestamp = static_cast<long long>(library().stamp_us(call.t()));
  value.latencyUsec = 12;
  const Field* field = known ? row_of(name) : nullptr;
  Answer answer = known ? kNotSupported : kInvalid;
  if (field != nullptr) {
    const auto nth = static_cast<unsigned>(name) - static_cast<unsigned>(field->first);
    answer = field->read(call, value.scopeId, nth);
  }
  if (const nvmlReturn_t code = call.code_of_entry(std::to_string(value.fieldId));
      code != NVML_SUCCESS) {
    answer.code = code;
  }
  value.nvmlReturn = answer.code;
  if (answer.code != NVML_SUCCESS) return false;
  store(call, value, field->type, answer.number);
  return true;
}

}  // namespace

std::vector<FieldName> field_numbers(std::uint64_t driver) {
  std::vector<FieldName> numbers;
  for (unsigned i = 0; i < kFieldFactCount; ++i) {
    const FieldFact& fact = kFieldFacts[i];
    // The last row of a field that is not younger than the driver counts.
    const bool later = i + 1 < kFieldFactCount && kFieldFacts[i + 1].name == fact.name &&
                       kFieldFacts[i + 1].since <= driver;
    if (fact.since > driver || later || fact.id == 0) continue;
    if (numbers.size() <= fact.id) numbers.resize(fact.id + 1, FieldName::kCount);
    numbers[fact.id] = fact.name;
  }
  return numbers;
}

}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return on_gpu(Fn::nvmlDeviceGetFieldValues, device, values != nullptr && count > 0,
                [&](Call& call) -> nvmlReturn_t {
                  bool any = false;
                  for (int i = 0; i < count; ++i) any = fill(call, values[i]) || any;
                  return any ? NVML_SUCCESS : values[0].nvmlReturn;
                });
}
