#include "collect/host/network_reader.h"

#include <optional>

namespace gpusight::collect::host {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr MetricId kAll[] = {MetricId::kHostNetworkReceive, MetricId::kHostNetworkTransmit};

struct Interface {
  std::string_view name;
  uint64_t received = 0;
  uint64_t sent = 0;
};

// "  eth0: 1 2 3 …": received bytes are the first number, sent bytes the ninth.
std::optional<Interface> parse_line(std::string_view line) {
  // The last colon: an alias has one in its name, numbers have none.
  const size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view front = line.substr(0, colon);
  line.remove_prefix(colon + 1);
  Interface found{.name = take_word(front)};
  for (size_t i = 0; i < 9; ++i) {
    const auto number = take_uint(line);
    if (!number || found.name.empty()) return std::nullopt;
    if (i == 0) found.received = *number;
    found.sent = *number;
  }
  return found;
}

bool is_left_out(std::string_view name) { return name == "lo" || name.starts_with("veth"); }

}  // namespace

void NetworkReader::poll(Report& report) {
  if (!file_.read()) return file_.absent(report, kAll);
  size_t lines = 0;
  size_t interfaces = 0;
  std::string_view text = file_.text();
  while (!text.empty()) {
    const auto found = parse_line(take_line(text));
    if (!found) continue;  // the two lines of titles, or garbage
    ++lines;
    if (is_left_out(found->name)) continue;
    if (interfaces == kMostInterfaces) {
      faults_.report("host network", "more interfaces than are kept; the last are left out");
      break;
    }
    ++interfaces;
    const std::string_view label = plain_label(found->name, scratch_);
    report.set(MetricId::kHostNetworkReceive, static_cast<double>(found->received), {}, label);
    report.set(MetricId::kHostNetworkTransmit, static_cast<double>(found->sent), {}, label);
  }
  // Every network namespace has a loopback: without a single line the text is not the kernel's.
  if (lines == 0) {
    file_.not_understood();
    return file_.absent(report, kAll);
  }
  file_.understood();
  if (interfaces > 0) return;
  for (const MetricId metric : kAll) report.absent(metric, Reason::kNotSupported);
}

}  // namespace gpusight::collect::host
