#include <array>
#include <cmath>
#include <utility>

#include "conditions.h"
#include "nvml_functions.h"
#include "scenario.h"
#include "toml_reader.h"

namespace gpusight::sim {
namespace {

struct Word {
  const char* text;
  unsigned number;
};

constexpr std::array<Word, 28> kKinds = {{
    {"gpu_lost", static_cast<unsigned>(FaultKind::kGpuLost)},
    {"block", static_cast<unsigned>(FaultKind::kBlock)},
    {"return", static_cast<unsigned>(FaultKind::kReturn)},
    {"value", static_cast<unsigned>(FaultKind::kValue)},
    {"driver_reload", static_cast<unsigned>(FaultKind::kDriverReload)},
    {"init_fails", static_cast<unsigned>(FaultKind::kInitFails)},
    {"version_mismatch", static_cast<unsigned>(FaultKind::kInitFails)},
    {"insufficient_size", static_cast<unsigned>(FaultKind::kInsufficientSize)},
    {"name_bytes", static_cast<unsigned>(FaultKind::kNameBytes)},
    {"index_order", static_cast<unsigned>(FaultKind::kIndexOrder)},
    {"process_gone", static_cast<unsigned>(FaultKind::kProcessGone)},
    {"latency", static_cast<unsigned>(FaultKind::kLatency)},
    {"xid", static_cast<unsigned>(FaultKind::kXid)},
    {"process_memory_unavailable", static_cast<unsigned>(FaultKind::kProcessMemoryUnavailable)},
    {"ecc_errors", static_cast<unsigned>(FaultKind::kEccErrors)},
    {"retired_pages", static_cast<unsigned>(FaultKind::kRetiredPages)},
    {"remapped_rows", static_cast<unsigned>(FaultKind::kRemappedRows)},
    {"nvlink_errors", static_cast<unsigned>(FaultKind::kNvlinkErrors)},
    {"nvlink_down", static_cast<unsigned>(FaultKind::kNvlinkDown)},
    {"pcie_errors", static_cast<unsigned>(FaultKind::kPcieErrors)},
    {"pcie_link", static_cast<unsigned>(FaultKind::kPcieLink)},
    {"throttle", static_cast<unsigned>(FaultKind::kThrottle)},
    {"overheat", static_cast<unsigned>(FaultKind::kOverheat)},
    {"fan_stopped", static_cast<unsigned>(FaultKind::kFanStopped)},
    {"power_source", static_cast<unsigned>(FaultKind::kPowerSource)},
    {"recovery_action", static_cast<unsigned>(FaultKind::kRecoveryAction)},
    {"fabric", static_cast<unsigned>(FaultKind::kFabric)},
    {"bad_samples", static_cast<unsigned>(FaultKind::kBadSamples)},
}};

constexpr std::array<Word, 31> kCodes = {{
    {"SUCCESS", 0},
    {"UNINITIALIZED", 1},
    {"INVALID_ARGUMENT", 2},
    {"NOT_SUPPORTED", 3},
    {"NO_PERMISSION", 4},
    {"ALREADY_INITIALIZED", 5},
    {"NOT_FOUND", 6},
    {"INSUFFICIENT_SIZE", 7},
    {"INSUFFICIENT_POWER", 8},
    {"DRIVER_NOT_LOADED", 9},
    {"TIMEOUT", 10},
    {"IRQ_ISSUE", 11},
    {"LIBRARY_NOT_FOUND", 12},
    {"FUNCTION_NOT_FOUND", 13},
    {"CORRUPTED_INFOROM", 14},
    {"GPU_IS_LOST", 15},
    {"RESET_REQUIRED", 16},
    {"OPERATING_SYSTEM", 17},
    {"LIB_RM_VERSION_MISMATCH", 18},
    {"IN_USE", 19},
    {"MEMORY", 20},
    {"NO_DATA", 21},
    {"VGPU_ECC_NOT_SUPPORTED", 22},
    {"INSUFFICIENT_RESOURCES", 23},
    {"FREQ_NOT_SUPPORTED", 24},
    {"ARGUMENT_VERSION_MISMATCH", 25},
    {"DEPRECATED", 26},
    {"NOT_READY", 27},
    {"GPU_NOT_FOUND", 28},
    {"INVALID_STATE", 29},
    {"UNKNOWN", 999},
}};

template <std::size_t N>
std::vector<std::string> texts_of(const std::array<Word, N>& words) {
  std::vector<std::string> result;
  for (const Word& word : words) result.emplace_back(word.text);
  return result;
}

// A return code by number, or by name without the NVML_ERROR_ in front.
unsigned read_code(TomlReader& table, unsigned fallback) {
  if (table.is_text("code")) return kCodes[table.choice("code", 0, texts_of(kCodes))].number;
  return static_cast<unsigned>(table.integer("code", fallback, 0, 1000));
}

std::string read_function(TomlReader& table) {
  std::string function = table.text("function", "*");
  if (function.find_first_of("*?") != std::string::npos) return function;
  std::vector<std::string> names;
  for (const FunctionFact& fact : kFunctionFacts) names.emplace_back(fact.name);
  if (std::find(names.begin(), names.end(), function) == names.end()) {
    table.wrong("function",
                "no NVML function is called \"" + function + "\"" + suggest(function, names));
  }
  return function;
}

// Text in which \xNN stands for any byte, since TOML itself holds UTF-8 only.
std::string read_bytes(TomlReader& table) {
  const std::string text = table.text("bytes", "");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x';
    if (!escape) {
      bytes += text[i];
      continue;
    }
    const std::string digits = text.substr(i + 2, 2);
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      table.wrong("bytes", "after \\x two hexadecimal digits are wanted");
      return "";
    }
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    i += 3;
  }
  if (bytes.empty()) table.wrong("bytes", "is missing or empty");
  return bytes;
}

void read_block(TomlReader& table, Fault& fault) {
  fault.function = read_function(table);
  fault.every = static_cast<std::uint64_t>(table.integer("every", 1, 1, 1LL << 40));
  const bool forever = table.boolean("forever", false);
  fault.seconds = forever ? kForever : table.number("seconds", 1, 0, 1e6);
}

void read_value(TomlReader& table, Fault& fault) {
  fault.function = read_function(table);
  fault.every = static_cast<std::uint64_t>(table.integer("every", 1, 1, 1LL << 40));
  fault.field = table.text("field", "");
  if (table.is_text("value")) {
    table.choice("value", 0, {"all_ones"});
    fault.value = -1;
    return;
  }
  if (!table.has("value")) table.wrong("value", "a whole number or \"all_ones\" is wanted");
  fault.value = table.integer("value", 0, std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max());
}

void read_by_kind(TomlReader& table, Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kGpuLost: {
      const std::size_t back = table.choice("back", 0, {"after_reinit", "at_once"});
      fault.after_reinit = back == 0;
      return;
    }
    case FaultKind::kBlock: return read_block(table, fault);
    case FaultKind::kReturn:
      fault.function = read_function(table);
      fault.code = read_code(table, 999);
      fault.field = table.text("field", "");
      fault.every = static_cast<std::uint64_t>(table.integer("every", 1, 1, 1LL << 40));
      return;
    case FaultKind::kValue: return read_value(table, fault);
    case FaultKind::kDriverReload: fault.code = read_code(table, 1); return;
    case FaultKind::kInitFails:
      fault.code = read_code(table, fault.code);
      fault.times = static_cast<std::uint64_t>(table.integer("times", 0, 0, 1LL << 40));
      return;
    case FaultKind::kInsufficientSize: fault.function = read_function(table); return;
    case FaultKind::kNameBytes:
      fault.bytes = read_bytes(table);
      fault.name_of_process = table.choice("of", 0, {"gpu", "process"}) == 1;
      fault.pid = static_cast<unsigned>(table.integer("pid", 0, 0, 4294967295LL));
      return;
    case FaultKind::kProcessGone:
    case FaultKind::kProcessMemoryUnavailable:
      fault.pid = static_cast<unsigned>(table.integer("pid", 0, 0, 4294967295LL));
      return;
    case FaultKind::kLatency:
      fault.function = read_function(table);
      fault.per_second = table.number("microseconds_per_open_file", 0, 0, 1000) / 1e6;
      fault.seconds = table.number("microseconds", fault.per_second > 0 ? 0 : 1000, 0, 1e9) / 1e6;
      return;
    case FaultKind::kXid:
      fault.code = static_cast<unsigned>(table.integer("code", 31, 1, 65535));
      fault.what = static_cast<unsigned>(table.choice("where", 0, {"both", "event", "kernel_log"}));
      fault.pid = static_cast<unsigned>(table.integer("pid", 0, 0, 4294967295LL));
      if (table.has("gi")) fault.part = static_cast<unsigned>(table.integer("gi", 0, 0, 14));
      if (table.has("ci")) fault.inner_part = static_cast<unsigned>(table.integer("ci", 0, 0, 7));
      return;
    case FaultKind::kIndexOrder: return;
    default: return read_condition(table, fault);
  }
}

Fault read_fault(TomlReader& table, std::size_t gpu_count) {
  Fault fault;
  if (!table.has("kind")) table.wrong("kind", "is missing");
  const std::size_t kind = table.choice("kind", 0, texts_of(kKinds));
  fault.kind = static_cast<FaultKind>(kKinds[kind].number);
  fault.code = std::string_view(kKinds[kind].text) == "version_mismatch" ? 18 : 9;
  if (is_condition(fault.kind)) fault.code = 0;
  fault.gpus = table.gpus("gpu", gpu_count);
  fault.at = table.number("at", -kForever, -1e9, 1e9);
  fault.until = table.number("until", kForever, -1e9, 1e9);
  if (table.has("for")) {
    // Without `at`, a fault of a control file counts from when the file was read; `until` then
    // holds the duration and the library moves it.
    const double length = table.number("for", 0, 0, 1e9);
    fault.until = std::isinf(fault.at) ? length : fault.at + length;
    fault.until_is_duration = std::isinf(fault.at);
  }
  fault.id = table.is_text("id") ? table.text("id", "")
                                 : std::to_string(table.integer("id", 0, 0, 1LL << 40));
  read_by_kind(table, fault);
  return fault;
}

}  // namespace

std::vector<Fault> read_faults(TomlReader& root, std::size_t gpu_count) {
  std::vector<Fault> faults;
  root.tables("fault", [&](TomlReader& table) { faults.push_back(read_fault(table, gpu_count)); });
  return faults;
}

Parsed<Control> parse_control(std::string_view text, const std::string& source, std::size_t gpus) {
  TomlErrors errors(source);
  const std::optional<toml::table> document = errors.parse(text);
  if (!document) return {std::nullopt, errors.message()};
  Control control;
  TomlReader root(*document, "", errors);
  control.faults = read_faults(root, gpus);
  control.dump_counts = root.boolean("dump_counts", false);
  root.tables("clock", [&](TomlReader& table) {
    if (table.has("frozen_at")) control.frozen_at = table.number("frozen_at", 0, -1e9, 1e9);
    control.offset_seconds = table.number("offset_seconds", 0, -1e9, 1e9);
  });
  if (!errors.failed()) root.finish();
  if (errors.failed()) return {std::nullopt, errors.message()};
  return {std::move(control), ""};
}

}  // namespace gpusight::sim
