// THE list of sources. To add one: a folder with its create function, and a row here.
#include "collect/amdgpu/amdgpu_source.h"
#include "collect/host/host_source.h"
#include "collect/nvml/nvml_source.h"
#include "collect/source.h"

namespace gpusight::collect {
namespace {

constexpr SourceRow kRows[] = {
    {"nvml", create_nvml_source},
    {"amdgpu", create_amdgpu_source},
    {"host", create_host_source},
};

}  // namespace

std::span<const SourceRow> source_rows() { return kRows; }

}  // namespace gpusight::collect
