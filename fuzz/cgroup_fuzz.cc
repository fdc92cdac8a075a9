// /proc/PID/cgroup: whoever may make cgroups chooses their names.
#include <cstdint>
#include <string_view>

#include "attribute/cgroup_path.h"
#include "base/check.h"
#include "base/text.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const attribute::CgroupPlace place = attribute::parse_cgroup(text);
  for (const std::string* name :
       {&place.path, &place.container_id, &place.pod_uid, &place.job, &place.unit}) {
    CHECK(clean_text(*name, 1024) == *name, "a name that was not cleaned");
  }
  CHECK(place.container_id.size() <= 256 && place.job.size() <= 100, "a name without a bound");
  CHECK(place.pod_uid.empty() || place.pod_uid.size() == 36 || place.pod_uid.size() == 32,
        "a pod's uid that is none");
  return 0;
}
