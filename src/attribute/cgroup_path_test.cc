#include "attribute/cgroup_path.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace gpusight::attribute {
namespace {

const std::string kId = "4f5d9a2b3c1e0f7a8b6d5c4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f40";
const std::string kOther = "0000000000000000000000000000000000000000000000000000000000000001";
const std::string kUid = "3f2a1b0c-9d8e-4f6a-8b4c-3d2e1f0a9b8c";
const std::string kUidInSlice = "3f2a1b0c_9d8e_4f6a_8b4c_3d2e1f0a9b8c";

CgroupPlace v2(const std::string& path) { return parse_cgroup("0::" + path + "\n"); }

// FAULT-111
TEST(CgroupPath, ContainersOfEveryRuntime) {
  const struct {
    std::string path;
    std::string runtime;
  } cases[] = {
      {"/docker/" + kId, "docker"},
      {"/system.slice/docker-" + kId + ".scope", "docker"},
      {"/system.slice/docker-" + kId + ".scope/init.scope", "docker"},
      {"/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" + kId + ".scope",
       "docker"},
      {"/ecs/0f1e2d3c/" + kId, ""},
      {"/machine.slice/libpod-" + kId + ".scope/container", "podman"},
      {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope",
       "podman"},
      {"/libpod_parent/libpod-" + kId, "podman"},
      {"/system.slice/nerdctl-" + kId + ".scope", "containerd"},
      {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUidInSlice +
           ".slice/cri-containerd-" + kId + ".scope",
       "containerd"},
      {"/kubepods.slice/kubepods-pod" + kUidInSlice + ".slice/crio-" + kId + ".scope", "cri-o"},
      {"/default/" + kId, ""},
      {"/../../kubepods/besteffort/pod" + kUid + "/" + kId, ""},
  };
  for (const auto& c : cases) {
    const CgroupPlace place = v2(c.path);
    EXPECT_EQ(place.container_id, kId) << c.path;
    EXPECT_EQ(place.runtime, c.runtime) << c.path;
    EXPECT_EQ(place.path, c.path);
  }
}

TEST(CgroupPath, SystemContainersAreKnownByTheirNames) {
  EXPECT_EQ(v2("/lxc/build box").container_id, "build box");
  EXPECT_EQ(v2("/lxc.payload.web/system.slice/ssh.service").container_id, "web");
  EXPECT_EQ(v2("/lxc.payload.web/system.slice/ssh.service").unit, "ssh.service");
  EXPECT_EQ(v2("/lxc.payload/web/init.scope").runtime, "lxc");
  EXPECT_EQ(v2("/machine.slice/machine-deb.scope/payload").container_id, "deb");
  EXPECT_EQ(v2("/machine.slice/machine-deb.scope/payload").runtime, "nspawn");
}

TEST(CgroupPath, AMonitorIsNotInTheContainerItWatches) {
  EXPECT_EQ(v2("/machine.slice/libpod-conmon-" + kId + ".scope").container_id, "");
  EXPECT_EQ(v2("/system.slice/crio-conmon-" + kId + ".scope").container_id, "");
  EXPECT_EQ(v2("/lxc.monitor.web").container_id, "");
}

// FAULT-111
TEST(CgroupPath, PodsByBothOfTheKubeletsSpellings) {
  for (const std::string& path :
       {fmt::format("/kubepods/burstable/pod{}/{}", kUid, kId),
        fmt::format("/kubepods/pod{}/{}", kUid, kId),
        fmt::format("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{}.slice"
                    "/cri-containerd-{}.scope",
                    kUidInSlice, kId),
        fmt::format("/system.slice/containerd.service/kubepods-burstable-pod{}.slice"
                    ":cri-containerd:{}",
                    kUidInSlice, kId)}) {
    EXPECT_EQ(v2(path).pod_uid, kUid) << path;
    EXPECT_EQ(v2(path).container_id, kId) << path;
    EXPECT_EQ(v2(path).unit, "") << path;
  }
  // A pod that the kubelet has from a file has a hash for its uid.
  EXPECT_EQ(v2("/kubepods/pod0123456789abcdef0123456789abcdef/" + kId).pod_uid,
            "0123456789abcdef0123456789abcdef");
  // A cluster in a container: the inner one counts.
  EXPECT_EQ(v2("/docker/" + kOther + "/kubelet/kubepods/pod" + kUid + "/" + kId).container_id, kId);
  EXPECT_EQ(v2("/home/pod" + kUid).pod_uid, "");
}

// FAULT-111
TEST(CgroupPath, JobsOfBatchSystems) {
  const struct {
    std::string path;
    std::string job;
  } cases[] = {
      {"/slurm/uid_1000/job_1234/step_0/task_0", "1234.0"},
      {"/slurm/uid_1000/job_1234/step_batch/task_0", "1234.batch"},
      {"/slurm_node7/uid_1000/job_1234", "1234"},
      {"/system.slice/slurmstepd.scope/job_1234/step_extern/user/task_0", "1234.extern"},
      {"/system.slice/node7_slurmstepd.scope/job_77/step_3/user/task_2", "77.3"},
      {"/system.slice/slurmstepd.scope/job_5/step_0/user/task_0/step_9", "5.0"},
      {"/pbs_jobs.service/jobid/88.head", "88.head"},
      {"/system.slice/job_9/step_1", ""},
      {"/slurm/uid_0/job_x", ""},
      {"/slurm/uid_0/job_" + std::string(21, '4'), ""},
  };
  for (const auto& c : cases) EXPECT_EQ(v2(c.path).job, c.job) << c.path;
  // A container that a job started.
  const CgroupPlace both = v2("/slurm/uid_1/job_8/step_0/docker/" + kId);
  EXPECT_EQ(both.job, "8.0");
  EXPECT_EQ(both.container_id, kId);
}

TEST(CgroupPath, UnitsOfSystemd) {
  EXPECT_EQ(v2("/system.slice/jupyter.service").unit, "jupyter.service");
  EXPECT_EQ(v2("/user.slice/user-1000.slice/session-3.scope").unit, "session-3.scope");
  EXPECT_EQ(v2("/user.slice/user-1000.slice/user@1000.service/app.slice/train.service").unit,
            "train.service");
  EXPECT_EQ(v2("/system.slice/docker-" + kId + ".scope").unit, "");
  EXPECT_EQ(v2("/"), (CgroupPlace{.path = "/"}));
}

TEST(CgroupPath, OfManyHierarchiesTheOneThatTellsMost) {
  const CgroupPlace place = parse_cgroup("12:pids:/docker/" + kId + "\n11:devices:/docker/" + kId +
                                         "\n1:name=systemd:/system.slice/cron.service\n0::/\n");
  EXPECT_EQ(place.container_id, kId);
  EXPECT_EQ(place.path, "/docker/" + kId);
}

// FAULT-130
TEST(CgroupPath, NamesOfAnyBytesAreText) {
  EXPECT_EQ(v2("/system.slice/a b\"c'.service").unit, "a b\"c'.service");
  EXPECT_EQ(v2("/a:b:c.service (deleted)").unit, "a:b:c.service");
  const CgroupPlace hostile = v2("/lxc/\x1b[2J\xff\xfe\t" + std::string(5000, 'x'));
  EXPECT_TRUE(is_valid_utf8(hostile.container_id));
  EXPECT_LE(hostile.container_id.size(), 256u);
  EXPECT_EQ(hostile.container_id.find('\x1b'), std::string::npos);
  EXPECT_LE(hostile.path.size(), 1024u);
  for (const char* text : {"", "\n", "0", "0:", "0::", ":::", "no colon at all", "0::/docker/"}) {
    EXPECT_EQ(parse_cgroup(text).container_id, "") << text;
  }
}

}  // namespace
}  // namespace gpusight::attribute
