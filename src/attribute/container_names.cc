#include "attribute/container_names.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace gpusight::attribute {
namespace {

using nlohmann::json;

constexpr size_t kMaxAnswerBytes = 4 << 20;
constexpr size_t kIdDigits = 64;
constexpr std::string_view kDockerSocket = "/run/docker.sock";
constexpr std::string_view kPodmanSocket = "/run/podman/podman.sock";
constexpr std::string_view kStorage = "/var/lib/containers/storage/overlay-containers/";
// What stands before and after the id in the path of a bundle's config.json.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kBundles = {{
    {"/run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json"},
    {"/run/containerd/io.containerd.runtime.v2.task/moby/", "/config.json"},
    {"/run/containerd/io.containerd.runtime.v2.task/default/", "/config.json"},
    {"/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json"},
    {"/run/containers/storage/overlay-containers/", "/userdata/config.json"},
    {"/var/lib/containers/storage/overlay-containers/", "/userdata/config.json"},
}};

std::optional<json> parse_object(std::string_view text) {
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return std::nullopt;
  return document;
}

// The member, or null where there is none.
const json& member(const json& object, std::string_view key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto at = object.find(key);
  return at == object.end() ? kNone : *at;
}

std::string text_of(const json& object, std::string_view key) {
  const json& value = member(object, key);
  return value.is_string() ? clean_text(value.get_ref<const std::string&>()) : std::string();
}

// The first of the keys that says something.
template <size_t N>
std::string first_of(const json& labels, const std::array<std::string_view, N>& keys) {
  for (const std::string_view key : keys) {
    if (std::string text = text_of(labels, key); !text.empty()) return text;
  }
  return "";
}

// From labels or annotations: the kubelet's own, then those of containerd's CRI plugin, of CRI-O
// and of nerdctl.
ContainerName from_labels(const json& labels) {
  constexpr std::array<std::string_view, 3> kNames = {
      "io.kubernetes.container.name", "io.kubernetes.cri.container-name", "nerdctl/name"};
  constexpr std::array<std::string_view, 2> kPods = {"io.kubernetes.pod.name",
                                                     "io.kubernetes.cri.sandbox-name"};
  constexpr std::array<std::string_view, 2> kNamespaces = {"io.kubernetes.pod.namespace",
                                                           "io.kubernetes.cri.sandbox-namespace"};
  constexpr std::array<std::string_view, 3> kImages = {
      "io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName", "nerdctl/image"};
  return {.name = first_of(labels, kNames),
          .image = first_of(labels, kImages),
          .pod = first_of(labels, kPods),
          .pod_namespace = first_of(labels, kNamespaces)};
}

bool is_id(std::string_view id) {
  return id.size() == kIdDigits && std::ranges::all_of(id, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::optional<ContainerName> parse_docker_container(std::string_view text) {
  const auto document = parse_object(text);
  if (!document) return std::nullopt;
  const json& config = member(*document, "Config");
  ContainerName found = from_labels(member(config, "Labels"));
  std::string name = text_of(*document, "Name");
  if (name.starts_with('/')) name.erase(0, 1);
  // Of a pod's container the kubelet's name, not the long one that it made for Docker.
  if (found.name.empty()) found.name = std::move(name);
  found.image = text_of(config, "Image");
  if (found.name.empty()) return std::nullopt;
  return found;
}

std::optional<ContainerName> parse_bundle(std::string_view text) {
  const auto document = parse_object(text);
  if (!document) return std::nullopt;
  ContainerName found = from_labels(member(*document, "annotations"));
  if (found == ContainerName{}) return std::nullopt;
  return found;
}

std::optional<ContainerName> parse_storage_list(std::string_view text, std::string_view id) {
  const json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return std::nullopt;
  for (const json& row : list) {
    const json& own_id = member(row, "id");
    if (!own_id.is_string() || own_id.get_ref<const std::string&>() != id) continue;
    const json& names = member(row, "names");
    const bool has_name = names.is_array() && !names.empty() && names[0].is_string();
    if (!has_name) return std::nullopt;
    // Podman's own record of it is JSON inside a text.
    const json& record = member(row, "metadata");
    const auto metadata =
        record.is_string() ? parse_object(record.get_ref<const std::string&>()) : std::nullopt;
    return ContainerName{.name = clean_text(names[0].get_ref<const std::string&>()),
                         .image = metadata ? text_of(*metadata, "image-name") : ""};
  }
  return std::nullopt;
}

ContainerNames::ContainerNames(platform::RootFs root, const Clock* clock)
    : root_(std::move(root)), clock_(clock), http_(platform::make_http_client()) {}

ContainerName ContainerNames::find(const std::string& id, std::string_view runtime) {
  if (!is_id(id)) return {};  // the name itself, for LXC; nothing else goes into a path
  std::optional<ContainerName> found;
  const bool is_docker = runtime == "docker" || runtime.empty();
  const bool is_podman = runtime == "podman" || runtime.empty();
  if (is_docker) found = ask_socket(std::string(kDockerSocket), id);
  if (!found && is_podman) found = ask_socket(std::string(kPodmanSocket), id);
  if (!found && is_podman) found = read_storage(id);
  if (!found) found = read_bundle(id);
  return found.value_or(ContainerName{});
}

std::optional<ContainerName> ContainerNames::ask_socket(const std::string& path,
                                                        const std::string& id) {
  const MonoTime now = clock_->mono();
  const auto paused = paused_until_.find(path);
  if (paused != paused_until_.end() && now < paused->second) return std::nullopt;
  const auto answer = http_->ask({.endpoint = {.unix_socket = root_.real_path(path)},
                                  .target = "/containers/" + id + "/json",
                                  .deadline = kPatience,
                                  .max_body_bytes = kMaxAnswerBytes});
  std::string fault;
  if (!answer.ok()) {
    if (answer.status().code() != Code::kNotFound) fault = answer.status().message();
    paused_until_[path] = clock_->mono() + kPause;
  } else if (answer->status == 200) {
    if (auto found = parse_docker_container(answer->body)) {
      faults_.clear(path);
      return found;
    }
    fault = "the answer about a container is not understood";
  } else if (answer->status != 404) {
    fault = "HTTP status " + std::to_string(answer->status);
    paused_until_[path] = clock_->mono() + kPause;
  }
  if (!fault.empty()) faults_.report(path, fault + "; its containers have no names");
  return std::nullopt;
}

std::optional<ContainerName> ContainerNames::read_bundle(const std::string& id) {
  for (const auto& [before, after] : kBundles) {
    const auto text = read_file(std::string(before) + id + std::string(after));
    auto found = text ? parse_bundle(*text) : std::nullopt;
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<ContainerName> ContainerNames::read_storage(const std::string& id) {
  const auto text = read_file(std::string(kStorage) + "containers.json");
  return text ? parse_storage_list(*text, id) : std::nullopt;
}

std::optional<std::string> ContainerNames::read_file(const std::string& path) {
  Result<std::string> text = root_.read(path, kMaxAnswerBytes);
  if (text.ok()) return std::move(text).value();
  if (text.status().code() == Code::kPermissionDenied) {
    // A folder for each container: the place is named, not the file.
    const std::string place = path.substr(0, path.find('/', path.find('/', 1) + 1));
    faults_.report(place, "no permission; names of its containers are not known");
  }
  return std::nullopt;
}

}  // namespace gpusight::attribute
