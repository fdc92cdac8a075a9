#include "attribute/job_maps.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace gpusight::attribute {
namespace {

constexpr std::string_view kJobstats = "/run/gpustat";
constexpr size_t kMaxIdBytes = 64;
constexpr size_t kMaxJobs = 64;               // of one GPU
constexpr uint32_t kFirstOrdinaryUid = 1000;  // below it are the system's own users

using Parser = DeviceJobs (*)(std::string_view text);

void read_folder(const platform::RootFs& root, const std::string& folder, Parser parse,
                 std::map<std::string, DeviceJobs>& jobs) {
  size_t files = 0;
  for (const std::string& name : root.list(folder)) {
    if (++files > JobMaps::kMaxFiles) return;
    std::string path = folder;
    path.append(1, '/').append(name);
    const auto text = root.read(path, JobMaps::kMaxFileBytes);
    DeviceJobs found = text.ok() ? parse(*text) : DeviceJobs{};
    // Where both folders are kept, the one that also tells the user was read first.
    if (!found.ids.empty()) jobs.emplace(name, std::move(found));
  }
}

bool is_of(const DeviceJobs& jobs, const model::Owner& owner) {
  if (jobs.ids.size() != 1 || !owner.uid) return false;
  return jobs.uid ? *jobs.uid == *owner.uid : *owner.uid >= kFirstOrdinaryUid;
}

void add_job(const DeviceJobs& jobs, std::vector<model::Process>& processes) {
  for (model::Process& process : processes) {
    if (process.owner.job.empty() && is_of(jobs, process.owner)) process.owner.job = jobs.ids[0];
  }
}

}  // namespace

DeviceJobs parse_jobstats(std::string_view text) {
  const auto words = split_words(text.substr(0, text.find('\n')));
  const auto uid = words.size() == 2 ? parse_uint(words[1]) : std::nullopt;
  // "0 0" stands there after the job.
  if (!uid || *uid > UINT32_MAX || words[0] == "0") return {};
  std::string id = clean_text(words[0], kMaxIdBytes);
  if (id.empty()) return {};
  return {.ids = {std::move(id)}, .uid = static_cast<uint32_t>(*uid)};
}

DeviceJobs parse_job_list(std::string_view text) {
  DeviceJobs jobs;
  for (const std::string_view line : split(text, '\n')) {
    std::string id = clean_text(line, kMaxIdBytes);
    if (id.empty() || id == "0" || std::ranges::find(jobs.ids, id) != jobs.ids.end()) continue;
    if (jobs.ids.size() == kMaxJobs) break;
    jobs.ids.push_back(std::move(id));
  }
  return jobs;
}

JobMaps::JobMaps(platform::RootFs root, std::string folder, const Clock* clock)
    : jobs_(
          [root = std::move(root), folder = std::move(folder)](int) {
            Jobs jobs;
            read_folder(root, std::string(kJobstats), parse_jobstats, jobs);
            if (!folder.empty()) read_folder(root, folder, parse_job_list, jobs);
            return jobs;
          },
          clock, kFreshFor) {}

void JobMaps::add_to(model::Snapshot& snapshot) {
  const bool is_wanted = std::ranges::any_of(snapshot.devices, [](const auto& device) {
    return std::ranges::any_of(device.processes,
                               [](const auto& process) { return process.owner.job.empty(); });
  });
  if (!is_wanted) return;
  const auto jobs = jobs_.ask(0);
  if (!jobs) return;
  for (model::DeviceSnapshot& row : snapshot.devices) {
    const model::Device& device = *row.device;
    auto found = jobs->find(device.uuid);
    // A part of a GPU has no index of its own there.
    if (found == jobs->end() && device.index && device.parent.empty()) {
      found = jobs->find(std::to_string(*device.index));
    }
    if (found != jobs->end()) add_job(found->second, row.processes);
  }
}

}  // namespace gpusight::attribute
