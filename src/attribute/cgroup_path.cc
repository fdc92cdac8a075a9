#include "attribute/cgroup_path.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace gpusight::attribute {
namespace {

constexpr size_t kPathBytes = 1024;
constexpr size_t kIdLength = 64;
constexpr size_t kMostJobDigits = 20;
constexpr size_t kUidLength = 36;        // with its hyphens
constexpr size_t kMirrorUidLength = 32;  // of a pod that the kubelet has from a file

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}
bool is_id(std::string_view text) { return text.size() == kIdLength && is_hex(text); }

bool is_job_number(std::string_view text) {
  return !text.empty() && text.size() <= kMostJobDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Takes the prefix away if it is there.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}
bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// "docker-ID.scope" and what else a runtime writes before the id.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kRuntimes = {{
    {"docker-", "docker"},
    {"libpod-", "podman"},
    {"cri-containerd-", "containerd"},
    {"nerdctl-", "containerd"},
    {"crio-", "cri-o"},
    {"cri-o-", "cri-o"},
}};

class Reader {
 public:
  CgroupPlace read(std::string_view path) {
    place_.path = clean_text(path, kPathBytes);
    std::string_view before;
    while (!path.empty()) {
      const size_t end = std::min(path.find('/'), path.size());
      const std::string_view name = path.substr(0, end);
      path.remove_prefix(std::min(end + 1, path.size()));
      if (name.empty()) continue;
      read_name(name, before);
      before = name;
    }
    if (!unit_.empty()) place_.unit = clean_text(unit_);
    return std::move(place_);
  }

 private:
  void read_name(std::string_view name, std::string_view before) {
    if (read_container(name, before) || read_pod(name) || read_job(name, before)) return;
    if (name == "kubepods" || name.starts_with("kubepods.slice")) in_kubernetes_ = true;
    if (name.ends_with(".service") || name.ends_with(".scope")) unit_ = name;
  }

  void found(std::string_view id, std::string_view runtime) {
    place_.container_id = clean_text(id);
    place_.runtime = runtime;
    unit_ = {};
  }

  bool read_container(std::string_view name, std::string_view before) {
    std::string_view id = name;
    const bool is_scope = take_suffix(id, ".scope");
    for (const auto& [prefix, runtime] : kRuntimes) {
      std::string_view rest = id;
      if (take_prefix(rest, prefix) && is_id(rest)) return found(rest, runtime), true;
    }
    // containerd below a runtime that was told of another kind of groups:
    // "SLICE:cri-containerd:ID".
    const size_t colon = name.rfind(':');
    if (colon != std::string_view::npos && is_id(name.substr(colon + 1))) {
      (void)read_pod(name.substr(0, name.find(':')));
      return found(name.substr(colon + 1), "containerd"), true;
    }
    if (is_id(name)) {
      return found(name, before == "docker" ? "docker" : ""), true;
    }
    if (before == "lxc" || before == "lxc.payload") return found(name, "lxc"), true;
    if (take_prefix(id = name, "lxc.payload.") && !id.empty()) return found(id, "lxc"), true;
    id = name;
    if (is_scope && before == "machine.slice" && take_prefix(id, "machine-")) {
      take_suffix(id, ".scope");
      return found(id, "nspawn"), true;
    }
    return false;
  }

  bool read_pod(std::string_view name) {
    std::string_view uid = name;
    if (take_suffix(uid, ".slice")) {
      const size_t at = uid.rfind("-pod");
      if (!uid.starts_with("kubepods-") || at == std::string_view::npos) return false;
      uid.remove_prefix(at + std::string_view("-pod").size());
    } else if (!in_kubernetes_ || !take_prefix(uid, "pod")) {
      return false;
    }
    std::string text(uid);
    std::ranges::replace(text, '_', '-');
    std::string digits = text;
    std::erase(digits, '-');
    if ((text.size() != kUidLength && text.size() != kMirrorUidLength) || !is_hex(digits)) {
      return false;
    }
    place_.pod_uid = std::move(text);
    return true;
  }

  bool read_job(std::string_view name, std::string_view before) {
    if (name.starts_with("slurm") || name.ends_with("slurmstepd.scope")) in_slurm_ = true;
    std::string_view rest = name;
    if (in_slurm_ && take_prefix(rest, "job_") && is_job_number(rest)) {
      place_.job = rest;
      return true;
    }
    rest = name;
    const bool is_step = in_slurm_ && !place_.job.empty() && take_prefix(rest, "step_");
    if (is_step && !rest.empty()) {
      // Told once: what a job makes below its step is its own affair.
      if (place_.job.find('.') == std::string::npos) place_.job += "." + clean_text(rest, 32);
      return true;
    }
    if (before == "jobid" && place_.job.empty()) {
      place_.job = clean_text(name, 64);
      return true;
    }
    return false;
  }

  CgroupPlace place_;
  std::string_view unit_;
  bool in_kubernetes_ = false;
  bool in_slurm_ = false;
};

int told_by(const CgroupPlace& place) {
  return (place.container_id.empty() ? 0 : 8) + (place.pod_uid.empty() ? 0 : 4) +
         (place.job.empty() ? 0 : 2) + (place.unit.empty() ? 0 : 1);
}

}  // namespace

CgroupPlace parse_cgroup(std::string_view text) {
  CgroupPlace best;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // "ID:CONTROLLERS:PATH"; the path may hold colons.
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    line.remove_prefix(second + 1);
    take_suffix(line, " (deleted)");
    CgroupPlace place = Reader().read(line);
    // Version 2 ("0::…") is the last line.
    if (told_by(place) >= told_by(best)) best = std::move(place);
  }
  return best;
}

}  // namespace gpusight::attribute
