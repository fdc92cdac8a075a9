// GPU instances and compute instances of divided GPUs, and what profiles a GPU can be divided into.
#include <algorithm>
#include <vector>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr std::uint64_t kGpuInstanceMark = 0x7ULL << 40;
constexpr std::uint64_t kComputeInstanceMark = 0x8ULL << 40;

// Where a handle leads: a GPU and the number of its instance, in a session.
struct Inside {
  unsigned generation = 0;
  std::size_t gpu = 0;
  unsigned gpu_instance = 0;
};

template <class Handle>
Handle make_inside(std::uint64_t mark, const Inside& inside) {
  return reinterpret_cast<Handle>(mark | std::uint64_t{inside.generation & 0xFFFFF} << 20 |
                                  std::uint64_t{inside.gpu_instance} << 12 | inside.gpu << 4);
}

std::optional<Inside> read_inside(std::uint64_t mark, const void* handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  if (bits >> 40 != mark >> 40 || (bits & 0xF) != 0) return std::nullopt;
  return Inside{static_cast<unsigned>(bits >> 20 & 0xFFFFF), bits >> 4 & 0xFF,
                static_cast<unsigned>(bits >> 12 & 0xFF)};
}

// A call about an instance: `body(call, instance)` when the handle is one of this session.
template <class Body>
nvmlReturn_t on_inside(Fn fn, std::uint64_t mark, const void* handle, bool arguments_good,
                       Body body) {
  const std::optional<Inside> inside = read_inside(mark, handle);
  if (!inside) {
    return on_system(fn, true, [](Call&) -> nvmlReturn_t { return NVML_ERROR_INVALID_ARGUMENT; });
  }
  const nvmlDevice_t device = make_handle({inside->generation, inside->gpu, std::nullopt});
  return on_gpu(fn, device, arguments_good, [&](Call& call) -> nvmlReturn_t {
    const InstanceSpec* instance = call.model().instance_of(inside->gpu_instance, call.t());
    if (instance == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    return body(call, *instance);
  });
}

Inside inside_of(const Call& call, const InstanceSpec& instance) {
  return {library().generation(), call.gpu(), instance.gpu_instance};
}

std::vector<const InstanceSpec*> instances_of(const Call& call) {
  std::vector<const InstanceSpec*> result;
  for (unsigned slot = 0; slot < call.model().spec().max_instances; ++slot) {
    const InstanceSpec* one = call.model().instance_in_slot(slot, call.t());
    if (one != nullptr) result.push_back(one);
  }
  return result;
}

const MigProfile* profile_of(const Board& board, unsigned id) {
  for (const MigProfile& profile : board.mig_profiles) {
    if (profile.profile_id == id) return &profile;
  }
  return nullptr;
}

const MigProfile* profile_of_kind(const Board& board, unsigned kind) {
  for (const MigProfile& profile : board.mig_profiles) {
    if (profile.kind == kind) return &profile;
  }
  return nullptr;
}

// How many more instances of a profile fit beside those that are there.
unsigned remaining(const Call& call, const MigProfile& profile) {
  unsigned slices = 7;
  unsigned memory = 8;
  for (const InstanceSpec* one : instances_of(call)) {
    slices -= std::min(slices, one->profile->slices);
    memory -= std::min(memory, one->profile->memory_slices);
  }
  return std::min({slices / profile.slices, memory / profile.memory_slices, profile.most});
}

// A call about a profile, found by `find(board)`; only boards that can be divided have any.
template <class Find, class Body>
nvmlReturn_t on_profile(Fn fn, nvmlDevice_t device, bool arguments_good, Find find, Body body) {
  return on_gpu(fn, device, arguments_good, [&](Call& call) -> nvmlReturn_t {
    if (!call.board().mig_capable()) return NVML_ERROR_NOT_SUPPORTED;
    const MigProfile* profile = find(call.board());
    if (profile == nullptr) return NVML_ERROR_NOT_SUPPORTED;
    return body(call, *profile);
  });
}

// What all three shapes of a profile have in common.
template <class Info>
void fill_profile(const MigProfile& profile, Info& info) {
  info.id = profile.profile_id;
  info.sliceCount = profile.slices;
  info.instanceCount = profile.most;
  info.multiprocessorCount = profile.multiprocessors;
  info.copyEngineCount = profile.copy_engines;
  info.decoderCount = profile.decoders;
  info.encoderCount = 0;
  info.jpegCount = profile.jpegs;
  info.ofaCount = profile.ofas;
  info.memorySizeMB = profile.memory_mib;
}

template <std::size_t N>
void put_name(char (&out)[N], const std::string& name) {
  std::memset(out, 0, N);
  std::memcpy(out, name.data(), std::min(name.size(), N - 1));
}

nvmlReturn_t versioned_profile(const Call& call, const MigProfile& profile, void* out) {
  unsigned version = 0;
  std::memcpy(&version, out, sizeof version);
  if (call.takes<nvmlGpuInstanceProfileInfo_v3_t>(version, 3)) {
    auto& info = *static_cast<nvmlGpuInstanceProfileInfo_v3_t*>(out);
    fill_profile(profile, info);
    put_name(info.name, "MIG " + profile.name);
    info.capabilities = 0;
    return NVML_SUCCESS;
  }
  if (!call.takes<nvmlGpuInstanceProfileInfo_v2_t>(version, 2)) return call.version_mismatch();
  auto& info = *static_cast<nvmlGpuInstanceProfileInfo_v2_t*>(out);
  fill_profile(profile, info);
  info.isP2pSupported = 0;
  put_name(info.name, "MIG " + profile.name);
  return NVML_SUCCESS;
}

// Places where an instance of the profile could begin.
nvmlReturn_t placements(const MigProfile& profile, nvmlGpuInstancePlacement_t* out,
                        unsigned* count) {
  const unsigned step = profile.memory_slices;
  const unsigned there = profile.most;
  const unsigned offered = *count;
  *count = there;
  if (out == nullptr) return NVML_SUCCESS;
  if (offered < there) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < there; ++i) out[i] = {.start = i * step, .size = step};
  return NVML_SUCCESS;
}

// Compute instances here always take their whole GPU instance.
template <class Info>
void fill_compute_profile(const MigProfile& profile, Info& info) {
  info.id = 0;
  info.sliceCount = profile.slices;
  info.instanceCount = 1;
  info.multiprocessorCount = profile.multiprocessors;
  info.sharedCopyEngineCount = profile.copy_engines;
  info.sharedDecoderCount = profile.decoders;
  info.sharedEncoderCount = 0;
  info.sharedJpegCount = profile.jpegs;
  info.sharedOfaCount = profile.ofas;
}

bool whole(const InstanceSpec& instance, unsigned profile, unsigned engine) {
  return engine == 0 && profile == instance.profile->kind;
}

nvmlReturn_t compute_info(Fn fn, nvmlComputeInstance_t handle, nvmlComputeInstanceInfo_t* info,
                          bool with_placement) {
  return on_inside(fn, kComputeInstanceMark, handle, info != nullptr,
                   [&](Call& call, const InstanceSpec& instance) -> nvmlReturn_t {
                     info->device = make_handle({library().generation(), call.gpu(), std::nullopt});
                     info->gpuInstance = make_inside<nvmlGpuInstance_t>(kGpuInstanceMark,
                                                                        inside_of(call, instance));
                     info->id = instance.compute_instance;
                     info->profileId = 0;
                     if (with_placement) {
                       info->placement = {.start = 0, .size = instance.profile->slices};
                     }
                     return NVML_SUCCESS;
                   });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile,
                                                 nvmlGpuInstanceProfileInfo_t* info) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstanceProfileInfo, device, info != nullptr,
      [&](const Board& board) { return profile_of_kind(board, profile); },
      [&](Call&, const MigProfile& found) -> nvmlReturn_t {
        fill_profile(found, *info);
        info->isP2pSupported = 0;
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile,
                                                  nvmlGpuInstanceProfileInfo_v2_t* info) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstanceProfileInfoV, device, info != nullptr,
      [&](const Board& board) { return profile_of_kind(board, profile); },
      [&](Call& call, const MigProfile& found) { return versioned_profile(call, found, info); });
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned int id,
                                                      nvmlGpuInstanceProfileInfo_v2_t* info) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstanceProfileInfoByIdV, device, info != nullptr,
      [&](const Board& board) { return profile_of(board, id); },
      [&](Call& call, const MigProfile& found) { return versioned_profile(call, found, info); });
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements(nvmlDevice_t device, unsigned int id,
                                                        nvmlGpuInstancePlacement_t* out,
                                                        unsigned int* count) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstancePossiblePlacements, device, count != nullptr,
      [&](const Board& board) { return profile_of(board, id); },
      [&](Call&, const MigProfile& found) { return placements(found, out, count); });
}
nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int id,
                                                           nvmlGpuInstancePlacement_t* out,
                                                           unsigned int* count) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstancePossiblePlacements_v2, device, count != nullptr,
      [&](const Board& board) { return profile_of(board, id); },
      [&](Call&, const MigProfile& found) { return placements(found, out, count); });
}

nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int id,
                                                       unsigned int* count) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstanceRemainingCapacity, device, count != nullptr,
      [&](const Board& board) { return profile_of(board, id); },
      [&](Call& call, const MigProfile& found) -> nvmlReturn_t {
        if (!call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
        call.put(count, remaining(call, found));
        return NVML_SUCCESS;
      });
}

// The caller's buffer must hold as many as the profile allows (documented); there is no size to
// ask for.
nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int id,
                                       nvmlGpuInstance_t* handles, unsigned int* count) {
  return on_profile(
      Fn::nvmlDeviceGetGpuInstances, device, handles != nullptr && count != nullptr,
      [&](const Board& board) { return profile_of(board, id); },
      [&](Call& call, const MigProfile& found) -> nvmlReturn_t {
        if (!call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
        *count = 0;
        for (const InstanceSpec* one : instances_of(call)) {
          if (one->profile->profile_id != found.profile_id) continue;
          handles[(*count)++] =
              make_inside<nvmlGpuInstance_t>(kGpuInstanceMark, inside_of(call, *one));
        }
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id,
                                          nvmlGpuInstance_t* handle) {
  return on_gpu(Fn::nvmlDeviceGetGpuInstanceById, device, handle != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
                  const InstanceSpec* one = call.model().instance_of(id, call.t());
                  if (one == nullptr) return NVML_ERROR_NOT_FOUND;
                  *handle = make_inside<nvmlGpuInstance_t>(kGpuInstanceMark, inside_of(call, *one));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t handle, nvmlGpuInstanceInfo_t* info) {
  return on_inside(Fn::nvmlGpuInstanceGetInfo, kGpuInstanceMark, handle, info != nullptr,
                   [&](Call& call, const InstanceSpec& instance) -> nvmlReturn_t {
                     *info = {
                         .device = make_handle({library().generation(), call.gpu(), std::nullopt}),
                         .id = instance.gpu_instance,
                         .profileId = instance.profile->profile_id,
                         .placement = {.start = instance.placement_start,
                                       .size = instance.profile->memory_slices}};
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t handle, unsigned int profile,
                                                nvmlComputeInstance_t* handles,
                                                unsigned int* count) {
  return on_inside(Fn::nvmlGpuInstanceGetComputeInstances, kGpuInstanceMark, handle,
                   handles != nullptr && count != nullptr,
                   [&](Call& call, const InstanceSpec& instance) -> nvmlReturn_t {
                     *count = profile == 0 ? 1 : 0;
                     if (*count == 1) {
                       handles[0] = make_inside<nvmlComputeInstance_t>(kComputeInstanceMark,
                                                                       inside_of(call, instance));
                     }
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t handle, unsigned int id,
                                                   nvmlComputeInstance_t* out) {
  return on_inside(Fn::nvmlGpuInstanceGetComputeInstanceById, kGpuInstanceMark, handle,
                   out != nullptr, [&](Call& call, const InstanceSpec& instance) -> nvmlReturn_t {
                     if (id != instance.compute_instance) return NVML_ERROR_NOT_FOUND;
                     *out = make_inside<nvmlComputeInstance_t>(kComputeInstanceMark,
                                                               inside_of(call, instance));
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t handle,
                                                          unsigned int profile, unsigned int engine,
                                                          nvmlComputeInstanceProfileInfo_t* info) {
  return on_inside(Fn::nvmlGpuInstanceGetComputeInstanceProfileInfo, kGpuInstanceMark, handle,
                   info != nullptr, [&](Call&, const InstanceSpec& instance) -> nvmlReturn_t {
                     if (!whole(instance, profile, engine)) return NVML_ERROR_NOT_SUPPORTED;
                     fill_compute_profile(*instance.profile, *info);
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(
    nvmlGpuInstance_t handle, unsigned int profile, unsigned int engine,
    nvmlComputeInstanceProfileInfo_v2_t* info) {
  return on_inside(
      Fn::nvmlGpuInstanceGetComputeInstanceProfileInfoV, kGpuInstanceMark, handle, info != nullptr,
      [&](Call& call, const InstanceSpec& instance) -> nvmlReturn_t {
        const bool third = call.takes<nvmlComputeInstanceProfileInfo_v3_t>(info->version, 3);
        if (!third && !call.takes<nvmlComputeInstanceProfileInfo_v2_t>(info->version, 2)) {
          return call.version_mismatch();
        }
        if (!whole(instance, profile, engine)) return NVML_ERROR_NOT_SUPPORTED;
        // The third shape is the second with one more member behind it.
        fill_compute_profile(*instance.profile, *info);
        put_name(info->name, "MIG " + instance.profile->name);
        if (third) {
          reinterpret_cast<nvmlComputeInstanceProfileInfo_v3_t*>(info)->capabilities = 0;
        }
        return NVML_SUCCESS;
      });
}

// The one that could be there is there.
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t handle,
                                                                unsigned int profile,
                                                                unsigned int* count) {
  return on_inside(Fn::nvmlGpuInstanceGetComputeInstanceRemainingCapacity, kGpuInstanceMark, handle,
                   count != nullptr && profile == 0, [&](Call& call, const InstanceSpec&) {
                     call.put(count, 0U);
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstancePossiblePlacements(
    nvmlGpuInstance_t handle, unsigned int profile, nvmlComputeInstancePlacement_t* out,
    unsigned int* count) {
  return on_inside(Fn::nvmlGpuInstanceGetComputeInstancePossiblePlacements, kGpuInstanceMark,
                   handle, count != nullptr && profile == 0,
                   [&](Call&, const InstanceSpec& instance) -> nvmlReturn_t {
                     const unsigned offered = *count;
                     *count = 1;
                     if (out == nullptr) return NVML_SUCCESS;
                     if (offered < 1) return NVML_ERROR_INSUFFICIENT_SIZE;
                     out[0] = {.start = 0, .size = instance.profile->slices};
                     return NVML_SUCCESS;
                   });
}

// The oldest form: without the placement.
nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t handle,
                                        nvmlComputeInstanceInfo_t* info) {
  return compute_info(Fn::nvmlComputeInstanceGetInfo, handle, info, false);
}
nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t handle,
                                           nvmlComputeInstanceInfo_t* info) {
  return compute_info(Fn::nvmlComputeInstanceGetInfo_v2, handle, info, true);
}
