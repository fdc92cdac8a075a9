// Where a process belongs by its cgroup: the text of /proc/PID/cgroup, version 1, 2 or both.
//
// The spellings are those of the programs that make the groups:
//
//   Docker        /docker/ID, docker-ID.scope
//   Podman        libpod-ID.scope, libpod_parent/libpod-ID
//   containerd    cri-containerd-ID.scope, nerdctl-ID.scope, kubepods-….slice:cri-containerd:ID
//   CRI-O         crio-ID.scope, crio-ID
//   LXC, nspawn   lxc/NAME, lxc.payload.NAME, lxc.payload/NAME; machine-NAME.scope below
//   machine.slice Kubernetes    kubepods/…/podUID/ID, kubepods-…-podUID.slice (with '_' for '-')
//   Slurm         slurm…/uid_N/job_N/step_S, slurmstepd.scope/job_N/step_S
//   PBS           pbs_jobs.service/jobid/NAME
//   systemd       the innermost name that ends in .service or .scope
//
// A monitor beside a container (conmon, lxc.monitor) is not in it. An ID is 64 hexadecimal digits.
// The innermost container counts, and the innermost pod.
//
// Pure. The text comes from whoever may make cgroups: names are cleaned, of bounded length.
#pragma once

#include <string>
#include <string_view>

namespace gpusight::attribute {

// Empty: nowhere of that kind.
struct CgroupPlace {
  std::string path;          // of the hierarchy that told most; version 2 where both are alike
  std::string container_id;  // the name, for LXC and nspawn
  std::string runtime;       // "docker", "podman", "containerd", "cri-o", "lxc", "nspawn"
  std::string pod_uid;
  std::string job;   // "1234", "1234.0", "1234.batch"
  std::string unit;  // not that which a container's runtime made for it

  bool operator==(const CgroupPlace&) const = default;
};

CgroupPlace parse_cgroup(std::string_view text);

}  // namespace gpusight::attribute
