// What a process tells of itself: anyone who may open the socket may write anything.
#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "attribute/framework_notes.h"
#include "base/check.h"
#include "base/text.h"
#include "platform/proc.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const platform::RootFs root("/");
  static const uint64_t start = platform::read_proc_stat(root, "self")->start_ticks;
  const FakeClock clock;
  attribute::FrameworkNotes notes(root, &clock);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Status taken = notes.take({.uid = 1000, .pid = ::getpid()}, text);
  CHECK(is_valid_utf8(taken.message()), "an error that was not cleaned");
  model::Snapshot snapshot;
  model::DeviceSnapshot& device = snapshot.devices.emplace_back();
  device.device = std::make_shared<model::Device>(model::Device{.uuid = "GPU-1"});
  device.processes = {{.pid = ::getpid(), .start_ticks = start}};
  notes.add_to(snapshot);
  const auto& told = device.processes[0].framework;
  CHECK(taken.ok() || !told, "a message that was refused counts");
  if (!told) return 0;
  CHECK(is_valid_utf8(told->framework) && told->framework.size() <= 32, "a name not cleaned");
  CHECK(told->allocated_bytes.value_or(0) >= 0, "no amount of memory");
  CHECK(told->data_wait_ratio.value_or(0) <= 1, "more than everything");
  return 0;
}
