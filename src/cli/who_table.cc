#include "cli/who_table.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/display_width.h"
#include "cli/format.h"
#include "cli/status_parts.h"
#include "cli/table.h"
#include "model/unexplained.h"

namespace gpusight::cli {
namespace {

using catalog::MessageId;
using model::DeviceSnapshot;
using model::DeviceState;
using model::Owner;
using model::OwnerState;
using model::Process;

constexpr size_t kLeastCommand = 16;  // columns
constexpr size_t kMostPlace = 28;
constexpr double kMuchMemory = 1 << 20;  // less is rounding
constexpr double kMuchWork = 0.005;

std::string or_mark(const std::optional<double>& number, std::string (*text)(double)) {
  return number ? text(*number) : std::string(kAbsentMark);
}

class WhoTable {
 public:
  WhoTable(const model::Snapshot& snapshot, const ViewOptions& options)
      : snapshot_(snapshot), options_(options) {}

  std::string render() {
    for (bool WhoTable::*column :
         {&WhoTable::with_cpu_, &WhoTable::with_since_, &WhoTable::with_place_}) {
      if (build().fixed_width() + kLeastCommand <= options_.width) break;
      this->*column = false;
    }
    return build().render(options_.width, options_.colour);
  }

 private:
  std::string word(MessageId id) const { return say(id, options_.lang); }

  Table build() const {
    std::vector<Column> columns = {{word(MessageId::kWordGpu), Align::kRight, 12},
                                   {"PID", Align::kRight},
                                   {word(MessageId::kWordUser), Align::kLeft, 16}};
    if (with_place_) columns.push_back({word(MessageId::kWhoWhere), Align::kLeft, kMostPlace});
    if (with_since_) columns.push_back({word(MessageId::kWhoSince), Align::kRight});
    columns.push_back({word(MessageId::kWordUtilization), Align::kRight});
    columns.push_back({word(MessageId::kWordMemory), Align::kRight});
    if (with_cpu_) columns.push_back({"CPU", Align::kRight});
    columns.push_back({word(MessageId::kWhoCommand), Align::kLeft});
    Table table(std::move(columns));
    for (const DeviceSnapshot& device : snapshot_.devices) add_device(device, table);
    return table;
  }

  void add_device(const DeviceSnapshot& device, Table& table) const {
    std::string label = device_label(snapshot_, device);
    const auto add_text = [&](const std::string& text) {
      table.add({{std::exchange(label, {})}, {text, Style::kDim}});
    };
    if (is_shown_by_instances(device)) return;
    if (!device.processes_known && device.hidden_users.empty()) {
      return add_text(state_text(device));
    }
    for (const Process* process : by_memory(device)) {
      table.add(row(std::exchange(label, {}), *process));
      for (const std::string& line : framework_lines(*process)) add_text("  " + line);
    }
    for (const model::UserTotal& hidden : device.hidden_users) {
      const std::string user = !hidden.user.empty() ? hidden.user
                               : hidden.uid         ? std::to_string(*hidden.uid)
                                                    : std::string(kAbsentMark);
      add_text(say(MessageId::kWhoHidden, options_.lang, std::to_string(hidden.processes), user));
    }
    if (device.processes.empty() && device.hidden_users.empty()) {
      add_text(word(MessageId::kWhoNobody));
    }
    add_rest(device, table);
  }

  // What no process explains.
  void add_rest(const DeviceSnapshot& device, Table& table) const {
    const auto memory = model::unexplained_memory_bytes(device);
    if (memory && *memory >= kMuchMemory) {
      table.add(rest_row({}, bytes_text(*memory), MessageId::kWhoUnexplained));
    }
    const auto work = model::unattributed_ratio(device);
    if (work && *work >= kMuchWork) {
      table.add(rest_row(percent_text(*work), {}, MessageId::kWhoUnattributed));
    }
  }

  std::vector<Cell> rest_row(const std::string& share, const std::string& memory,
                             MessageId what) const {
    std::vector<Cell> cells = {{""}, {""}, {""}};
    if (with_place_) cells.push_back({""});
    if (with_since_) cells.push_back({""});
    cells.push_back({share, Style::kNotice});
    cells.push_back({memory, Style::kNotice});
    if (with_cpu_) cells.push_back({""});
    cells.push_back({word(what), Style::kNotice});
    return cells;
  }

  std::vector<Cell> row(const std::string& label, const Process& process) const {
    const Owner& owner = process.owner;
    std::string user = owner.user;
    if (user.empty() && owner.uid) user = std::to_string(*owner.uid);
    std::vector<Cell> cells = {{label}, {std::to_string(process.pid)}, {user}};
    if (with_place_) cells.push_back({place_text(owner)});
    if (with_since_) {
      cells.push_back({owner.start_unix_ms
                           ? clock_text(WallTime(std::chrono::milliseconds(*owner.start_unix_ms)),
                                        snapshot_.wall, options_.zone)
                           : std::string(kAbsentMark)});
    }
    cells.push_back({or_mark(process.utilization_ratio.number(), &percent_text)});
    cells.push_back({or_mark(process.memory_bytes.number(), &bytes_text)});
    if (with_cpu_) cells.push_back({or_mark(process.host.cpu_ratio, &percent_text)});
    cells.push_back(command_cell(process));
    return cells;
  }

  Cell command_cell(const Process& process) const {
    const Owner& owner = process.owner;
    // A number of another PID namespace: the process of that number here is somebody else.
    if (owner.state == OwnerState::kForeign) {
      return {say(MessageId::kViewHostPid, options_.lang, std::to_string(process.pid)),
              Style::kDim};
    }
    std::string text = !process.host.arguments.empty() ? process.host.arguments
                       : owner.command.empty()         ? process.driver_name
                                                       : owner.command;
    const bool is_over = owner.state == OwnerState::kExited || process.host.is_zombie;
    if (!is_over) return {text};
    const auto what = process.host.is_zombie ? MessageId::kWhoZombie : MessageId::kWhoExited;
    return {text + (text.empty() ? "(" : " (") + word(what) + ")", Style::kNotice};
  }

  std::vector<std::string> framework_lines(const Process& process) const {
    std::vector<std::string> lines;
    if (!process.framework) return lines;
    const model::FrameworkUse& told = *process.framework;
    if (told.reserved_bytes && told.allocated_bytes &&
        *told.allocated_bytes <= *told.reserved_bytes) {
      lines.push_back(say(MessageId::kWhoReserved, options_.lang, told.framework,
                          bytes_text(*told.reserved_bytes), bytes_text(*told.allocated_bytes),
                          bytes_text(*told.reserved_bytes - *told.allocated_bytes)));
    }
    if (told.step_seconds && told.data_wait_ratio) {
      lines.push_back(say(MessageId::kWhoSteps, options_.lang, fixed(*told.step_seconds, 3),
                          percent_text(*told.data_wait_ratio)));
    }
    return lines;
  }

  std::string state_text(const DeviceSnapshot& device) const {
    switch (device.state) {
      case DeviceState::kAsleep: return word(MessageId::kWordAsleep);
      case DeviceState::kReleased: return word(MessageId::kWordReleased);
      case DeviceState::kLost: return word(MessageId::kReasonLost);
      default: break;
    }
    return std::string(kAbsentMark) + " " + word(model::reason_message(device.processes_reason));
  }

  // Whether all that the device has is shown at the instances that it is divided into.
  bool is_shown_by_instances(const DeviceSnapshot& device) const {
    std::vector<int64_t> pids;
    bool has_instances = false;
    for (const DeviceSnapshot& other : snapshot_.devices) {
      if (other.device->parent != device.device->uuid) continue;
      has_instances = true;
      for (const Process& process : other.processes) pids.push_back(process.pid);
    }
    return has_instances && std::ranges::all_of(device.processes, [&](const Process& process) {
             return std::ranges::find(pids, process.pid) != pids.end();
           });
  }

  const model::Snapshot& snapshot_;
  const ViewOptions& options_;
  bool with_cpu_ = true;
  bool with_since_ = true;
  bool with_place_ = true;
};

}  // namespace

std::string place_text(const Owner& owner) {
  if (!owner.job.empty()) return "job " + owner.job;
  if (!owner.pod.empty()) {
    return "pod " + (owner.pod_namespace.empty() ? "" : owner.pod_namespace + "/") + owner.pod;
  }
  if (!owner.container.empty()) {
    return (owner.runtime.empty() ? "container" : owner.runtime) + " " + owner.container;
  }
  return owner.unit;
}

std::string who_text(const model::Snapshot& snapshot, const ViewOptions& options) {
  return WhoTable(snapshot, options).render();
}

}  // namespace gpusight::cli
