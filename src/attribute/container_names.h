// What a container's runtime calls it, by its id, from places that are only read:
//
//   Docker, Podman        their HTTP API: GET /containers/ID/json on /run/docker.sock and
//                         /run/podman/podman.sock; for Podman without it, containers.json
//   containerd, CRI-O     the bundle's config.json, whose annotations name the pod
//   Kubernetes            the labels that the kubelet gives each container, in any of these
//
// A place that is missing, refuses us, hangs or answers nonsense is left alone for kPause; what it
// said is logged once. One answer costs a request of at most kPatience, or a few files.
//
// find() blocks for as long as that: called on a thread of LookUps, one at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "platform/http_client.h"
#include "platform/root_fs.h"

namespace gpusight::attribute {

// Empty: not told.
struct ContainerName {
  std::string name;
  std::string image;
  std::string pod;
  std::string pod_namespace;

  bool operator==(const ContainerName&) const = default;
};

// The parsers: pure; nullopt where the text is not that.
std::optional<ContainerName> parse_docker_container(std::string_view json);
std::optional<ContainerName> parse_bundle(std::string_view json);
// Of the list that containers/storage keeps, the one with this id.
std::optional<ContainerName> parse_storage_list(std::string_view json, std::string_view id);

class ContainerNames {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(1);
  static constexpr Duration kPause = std::chrono::seconds(30);

  // The clock outlives it.
  ContainerNames(platform::RootFs root, const Clock* clock);

  // `runtime` as model::Owner has it; empty: not known, all are asked. All empty: nobody knows it.
  ContainerName find(const std::string& id, std::string_view runtime);

 private:
  std::optional<ContainerName> ask_socket(const std::string& path, const std::string& id);
  std::optional<ContainerName> read_bundle(const std::string& id);
  std::optional<ContainerName> read_storage(const std::string& id);
  std::optional<std::string> read_file(const std::string& path);

  const platform::RootFs root_;
  const Clock* const clock_;
  const std::unique_ptr<platform::HttpClient> http_;
  std::map<std::string, MonoTime> paused_until_;  // by the socket's path
  log::FaultLog faults_;
};

}  // namespace gpusight::attribute
