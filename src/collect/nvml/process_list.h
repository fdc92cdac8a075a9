// The processes that hold a context on a device, from the driver's lists. The lists differ in the
// length of their rows by driver version, and the symbol's name does not always say which; so the
// buffer is larger than any row needs, and what was written tells the length.
//
// ProcessReader belongs to one lane. ProcessNames is locked.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/annotations.h"
#include "collect/nvml/conversation.h"
#include "collect/nvml/process_accounts.h"
#include "platform/root_fs.h"

namespace gpusight::collect::nvml {

// The rows of one list as the driver wrote them, checked.
struct ListedProcess {
  uint32_t pid = 0;
  uint64_t used_memory = kMemoryNotAvailable;
  uint32_t gpu_instance = kNotAMigInstance;
  uint32_t compute_instance = kNotAMigInstance;
  uint64_t protected_memory = kMemoryNotAvailable;
};

// Bytes from one row to the next in a buffer that was filled with kUnwritten before `count` rows
// were written to it; `documented` when it cannot be told.
inline constexpr uint8_t kUnwritten = 0xAA;
size_t infer_row_bytes(std::span<const uint8_t> buffer, size_t count, size_t documented);

// Names that only the driver can tell (of processes outside our PID namespace): the fast lane puts
// what it wants to know, the slow lane answers.
class ProcessNames {
 public:
  // The name, if known; else the slow lane will be asked for it.
  std::string name_or_ask(uint32_t pid) EXCLUDES(mutex_);
  std::vector<uint32_t> wanted() const EXCLUDES(mutex_);
  void answer(uint32_t pid, std::string name) EXCLUDES(mutex_);
  // Forgets all but these.
  void keep(const std::set<uint32_t>& pids) EXCLUDES(mutex_);

 private:
  static constexpr size_t kMost = 4096;

  mutable Mutex mutex_;
  std::map<uint32_t, std::optional<std::string>> names_ GUARDED_BY(mutex_);  // nullopt: wanted
};

// A list, or why there is none.
using ProcessList = std::variant<std::vector<model::Process>, model::Reason>;

class ProcessReader {
 public:
  ProcessReader(const platform::RootFs& root, ProcessNames& names, ProcessAccounts& accounts)
      : root_(root), names_(names), accounts_(accounts) {}

  // Compute, graphics and MPS clients of the handle, one row a process and MIG instance. Where the
  // device computes confidentially they are asked how much of their memory is protected as well.
  enum class Protection : uint8_t { kNone, kConfidential };
  ProcessList read(Conversation& talk, Protection protection = Protection::kNone);

 private:
  struct Gathered;
  Return read_list(Conversation& talk, Query query, const ProcessListCall& list,
                   std::vector<ListedProcess>& rows);
  Return read_form(Conversation& talk, Query query, uint32_t place,
                   const ProcessListCall::Form& form, std::vector<ListedProcess>& rows);
  void read_details(Conversation& talk, Gathered& gathered);
  void parse(std::span<const uint8_t> buffer, size_t count, size_t documented,
             std::vector<ListedProcess>& rows, Report& report);
  model::Process finish(const ListedProcess& row, model::ProcessType type, Report& report);

  platform::RootFs root_;
  ProcessNames& names_;
  ProcessAccounts& accounts_;
  std::vector<ProcessRowWide> details_;
  std::vector<uint8_t> buffer_;
  std::vector<ListedProcess> rows_;
};

}  // namespace gpusight::collect::nvml
