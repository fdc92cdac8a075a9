#include "collect/nvml/process_list.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "platform/proc.h"

namespace gpusight::collect::nvml {
namespace {

using model::ProcessType;
using model::Reason;

constexpr size_t kLongestRow = sizeof(ProcessRowWide);
constexpr size_t kFirstRows = 64;
constexpr size_t kMostRows = 4096;
constexpr size_t kSpareRows = 16;  // the list may grow between two calls
constexpr int kMostTries = 4;
constexpr uint32_t kHighestPid = 4'194'304;  // Linux's PID_MAX_LIMIT
constexpr uint64_t kMostMemory = 1'000'000'000'000'000;

struct ListRow {
  Query query;
  ProcessListCall NvmlApi::*list;
  ProcessType type;
};

constexpr ListRow kLists[] = {
    {Query::kComputeProcesses, &NvmlApi::compute_processes, ProcessType::kCompute},
    {Query::kGraphicsProcesses, &NvmlApi::graphics_processes, ProcessType::kGraphics},
    {Query::kMpsProcesses, &NvmlApi::mps_processes, ProcessType::kCompute},
};

template <typename T>
T read_at(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A process that both lists name holds its memory once.
void merge(ListedProcess& into, const ListedProcess& row) {
  if (into.used_memory == kMemoryNotAvailable) {
    into.used_memory = row.used_memory;
  } else if (row.used_memory != kMemoryNotAvailable) {
    into.used_memory = std::max(into.used_memory, row.used_memory);
  }
  if (into.protected_memory == kMemoryNotAvailable) into.protected_memory = row.protected_memory;
}

}  // namespace

size_t infer_row_bytes(std::span<const uint8_t> buffer, size_t count, size_t documented) {
  size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == kUnwritten) --written;
  for (const size_t bytes : {sizeof(ProcessRowV1), sizeof(ProcessRow), sizeof(ProcessRowWide)}) {
    if (bytes >= documented && bytes * count >= written) return bytes;
  }
  return documented;
}

std::string ProcessNames::name_or_ask(uint32_t pid) {
  MutexLock lock(mutex_);
  const auto it = names_.find(pid);
  if (it != names_.end()) return it->second.value_or("");
  if (names_.size() < kMost) names_.emplace(pid, std::nullopt);
  return {};
}

std::vector<uint32_t> ProcessNames::wanted() const {
  MutexLock lock(mutex_);
  std::vector<uint32_t> pids;
  for (const auto& [pid, name] : names_) {
    if (!name) pids.push_back(pid);
  }
  return pids;
}

void ProcessNames::answer(uint32_t pid, std::string name) {
  MutexLock lock(mutex_);
  const auto it = names_.find(pid);
  if (it != names_.end()) it->second = std::move(name);
}

void ProcessNames::keep(const std::set<uint32_t>& pids) {
  MutexLock lock(mutex_);
  std::erase_if(names_, [&](const auto& entry) { return !pids.contains(entry.first); });
}

void ProcessReader::parse(std::span<const uint8_t> buffer, size_t count, size_t documented,
                          std::vector<ListedProcess>& rows, Report& report) {
  const size_t row_bytes = infer_row_bytes(buffer, count, documented);
  for (size_t i = 0; i < count; ++i) {
    const auto bytes = buffer.subspan(i * row_bytes, row_bytes);
    ListedProcess row{.pid = read_at<uint32_t>(bytes, offsetof(ProcessRow, pid)),
                      .used_memory = read_at<uint64_t>(bytes, offsetof(ProcessRow, used_memory))};
    if (row_bytes >= sizeof(ProcessRow)) {
      row.gpu_instance = read_at<uint32_t>(bytes, offsetof(ProcessRow, gpu_instance));
      row.compute_instance = read_at<uint32_t>(bytes, offsetof(ProcessRow, compute_instance));
    }
    if (row_bytes >= sizeof(ProcessRowWide)) {
      row.protected_memory =
          read_at<uint64_t>(bytes, offsetof(ProcessRowWide, used_protected_memory));
    }
    if (row.pid == 0) continue;
    if (row.pid > kHighestPid) {
      report.count_implausible();
      continue;
    }
    rows.push_back(row);
  }
}

// The newest form that the library takes.
Return ProcessReader::read_list(Conversation& talk, Query query, const ProcessListCall& list,
                                std::vector<ListedProcess>& rows) {
  Return code = Return::kFunctionNotFound;
  for (uint32_t place = 0; place < list.forms.size(); ++place) {
    const Return answer = read_form(talk, query, place, list.forms[place], rows);
    if (!is_unsupported(answer)) return answer;
    if (code == Return::kFunctionNotFound) code = answer;
  }
  return code;
}

Return ProcessReader::read_form(Conversation& talk, Query query, uint32_t place,
                                const ProcessListCall::Form& form,
                                std::vector<ListedProcess>& rows) {
  size_t capacity = std::max(buffer_.size() / kLongestRow, kFirstRows);
  for (int attempt = 0;; ++attempt) {
    buffer_.assign(capacity * kLongestRow, kUnwritten);
    auto count = static_cast<unsigned>(capacity);
    const Return code =
        talk.ask(query, place, form.call, &count, static_cast<void*>(buffer_.data()));
    if (code == Return::kSuccess) {
      parse(buffer_, std::min<size_t>(count, capacity), form.row_bytes, rows, talk.report());
      return code;
    }
    const bool may_retry = attempt + 1 < kMostTries && capacity < kMostRows;
    if (code != Return::kInsufficientSize || !may_retry) return code;
    capacity = more_room(capacity, size_t{count} + kSpareRows, kMostRows);
  }
}

model::Process ProcessReader::finish(const ListedProcess& row, ProcessType type, Report& report) {
  model::Process process{.pid = row.pid, .type = type};
  if (row.used_memory == kMemoryNotAvailable) {
    process.memory_bytes = model::Value::absent(Reason::kNotSupported);
  } else if (row.used_memory > kMostMemory) {
    process.memory_bytes = model::Value::absent(Reason::kImplausible);
    report.count_implausible();
  } else {
    process.memory_bytes = report.fresh(static_cast<double>(row.used_memory));
  }
  if (row.protected_memory <= kMostMemory) {
    process.protected_memory_bytes = static_cast<double>(row.protected_memory);
  }
  process.accounting = accounts_.of(row.pid);
  for (auto* share : {&process.utilization_ratio, &process.memory_utilization_ratio,
                      &process.encoder_utilization_ratio, &process.decoder_utilization_ratio}) {
    *share = model::Value::absent(Reason::kNotSupported);  // until someone knows better
  }
  if (row.gpu_instance != kNotAMigInstance) process.gpu_instance = row.gpu_instance;
  if (row.compute_instance != kNotAMigInstance) process.compute_instance = row.compute_instance;
  if (const auto stat = platform::read_proc_stat(root_, std::to_string(row.pid)); stat.ok()) {
    process.start_ticks = stat->start_ticks;
  } else {
    process.driver_name = names_.name_or_ask(row.pid);
  }
  return process;
}

// Rows so far, by process and MIG instance, in the order that they were met.
struct ProcessReader::Gathered {
  std::vector<std::pair<ListedProcess, ProcessType>> rows;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> place;

  void add(const ListedProcess& row, ProcessType type) {
    const auto [it, is_new] =
        place.emplace(std::tuple(row.pid, row.gpu_instance, row.compute_instance), rows.size());
    if (is_new) {
      rows.emplace_back(row, type);
      return;
    }
    auto& [known, known_type] = rows[it->second];
    merge(known, row);
    if (known_type != type) known_type = ProcessType::kBoth;
  }
};

// One call for all that compute; those that came since the list was read have their turn next time.
void ProcessReader::read_details(Conversation& talk, Gathered& gathered) {
  if (gathered.rows.empty() || talk.fate().is_over()) return;
  details_.assign(gathered.rows.size() + kSpareRows, ProcessRowWide{});
  ProcessDetails request{.version = struct_version<ProcessDetails>(1),
                         .mode = kProcessModeCompute,
                         .count = static_cast<uint32_t>(details_.size()),
                         .rows = details_.data()};
  const Return code = talk.ask(Query::kProcessDetails, 0, talk.api().process_details, &request);
  if (code != Return::kSuccess) return;
  details_.resize(std::min<size_t>(request.count, details_.size()));
  for (const ProcessRowWide& detail : details_) {
    const auto at = gathered.place.find(
        std::tuple(detail.row.pid, detail.row.gpu_instance, detail.row.compute_instance));
    if (at == gathered.place.end()) continue;
    gathered.rows[at->second].first.protected_memory = detail.used_protected_memory;
  }
}

ProcessList ProcessReader::read(Conversation& talk, Protection protection) {
  Gathered gathered;
  bool any_list = false;
  for (const ListRow& list : kLists) {
    rows_.clear();
    const Return code = read_list(talk, list.query, talk.api().*list.list, rows_);
    // A list that the device does not have holds nobody; one that fails may hold anyone.
    if (code != Return::kSuccess && !is_empty(code)) {
      if (is_unsupported(code)) continue;
      return reason_of(code);
    }
    any_list = true;
    for (const ListedProcess& row : rows_) gathered.add(row, list.type);
  }
  if (!any_list) return Reason::kNotSupported;
  if (protection == Protection::kConfidential) read_details(talk, gathered);
  std::vector<model::Process> processes;
  processes.reserve(gathered.rows.size());
  for (const auto& [row, type] : gathered.rows) {
    processes.push_back(finish(row, type, talk.report()));
  }
  return processes;
}

}  // namespace gpusight::collect::nvml
