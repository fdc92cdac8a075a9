#include <algorithm>

#include "catalog/event_kind.h"

namespace gpusight::catalog {
namespace {

using enum EventKind;
using enum Severity;

// clang-format off
constexpr EventKindRow kKinds[] = {
    {kXid, 1, "xid", kError, MessageId::kEventXid, MetricId::kGpuXidErrors, {"XID error", "XID 错误"}},
    {kThrottleBegin, 2, "throttle_begin", kWarning, MessageId::kEventThrottleBegin, {}, {"Throttling begins", "开始降频"}},
    {kThrottleEnd, 3, "throttle_end", kInfo, MessageId::kEventThrottleEnd, {}, {"Throttling ends", "降频结束"}},
    {kDeviceLost, 4, "device_lost", kError, MessageId::kEventDeviceLost, {}, {"Device lost", "设备丢失"}},
    {kDeviceBack, 5, "device_back", kInfo, MessageId::kEventDeviceBack, {}, {"Device back", "设备恢复"}},
    {kDeviceAsleep, 6, "device_asleep", kInfo, MessageId::kEventDeviceAsleep, {}, {"Device asleep", "设备休眠"}},
    {kDeviceAwake, 7, "device_awake", kInfo, MessageId::kEventDeviceAwake, {}, {"Device awake", "设备唤醒"}},
    {kDriverReload, 8, "driver_reload", kWarning, MessageId::kEventDriverReload, {}, {"Driver opened again", "驱动重新打开"}},
    {kMigChange, 9, "mig_change", kInfo, MessageId::kEventMigChange, {}, {"MIG change", "MIG 变更"}},
    {kClockJump, 10, "clock_jump", kWarning, MessageId::kEventClockJump, {}, {"Clock jump", "时钟跳变"}},
    {kProcessStart, 11, "process_start", kInfo, MessageId::kEventProcessStart, {}, {"Process start", "进程启动"}},
    {kProcessExit, 12, "process_exit", kInfo, MessageId::kEventProcessExit, {}, {"Process exit", "进程退出"}},
    {kDaemonStart, 13, "daemon_start", kInfo, MessageId::kEventDaemonStart, {}, {"Start", "启动"}},
    {kDaemonStop, 14, "daemon_stop", kInfo, MessageId::kEventDaemonStop, {}, {"Stop", "停止"}},
    {kMemoryError, 15, "memory_error", kWarning, MessageId::kEventMemoryError, {}, {"Memory error", "内存错误"}},
    {kMemoryRetirement, 16, "memory_retirement", kWarning, MessageId::kEventMemoryRetirement, {}, {"Memory taken out of use", "内存停用"}},
    {kRecoveryAction, 17, "recovery_action", kError, MessageId::kEventRecoveryAction, {}, {"Recovery needed", "需要恢复"}},
    {kPerformanceState, 18, "performance_state", kInfo, MessageId::kEventPerformanceState, {}, {"Performance state", "性能状态变更"}},
    {kClockChange, 19, "clock_change", kInfo, MessageId::kEventClockChange, {}, {"Clock change", "时钟变更"}},
    {kPowerSource, 20, "power_source", kInfo, MessageId::kEventPowerSource, {}, {"Power source", "电源变更"}},
    {kNvswitchError, 21, "nvswitch_error", kError, MessageId::kEventNvswitchError, {}, {"NVSwitch error", "NVSwitch 错误"}},
    {kEventsLeftOut, 22, "events_left_out", kWarning, MessageId::kEventEventsLeftOut, {}, {"Events left out", "事件省略"}},
    {kDeviceReleased, 23, "device_released", kInfo, MessageId::kEventDeviceReleased, {}, {"Device let go of", "设备已释放"}},
    {kDeviceTaken, 24, "device_taken", kInfo, MessageId::kEventDeviceTaken, {}, {"Device taken back", "设备已重新接管"}},
};
// clang-format on

consteval bool kinds_are_sound() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
    for (size_t j = 0; j < i; ++j) {
      if (kKinds[i].wire == kKinds[j].wire || kKinds[i].key == kKinds[j].key) return false;
    }
  }
  return true;
}
static_assert(std::size(kKinds) == static_cast<size_t>(EventKind::kCount));
static_assert(kinds_are_sound(), "order, wire number or key of an event kind");

struct Xid {
  uint16_t number;
  std::string_view name;
};

// NVIDIA open-gpu-kernel-modules 595.45.04, nverror.h, made readable.
constexpr Xid kXids[] = {
    {13, "gr exception"},
    {14, "fake error"},
    {16, "vblank callback timeout"},
    {19, "disp missed notifier"},
    {20, "mpeg error sw method"},
    {21, "me error sw method"},
    {22, "vp error sw method"},
    {23, "rc logging enabled"},
    {27, "vp error"},
    {28, "vp2 error"},
    {29, "bsp error"},
    {30, "unused error 30"},
    {31, "fifo error mmu err flt"},
    {32, "pbdma error"},
    {33, "sec error"},
    {34, "msvld error"},
    {35, "mspdec error"},
    {36, "msppp error"},
    {39, "ce0 error"},
    {40, "ce1 error"},
    {41, "ce2 error"},
    {42, "vic error"},
    {43, "resetchannel verif error"},
    {44, "gr fault during ctxsw"},
    {45, "preemptive removal"},
    {47, "nvenc0 error"},
    {48, "gpu ecc dbe"},
    {58, "fb memory error"},
    {59, "pmu error"},
    {60, "sec2 error"},
    {61, "pmu breakpoint"},
    {62, "pmu halt error"},
    {63, "inforom page retirement event"},
    {64, "inforom page retirement failure"},
    {65, "nvenc1 error"},
    {68, "nvdec0 error"},
    {69, "gr class error"},
    {70, "ce3 error"},
    {71, "ce4 error"},
    {72, "ce5 error"},
    {73, "nvenc2 error"},
    {74, "nvlink error"},
    {75, "ce6 error"},
    {76, "ce7 error"},
    {77, "ce8 error"},
    {78, "vgpu start error"},
    {79, "gpu has fallen off the bus"},
    {80, "pbdma pushbuffer crc mismatch"},
    {81, "vga subsystem error"},
    {82, "nvjpg0 error"},
    {83, "nvdec1 error"},
    {84, "nvdec2 error"},
    {85, "ce9 error"},
    {86, "ofa0 error"},
    {87, "nvtelemetry driver report"},
    {88, "nvdec3 error"},
    {89, "nvdec4 error"},
    {90, "ltc error"},
    {91, "reserved xid"},
    {92, "excessive sbe interrupts"},
    {93, "inforom erase limit exceeded"},
    {94, "contained error"},
    {95, "uncontained error"},
    {96, "nvdec5 error"},
    {97, "nvdec6 error"},
    {98, "nvdec7 error"},
    {99, "nvjpg1 error"},
    {100, "nvjpg2 error"},
    {101, "nvjpg3 error"},
    {102, "nvjpg4 error"},
    {103, "nvjpg5 error"},
    {104, "nvjpg6 error"},
    {105, "nvjpg7 error"},
    {108, "nvlink remote translation error"},
    {110, "sec fault error"},
    {119, "gsp rpc timeout"},
    {120, "gsp error"},
    {121, "c2c error"},
    {122, "spi pmu rpc read fail"},
    {123, "spi pmu rpc write fail"},
    {124, "spi pmu rpc erase fail"},
    {125, "inforom fs error"},
    {126, "ce10 error"},
    {127, "ce11 error"},
    {128, "ce12 error"},
    {129, "ce13 error"},
    {130, "ce14 error"},
    {131, "ce15 error"},
    {132, "ce16 error"},
    {133, "ce17 error"},
    {134, "ce18 error"},
    {135, "ce19 error"},
    {136, "ali training fail"},
    {137, "nvlink priv err"},
    {138, "dla error"},
    {139, "ofa1 error"},
    {140, "unrecoverable ecc error escape"},
    {141, "fast path error"},
    {142, "nvenc3 error"},
    {143, "gpu init error"},
    {144, "nvlink saw error"},
    {145, "nvlink rlw error"},
    {146, "nvlink tlw error"},
    {147, "nvlink trex error"},
    {148, "nvlink nvlpw ctrl error"},
    {149, "nvlink netir error"},
    {150, "nvlink mse error"},
    {151, "key rotation error"},
    {152, "reserved7 error"},
    {153, "reserved8 error"},
    {154, "gpu recovery action changed"},
    {155, "nvlink sw defined error"},
    {156, "resource retirement event"},
    {157, "resource retirement failure"},
    {158, "gpu fatal timeout"},
    {159, "chi non data error"},
    {160, "channel retirement event"},
    {161, "channel retirement failure"},
    {162, "isink reengaged"},
    {163, "isink disengaged"},
    {164, "isink low lifetime"},
    {165, "isink zero lifetime"},
    {166, "nvlink secure nvle error"},
    {167, "pcie fatal timeout"},
    {168, "reduced gpu memory capacity"},
    {169, "sec2 halt error"},
    {170, "nvlink secure error"},
    {171, "uncorrectable dram error"},
    {172, "uncorrectable sram error"},
    {173, "c2c fatal link failure"},
    {174, "resetchannel kill process silent"},
    {175, "memory subsystem error"},
    {176, "pcie correctable error fault"},
};

// Graphics and memory faults of a program, channels that were stopped or cleaned up for one, rows
// that were remapped, errors that were contained.
constexpr uint64_t kHarmlessXids[] = {13, 31, 43, 45, 63, 69, 94, 174};

}  // namespace

std::span<const EventKindRow> event_kinds() { return kKinds; }
const EventKindRow& event_kind(EventKind kind) { return kKinds[static_cast<size_t>(kind)]; }

const EventKindRow* find_event_kind(std::string_view key) {
  const auto row = std::ranges::find(kKinds, key, &EventKindRow::key);
  return row == std::end(kKinds) ? nullptr : &*row;
}

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

std::string_view xid_name(uint64_t xid) {
  const auto row = std::ranges::lower_bound(kXids, xid, {}, &Xid::number);
  return row == std::end(kXids) || row->number != xid ? std::string_view() : row->name;
}

Severity xid_severity(uint64_t xid) {
  const bool is_harmless = xid_name(xid).empty() || std::ranges::binary_search(kHarmlessXids, xid);
  return is_harmless ? kWarning : kError;
}

}  // namespace gpusight::catalog
