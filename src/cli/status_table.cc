#include "cli/status_table.h"

#include <algorithm>
#include <cmath>

#include "base/display_width.h"
#include "cli/status_parts.h"
#include "cli/table.h"

namespace gpusight::cli {
namespace {

using catalog::MessageId;
using catalog::MetricId;
using model::DeviceSnapshot;
using model::DeviceState;
using model::Reason;

// What a wide terminal has room for beside the columns that are always there.
struct Extras {
  bool bar = false;
  bool clock = false;
  bool fan = false;
};

constexpr size_t kOwnersWanted = 34;  // columns that must be left for owners before an extra fits
constexpr size_t kBarCells = 10;

std::string bar_text(double ratio) {
  auto full = static_cast<size_t>(std::lround(std::clamp(ratio, 0.0, 1.0) * kBarCells));
  // All full and all empty are kept for what is shown as 100 % and 0 %.
  if (full == kBarCells && ratio < 0.995) --full;
  if (full == 0 && ratio >= 0.005) ++full;
  std::string text;
  for (size_t i = 0; i < kBarCells; ++i) text += i < full ? "█" : "░";
  return text;
}

Style temperature_style(double celsius) {
  return celsius >= 90 ? Style::kBad : celsius >= 80 ? Style::kNotice : Style::kPlain;
}

class StatusTable {
 public:
  StatusTable(const model::Snapshot& snapshot, const ViewOptions& options)
      : snapshot_(snapshot), options_(options) {
    for (const DeviceSnapshot& d : snapshot.devices) {
      has_state_ = has_state_ || !state_word(d).empty();
    }
  }

  std::string render(Notes& notes) {
    const Extras extras = choose_extras();
    const Layout layout = fit(extras);
    Table table = build(layout, &notes);
    return table.render(options_.width, options_.colour);
  }

 private:
  struct Layout {
    Extras extras;
    size_t name_width = 28;
    bool power_limit = true;
    size_t owners_width = 0;
  };

  std::string word(MessageId id) const { return say(id, options_.lang); }

  Extras choose_extras() {
    Extras extras;
    for (bool Extras::*extra : {&Extras::clock, &Extras::bar, &Extras::fan}) {
      Extras more = extras;
      more.*extra = true;
      if (extra == &Extras::fan && !any_fan()) continue;
      if (build({.extras = more}, nullptr).fixed_width() + kOwnersWanted <= options_.width) {
        extras = more;
      }
    }
    return extras;
  }

  bool any_fan() const {
    return std::ranges::any_of(snapshot_.devices,
                               [&](const DeviceSnapshot& d) { return first_fan(d).has_value(); });
  }

  // The name gives way first, then the power limit: who it is matters more.
  Layout fit(const Extras& extras) {
    Layout layout{.extras = extras};
    const auto left_for_owners = [&] {
      const size_t used = build(layout, nullptr).fixed_width();
      return options_.width > used ? options_.width - used : 0;
    };
    constexpr size_t kGoodOwners = 16;   // "alice/python3 47"
    constexpr size_t kLeastOwners = 10;  // "alice 4711"
    for (const size_t name_width : {28, 22, 18, 14}) {
      layout.name_width = name_width;
      if (left_for_owners() >= kGoodOwners) break;
    }
    layout.power_limit = left_for_owners() >= kLeastOwners;
    layout.owners_width = left_for_owners();
    return layout;
  }

  Table build(const Layout& layout, Notes* notes) {
    std::vector<Column> columns = {{word(MessageId::kWordGpu), Align::kRight, 12},
                                   {word(MessageId::kWordName), Align::kLeft, layout.name_width}};
    if (layout.extras.bar) columns.push_back({"", Align::kLeft, kBarCells});
    columns.push_back({word(MessageId::kWordUtilization), Align::kRight});
    columns.push_back({word(MessageId::kWordMemory), Align::kRight});
    columns.push_back({word(MessageId::kWordPower), Align::kRight});
    columns.push_back({word(MessageId::kWordTemperature), Align::kRight});
    if (layout.extras.fan) columns.push_back({word(MessageId::kViewFan), Align::kRight});
    if (layout.extras.clock) columns.push_back({word(MessageId::kViewClock), Align::kRight});
    if (has_state_) columns.push_back({word(MessageId::kWordState), Align::kLeft, 24});
    columns.push_back({word(MessageId::kViewOwners), Align::kLeft});
    Table table(std::move(columns));
    for (const DeviceSnapshot& d : snapshot_.devices) table.add(row(d, layout, notes));
    return table;
  }

  std::vector<Cell> row(const DeviceSnapshot& d, const Layout& layout, Notes* notes) {
    const bool is_mig = d.device->kind == model::DeviceKind::kMig;
    std::vector<Cell> cells = {{is_mig ? "" : device_label(snapshot_, d)}, {name_text(d)}};
    if (d.state == DeviceState::kAsleep || d.state == DeviceState::kLost ||
        d.state == DeviceState::kReleased) {
      const bool lost = d.state == DeviceState::kLost;
      cells[1].style = lost ? Style::kBad : Style::kDim;
      cells.push_back({since_text(d), cells[1].style});
      return cells;
    }
    if (layout.extras.bar) cells.push_back(bar_cell(d));
    cells.push_back(utilization_cell(d, notes));
    cells.push_back(memory_cell(d, notes));
    cells.push_back(power_cell(d, layout, notes));
    cells.push_back(temperature_cell(d, notes));
    if (layout.extras.fan) cells.push_back(fan_cell(d));
    if (layout.extras.clock) cells.push_back(clock_cell(d));
    if (has_state_) cells.push_back({state_word(d), Style::kNotice});
    cells.push_back(owners_cell(d, layout, notes));
    return cells;
  }

  std::string name_text(const DeviceSnapshot& d) const {
    const model::Device& device = *d.device;
    if (device.kind == model::DeviceKind::kMig) {
      std::string text = is_last_of_parent(d) ? "└ " : "├ ";
      text += device.profile.empty() ? device.name : device.profile;
      if (device.gpu_instance) text += " gi " + std::to_string(*device.gpu_instance);
      return text;
    }
    std::string_view name = device.name.empty() ? std::string_view(device.pci) : device.name;
    if (device.vendor == "nvidia" && name.starts_with("NVIDIA ")) name.remove_prefix(7);
    return std::string(name);
  }

  bool is_last_of_parent(const DeviceSnapshot& d) const {
    const auto& all = snapshot_.devices;
    const auto next = std::next(std::ranges::find(all, &d, [](const auto& x) { return &x; }));
    return next == all.end() || next->device->parent != d.device->parent;
  }

  std::string since_text(const DeviceSnapshot& d) const {
    const bool known = d.state_since != WallTime{};
    const std::string when =
        known ? clock_text(d.state_since, snapshot_.wall, options_.zone) : std::string(kAbsentMark);
    if (d.state == DeviceState::kLost) {
      return known ? say(MessageId::kWordLostSince, options_.lang, when)
                   : say(MessageId::kReasonLost, options_.lang);
    }
    const bool is_released = d.state == DeviceState::kReleased;
    const std::string what = word(is_released ? MessageId::kWordReleased : MessageId::kWordAsleep);
    return known ? say(MessageId::kViewSince, options_.lang, what, when) : what;
  }

  std::string state_word(const DeviceSnapshot& d) const {
    if (d.state == DeviceState::kBusy) return word(MessageId::kWordBusy);
    if (d.state != DeviceState::kActive) return {};
    return throttle_text(d.samples, options_.lang);
  }

  // The reading, with what is wrong with it noted; nullopt draws the absent mark.
  Reading take(const DeviceSnapshot& d, MetricId metric, Notes* notes) const {
    const Reading r = reading(snapshot_, d.samples, metric);
    if (notes == nullptr) return r;
    if (r.stale) notes->stale(r.age_seconds, r.reason);
    if (!r.number) {
      notes->absent(std::string(catalog::metric(metric).brief.in(options_.lang)),
                    device_label(snapshot_, d), r.reason);
    }
    return r;
  }

  static Cell cell(const Reading& r, const std::string& text, Style style = Style::kPlain) {
    if (r.stale) return {text + "*", Style::kDim};
    return {text, r.number ? style : Style::kDim};
  }

  Cell bar_cell(const DeviceSnapshot& d) const {
    const Reading r = reading(snapshot_, d.samples, MetricId::kGpuUtilization);
    if (!r.number) return {""};
    return {bar_text(*r.number), r.stale ? Style::kDim : Style::kGood};
  }

  Cell utilization_cell(const DeviceSnapshot& d, Notes* notes) const {
    const Reading r = take(d, MetricId::kGpuUtilization, notes);
    return cell(r, r.number ? percent_text(*r.number) : std::string(kAbsentMark));
  }

  Cell memory_cell(const DeviceSnapshot& d, Notes* notes) const {
    const Reading used = take(d, MetricId::kGpuMemoryUsed, notes);
    const Reading total = reading(snapshot_, d.samples, MetricId::kGpuMemoryTotal);
    const bool nearly_full = used.number && total.number && *used.number > 0.95 * *total.number;
    return cell(used, memory_text(used.number, total.number),
                nearly_full ? Style::kNotice : Style::kPlain);
  }

  // Power, temperature, fans belong to the whole board: an instance has none, and that is no fault.
  static bool is_boards_own(const DeviceSnapshot& d, const Reading& r) {
    return d.device->kind == model::DeviceKind::kMig && !r.number &&
           r.reason == Reason::kNotSupported;
  }

  Cell power_cell(const DeviceSnapshot& d, const Layout& layout, Notes* notes) const {
    if (is_boards_own(d, reading(snapshot_, d.samples, MetricId::kGpuPower))) return {""};
    const Reading r = take(d, MetricId::kGpuPower, notes);
    const Reading limit = reading(snapshot_, d.samples, MetricId::kGpuPowerLimit);
    return cell(r, power_text(r.number, layout.power_limit ? limit.number : std::nullopt));
  }

  Cell temperature_cell(const DeviceSnapshot& d, Notes* notes) const {
    if (is_boards_own(d, reading(snapshot_, d.samples, MetricId::kGpuTemperature))) return {""};
    const Reading r = take(d, MetricId::kGpuTemperature, notes);
    if (!r.number) return cell(r, std::string(kAbsentMark));
    return cell(r, celsius_text(*r.number), temperature_style(*r.number));
  }

  static std::optional<double> first_fan(const DeviceSnapshot& d) {
    for (const model::Sample& s : d.samples) {
      if (s.metric == MetricId::kGpuFanSpeed && s.value.number()) return s.value.number();
    }
    return std::nullopt;
  }

  static Cell fan_cell(const DeviceSnapshot& d) {
    const std::optional<double> fan = first_fan(d);
    return {fan ? percent_text(*fan) : ""};
  }

  Cell clock_cell(const DeviceSnapshot& d) const {
    const Reading r = reading(snapshot_, d.samples, MetricId::kGpuClock, "graphics");
    if (!r.number) return {""};
    return cell(r, megahertz_text(*r.number));
  }

  Cell owners_cell(const DeviceSnapshot& d, const Layout& layout, Notes* notes) const {
    if (!d.processes_known && d.hidden_users.empty()) {
      if (is_parent_of_instances(d)) return {""};
      if (notes != nullptr) {
        notes->absent(word(MessageId::kViewOwners), device_label(snapshot_, d), d.processes_reason);
      }
      return {std::string(kAbsentMark), Style::kDim};
    }
    return {fitted_owners_text(d, options_.lang, layout.owners_width)};
  }

  bool is_parent_of_instances(const DeviceSnapshot& d) const {
    return std::ranges::any_of(snapshot_.devices, [&](const DeviceSnapshot& other) {
      return other.device->parent == d.device->uuid;
    });
  }

  const model::Snapshot& snapshot_;
  const ViewOptions& options_;
  bool has_state_ = false;
};

// Host, count, drivers and time: who is speaking.
std::string head_line(const model::Snapshot& snapshot, const ViewOptions& options) {
  size_t gpus = 0;
  std::vector<std::string> drivers;
  for (const DeviceSnapshot& d : snapshot.devices) {
    if (d.device->kind != model::DeviceKind::kGpu) continue;
    ++gpus;
    if (!d.device->driver.empty() &&
        std::ranges::find(drivers, d.device->driver) == drivers.end()) {
      drivers.push_back(d.device->driver);
    }
  }
  std::string left = snapshot.host_name;
  const auto add = [&](const std::string& text) { left += (left.empty() ? "" : "  ") + text; };
  if (gpus == 1) add(say(MessageId::kViewOneGpu, options.lang));
  if (gpus > 1) add(say(MessageId::kViewGpus, options.lang, std::to_string(gpus)));
  for (const std::string& driver : drivers) {
    add(say(MessageId::kViewDriver, options.lang) + " " + driver);
  }
  const std::string when = date_time_text(snapshot.wall, options.zone);
  const size_t used = display_width(left) + display_width(when);
  if (used + 2 > options.width) return fit_width(left, options.width) + "\n";
  return left + std::string(options.width - used, ' ') + when + "\n";
}

std::string wrapped(const std::string& text, size_t width, Style style, bool colour) {
  if (display_width(text) <= width) return styled(text, style, colour) + "\n";
  std::string out;
  for (const std::string& line : wrap_lines(text, width)) {
    out += styled(fit_width(line, width), style, colour) + "\n";
  }
  return out;
}

// What a source says of itself: always when it is not well; when nothing is seen, in any case.
std::string source_lines(const model::Snapshot& snapshot, const ViewOptions& options) {
  std::string out;
  for (const model::SourceStatus& source : snapshot.sources) {
    const bool well = source.phase == model::SourcePhase::kRunning;
    if (source.name == "host" && well) continue;
    const std::string text =
        catalog::format_message(source.message, options.lang, source.arguments);
    if (snapshot.devices.empty() && source.name != "host") {
      out += wrapped(say(MessageId::kNoDevices, options.lang, text), options.width, Style::kNotice,
                     options.colour);
    } else if (!well && source.phase != model::SourcePhase::kAbsent) {
      out += wrapped(say(MessageId::kViewSourceLine, options.lang, source.name, text),
                     options.width, Style::kNotice, options.colour);
    }
  }
  return out;
}

// Who has a GPU open that nobody works on. A device that could not sleep has no such list.
std::string holder_lines(const model::Snapshot& snapshot, const ViewOptions& options) {
  std::string out;
  for (const DeviceSnapshot& d : snapshot.devices) {
    const bool is_unused = d.processes_known && d.processes.empty() && d.hidden_users.empty();
    if (d.state != DeviceState::kActive || !is_unused || !d.holders) continue;
    std::string names;
    for (const model::Holder& holder : d.holders->processes) {
      names += (names.empty() ? "" : ", ") + holder.owner.command;
      names += " (" + std::to_string(holder.pid) + ")";
    }
    if (names.empty() && !d.holders->is_partial) continue;
    const std::string label = device_label(snapshot, d);
    const std::string text = names.empty()
                                 ? say(MessageId::kViewHoldersUnseen, options.lang, label)
                                 : say(MessageId::kViewHolders, options.lang, label, names);
    out += wrapped(text, options.width, Style::kDim, options.colour);
  }
  return out;
}

}  // namespace

std::string status_text(const model::Snapshot& snapshot, const ViewOptions& options) {
  std::string out;
  if (snapshot.simulated) {
    const std::string badge = " " + say(MessageId::kViewSimulated, options.lang) + " ";
    // Without colours nothing frames the words, so the spaces around them go too.
    out += options.colour ? styled(fit_width(badge, options.width), Style::kBadge, true)
                          : fit_width(badge.substr(1, badge.size() - 2), options.width);
    out += "\n";
  }
  out += head_line(snapshot, options) + "\n";
  Notes notes;
  if (!snapshot.devices.empty()) out += StatusTable(snapshot, options).render(notes);
  const std::string sources = source_lines(snapshot, options);
  if (!sources.empty() && !snapshot.devices.empty()) out += "\n";
  out += sources;
  if (snapshot.devices.empty()) {
    if (snapshot.sources.empty()) out += say(MessageId::kNothingToShow, options.lang) + "\n";
    out += "\n" + wrapped(say(MessageId::kSimulatedOffer, options.lang, std::string("status")),
                          options.width, Style::kDim, options.colour);
  }
  const std::vector<std::string> lines = notes.lines(options.lang);
  if (!lines.empty()) out += "\n";
  for (const std::string& line : lines) {
    out += wrapped(line, options.width, Style::kDim, options.colour);
  }
  const std::string holders = holder_lines(snapshot, options);
  if (!holders.empty()) out += "\n" + holders;
  const std::string host = host_text(snapshot, options.lang);
  if (!host.empty()) {
    out += "\n" + wrapped(say(MessageId::kWordHost, options.lang) + "  " + host, options.width,
                          Style::kPlain, options.colour);
  }
  return out;
}

}  // namespace gpusight::cli
