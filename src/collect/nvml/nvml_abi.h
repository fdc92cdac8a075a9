// The binary interface of NVIDIA's management library, as far as gpusight uses it, on 64-bit Linux.
//
// Sizes and offsets are facts of the shipped library (headers of drivers 375 to 610 agree on each
// struct below unless said); the asserts stop the build if a declaration here drifts. Everything is
// plain data written by C code: zero it before a call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpusight::collect::nvml {

// What every call returns. A library newer than this list may return other numbers.
enum class Return : int32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kResetTypeNotSupported = 30,
  kUnknown = 999,
};

struct DeviceOpaque;
struct EventSetOpaque;
using Handle = DeviceOpaque*;  // a GPU or a MIG device; dies with the library generation
using EventSet = EventSetOpaque*;

inline constexpr unsigned kNameBytes = 96;
inline constexpr unsigned kUuidBytes = 96;
inline constexpr unsigned kSerialBytes = 30;
inline constexpr unsigned kVbiosBytes = 32;
inline constexpr unsigned kVersionBytes = 80;
inline constexpr unsigned kNotAMigInstance = 0xFFFFFFFF;
inline constexpr uint64_t kMemoryNotAvailable = 0xFFFFFFFFFFFFFFFF;

// A versioned struct carries its size and version in its first member.
template <typename T>
constexpr uint32_t struct_version(uint32_t version) {
  return static_cast<uint32_t>(sizeof(T)) | version << 24;
}

// Drivers before 410 write the first 52 bytes only, all of which lie in front of bus_id's end.
struct PciInfo {
  char bus_id_legacy[16];
  uint32_t domain;
  uint32_t bus;
  uint32_t device;
  uint32_t pci_device_id;  // device << 16 | vendor
  uint32_t pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16);
static_assert(offsetof(PciInfo, bus) == 20 && offsetof(PciInfo, device) == 24);
static_assert(offsetof(PciInfo, pci_device_id) == 28 && offsetof(PciInfo, pci_subsystem_id) == 32);
static_assert(offsetof(PciInfo, bus_id) == 36);

struct Utilization {
  uint32_t gpu;  // percent
  uint32_t memory;
};
static_assert(sizeof(Utilization) == 8 && offsetof(Utilization, memory) == 4);

// `used` holds what the driver reserves as well: total - free.
struct MemoryV1 {
  uint64_t total;
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(MemoryV1) == 24 && offsetof(MemoryV1, total) == 0);
static_assert(offsetof(MemoryV1, free) == 8 && offsetof(MemoryV1, used) == 16);

// total = reserved + used + free, give or take rounding.
struct MemoryV2 {
  uint32_t version;
  uint64_t total;
  uint64_t reserved;
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8);
static_assert(offsetof(MemoryV2, reserved) == 16 && offsetof(MemoryV2, free) == 24);
static_assert(offsetof(MemoryV2, used) == 32 && struct_version<MemoryV2>(2) == 0x02000028);

// Rows of the process lists. The unsuffixed calls write the first, _v2 and _v3 the second; drivers
// 535.43 to 535.86 write the third from _v3.
struct ProcessRowV1 {
  uint32_t pid;
  uint64_t used_memory;  // bytes, or kMemoryNotAvailable
};
static_assert(sizeof(ProcessRowV1) == 16 && offsetof(ProcessRowV1, used_memory) == 8);

struct ProcessRow {
  uint32_t pid;
  uint64_t used_memory;
  uint32_t gpu_instance;  // or kNotAMigInstance
  uint32_t compute_instance;
};
static_assert(sizeof(ProcessRow) == 24 && offsetof(ProcessRow, used_memory) == 8);
static_assert(offsetof(ProcessRow, gpu_instance) == 16);
static_assert(offsetof(ProcessRow, compute_instance) == 20);

struct ProcessRowWide {
  ProcessRow row;
  uint64_t used_protected_memory;
};
static_assert(sizeof(ProcessRowWide) == 32 &&
              offsetof(ProcessRowWide, used_protected_memory) == 24);

// What Hopper and newer give of processes that compute confidentially: rows as above.
struct ProcessDetails {
  uint32_t version;
  uint32_t mode;  // kProcessModeCompute
  uint32_t count;
  ProcessRowWide* rows;
};
static_assert(sizeof(ProcessDetails) == 24 && offsetof(ProcessDetails, rows) == 16);
inline constexpr uint32_t kProcessModeCompute = 0;

// What accounting mode has counted of a process since it started; all ones where it is not known.
struct AccountingStats {
  uint32_t gpu_percent;
  uint32_t memory_percent;
  uint64_t most_memory;
  uint64_t lived_ms;  // 0 while it runs
  uint64_t started_us;
  uint32_t is_running;
  uint32_t reserved[5];
};
static_assert(sizeof(AccountingStats) == 56 && offsetof(AccountingStats, most_memory) == 8);
static_assert(offsetof(AccountingStats, lived_ms) == 16);
static_assert(offsetof(AccountingStats, started_us) == 24);
static_assert(offsetof(AccountingStats, is_running) == 32);

enum class ValueType : uint32_t {
  kDouble = 0,
  kUint32 = 1,
  kUnsignedLong = 2,
  kUint64 = 3,
  kInt64 = 4,
  kInt32 = 5,
  kUint16 = 6,
};

union AnyValue {
  double as_double;
  uint32_t as_uint32;
  uint64_t as_uint64;
  int64_t as_int64;
  int32_t as_int32;
  uint16_t as_uint16;
};
static_assert(sizeof(AnyValue) == 8 && sizeof(unsigned long) == 8);

enum class SamplingType : uint32_t {
  kPower = 0,
  kGpuUtilization = 1,
  kMemoryUtilization = 2,
  kProcessorClock = 5,
  kMemoryClock = 6,
};

struct RingSample {
  uint64_t timestamp_us;  // wall time of the CPU
  AnyValue value;
};
static_assert(sizeof(RingSample) == 16 && offsetof(RingSample, value) == 8);

struct FieldValue {
  uint32_t field_id;
  uint32_t scope_id;
  int64_t timestamp_us;
  int64_t latency_us;
  ValueType value_type;
  Return result;
  AnyValue value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, scope_id) == 4);
static_assert(offsetof(FieldValue, timestamp_us) == 8 && offsetof(FieldValue, latency_us) == 16);
static_assert(offsetof(FieldValue, value_type) == 24 && offsetof(FieldValue, result) == 28);
static_assert(offsetof(FieldValue, value) == 32);

// Numbers of field values that are named by more than their table (field_tables.h).
inline constexpr uint32_t kFieldMemoryTemperature = 82;  // °C
inline constexpr uint32_t kFieldEnergy = 83;             // mJ since the driver was loaded
inline constexpr uint32_t kFieldPowerAverage = 185;      // mW; scope 0 is the GPU board
inline constexpr uint32_t kFieldPowerInstant = 186;      // mW

struct TemperatureReading {
  uint32_t version;
  uint32_t sensor;  // 0: the die
  int32_t celsius;
};
static_assert(sizeof(TemperatureReading) == 12 && offsetof(TemperatureReading, sensor) == 4);
static_assert(offsetof(TemperatureReading, celsius) == 8);
static_assert(struct_version<TemperatureReading>(1) == 0x0100000C);

struct MarginTemperature {
  uint32_t version;
  int32_t celsius;
};
static_assert(sizeof(MarginTemperature) == 8 && offsetof(MarginTemperature, celsius) == 4);
static_assert(struct_version<MarginTemperature>(1) == 0x01000008);

// Absolute thresholds (retired on Ada and newer, where field values give distances instead).
enum class Threshold : uint32_t { kShutdown = 0, kSlowdown = 1, kMemoryMax = 2, kGpuMax = 3 };

struct FanSpeedInfo {
  uint32_t version;
  uint32_t fan;
  uint32_t rpm;
};
static_assert(sizeof(FanSpeedInfo) == 12 && offsetof(FanSpeedInfo, rpm) == 8);
static_assert(struct_version<FanSpeedInfo>(1) == 0x0100000C);

struct Bar1Memory {
  uint64_t total;
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(Bar1Memory) == 24 && offsetof(Bar1Memory, used) == 16);

struct ProtectedMemorySize {
  uint64_t protected_kib;
  uint64_t unprotected_kib;
};
static_assert(sizeof(ProtectedMemorySize) == 16);

enum class ErrorType : uint32_t { kCorrected = 0, kUncorrected = 1 };
enum class ErrorCounter : uint32_t { kVolatile = 0, kAggregate = 1 };
inline constexpr uint32_t kLocationSram = 7;

// Banks of memory by how many of their spare rows are left.
struct RowRemapHistogram {
  uint32_t max;
  uint32_t high;
  uint32_t partial;
  uint32_t low;
  uint32_t none;
};
static_assert(sizeof(RowRemapHistogram) == 20 && offsetof(RowRemapHistogram, none) == 16);

struct SramErrors {
  uint32_t version;
  uint64_t aggregate_parity;
  uint64_t aggregate_sec_ded;
  uint64_t aggregate_corrected;
  uint64_t volatile_parity;
  uint64_t volatile_sec_ded;
  uint64_t volatile_corrected;
  uint64_t buckets[5];
  uint32_t threshold_exceeded;
};
static_assert(sizeof(SramErrors) == 104 && offsetof(SramErrors, volatile_corrected) == 48);
static_assert(offsetof(SramErrors, threshold_exceeded) == 96);
static_assert(struct_version<SramErrors>(1) == 0x01000068);

struct RepairStatus {
  uint32_t version;
  uint32_t channel_pending;
  uint32_t tpc_pending;
};
static_assert(sizeof(RepairStatus) == 12 && struct_version<RepairStatus>(1) == 0x0100000C);

struct FbcStats {
  uint32_t sessions;
  uint32_t average_fps;
  uint32_t average_latency_us;
};
static_assert(sizeof(FbcStats) == 12);

struct EncoderSession {
  uint32_t id;
  uint32_t pid;
  uint32_t vgpu;
  uint32_t codec;  // 0 H.264, 1 HEVC, 2 AV1
  uint32_t width;
  uint32_t height;
  uint32_t average_fps;
  uint32_t average_latency_us;
};
static_assert(sizeof(EncoderSession) == 32 && offsetof(EncoderSession, codec) == 12);

struct FbcSession {
  uint32_t id;
  uint32_t pid;
  uint32_t vgpu;
  uint32_t display;
  uint32_t type;
  uint32_t flags;
  uint32_t most_width;
  uint32_t most_height;
  uint32_t width;
  uint32_t height;
  uint32_t average_fps;
  uint32_t average_latency_us;
};
static_assert(sizeof(FbcSession) == 48 && offsetof(FbcSession, width) == 32);

// Registration with an NVSwitch fabric: the third form since 580.65, the second since 550.
struct FabricInfoV1 {
  uint8_t cluster[16];
  Return status;
  uint32_t clique;
  uint8_t state;
};
static_assert(sizeof(FabricInfoV1) == 28 && offsetof(FabricInfoV1, state) == 24);

struct FabricInfoV2 {
  uint32_t version;
  uint8_t cluster[16];
  Return status;
  uint32_t clique;
  uint8_t state;
  uint32_t health_mask;
};
static_assert(sizeof(FabricInfoV2) == 36 && offsetof(FabricInfoV2, status) == 20);
static_assert(offsetof(FabricInfoV2, state) == 28 && offsetof(FabricInfoV2, health_mask) == 32);
static_assert(struct_version<FabricInfoV2>(2) == 0x02000024);

struct FabricInfoV3 {
  FabricInfoV2 v2;
  uint8_t health_summary;
};
static_assert(sizeof(FabricInfoV3) == 40 && offsetof(FabricInfoV3, health_summary) == 36);
static_assert(struct_version<FabricInfoV3>(3) == 0x03000028);

// One process's share of the GPU since the last time it was asked about, in percent.
struct ProcessShareV1 {
  uint32_t pid;
  uint64_t timestamp_us;
  uint32_t sm;
  uint32_t memory;
  uint32_t encoder;
  uint32_t decoder;
};
static_assert(sizeof(ProcessShareV1) == 32 && offsetof(ProcessShareV1, timestamp_us) == 8);
static_assert(offsetof(ProcessShareV1, decoder) == 28);

struct ProcessShare {
  uint64_t timestamp_us;
  uint32_t pid;
  uint32_t sm;
  uint32_t memory;
  uint32_t encoder;
  uint32_t decoder;
  uint32_t jpeg;
  uint32_t ofa;
};
static_assert(sizeof(ProcessShare) == 40 && offsetof(ProcessShare, ofa) == 32);

struct ProcessShares {
  uint32_t version;
  uint32_t count;
  uint64_t last_seen_us;
  ProcessShare* shares;
};
static_assert(sizeof(ProcessShares) == 24 && offsetof(ProcessShares, shares) == 16);
static_assert(struct_version<ProcessShares>(1) == 0x01000018);

// Performance monitoring, Hopper and newer: two samples and what happened between them.
struct GpmSampleOpaque;
using GpmSample = GpmSampleOpaque*;

struct GpmSupport {
  uint32_t version;  // plainly 1
  uint32_t is_supported;
};
static_assert(sizeof(GpmSupport) == 8);

struct GpmMetric {
  uint32_t id;
  Return result;
  double value;
  const char* texts[3];
};
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8);

// Only the first `count` entries are looked at: the array in the headers has grown twice.
inline constexpr size_t kMostGpmMetrics = 80;
struct GpmMetrics {
  uint32_t version;  // plainly 1
  uint32_t count;
  GpmSample earlier;
  GpmSample later;
  GpmMetric metrics[kMostGpmMetrics];
};
static_assert(offsetof(GpmMetrics, earlier) == 8 && offsetof(GpmMetrics, metrics) == 24);

struct AddressingMode {
  uint32_t version;
  uint32_t value;
};
static_assert(sizeof(AddressingMode) == 8 && struct_version<AddressingMode>(1) == 0x01000008);

struct PlatformInfo {
  uint32_t version;
  uint8_t ib_guid[16];
  char chassis_serial[16];
  uint8_t slot;
  uint8_t tray;
  uint8_t host;
  uint8_t peer_type;
  uint8_t module;
};
static_assert(sizeof(PlatformInfo) == 44 && offsetof(PlatformInfo, slot) == 36);
static_assert(struct_version<PlatformInfo>(2) == 0x0200002C);

// The same bytes, by drivers that do not know the second form.
struct PlatformInfoV1 {
  uint32_t version;
  uint8_t ib_guid[16];
  uint8_t rack_guid[16];
  uint8_t slot;
  uint8_t compute_slot;
  uint8_t node;
  uint8_t peer_type;
  uint8_t module;
};
static_assert(sizeof(PlatformInfoV1) == 44 && offsetof(PlatformInfoV1, slot) == 36);
static_assert(struct_version<PlatformInfoV1>(1) == 0x0100002C);

struct C2cMode {
  uint32_t is_on;
};
static_assert(sizeof(C2cMode) == 4);

struct ViolationTime {
  uint64_t reference_us;
  uint64_t held_ns;
};
static_assert(sizeof(ViolationTime) == 16 && offsetof(ViolationTime, held_ns) == 8);

// Whether confidential computing is on: of the machine, not of one GPU.
struct ConfidentialState {
  uint32_t environment;
  uint32_t is_on;
  uint32_t developer_tools;
};
static_assert(sizeof(ConfidentialState) == 12);

struct ConfidentialSettings {
  uint32_t version;
  uint32_t environment;
  uint32_t is_on;
  uint32_t developer_tools;
  uint32_t multi_gpu;
};
static_assert(sizeof(ConfidentialSettings) == 20 && offsetof(ConfidentialSettings, is_on) == 8);
static_assert(struct_version<ConfidentialSettings>(1) == 0x01000014);

enum class PcieDirection : uint32_t { kTransmit = 0, kReceive = 1 };

enum class ClockType : uint32_t { kGraphics = 0, kSm = 1, kMemory = 2, kVideo = 3 };
enum class ClockId : uint32_t { kCurrent = 0, kApplication = 1, kApplicationDefault = 2 };
// What holds clocks back; the numbers have a hole.
enum class Policy : uint32_t {
  kPower = 0,
  kThermal = 1,
  kSyncBoost = 2,
  kBoardLimit = 3,
  kLowUtilization = 4,
  kReliability = 5,
  kApplicationClocks = 10,
  kBaseClocks = 11,
};
enum class LinkError : uint32_t {
  kReplay = 0,
  kRecovery = 1,
  kCrcFlit = 2,
  kCrcData = 3,
  kEcc = 4
};
inline constexpr uint8_t kFabricNotSupported = 0;
inline constexpr uint8_t kFabricCompleted = 3;

struct DeviceAttributes {  // of a MIG device
  uint32_t multiprocessors;
  uint32_t copy_engines;
  uint32_t decoders;
  uint32_t encoders;
  uint32_t jpegs;
  uint32_t ofas;
  uint32_t gpu_instance_slices;
  uint32_t compute_instance_slices;
  uint64_t memory_mib;
};
static_assert(sizeof(DeviceAttributes) == 40 && offsetof(DeviceAttributes, memory_mib) == 32);
static_assert(offsetof(DeviceAttributes, gpu_instance_slices) == 24);
static_assert(offsetof(DeviceAttributes, compute_instance_slices) == 28);

// Before 450.51 (and still from the unsuffixed wait) the first 24 bytes only.
struct EventDataV1 {
  Handle device;
  uint64_t type;
  uint64_t data;
};
static_assert(sizeof(EventDataV1) == 24 && offsetof(EventDataV1, data) == 16);

struct EventData {
  Handle device;
  uint64_t type;  // one of the masks below
  uint64_t data;  // of kEventXid: the number
  uint32_t gpu_instance;
  uint32_t compute_instance;
};
static_assert(sizeof(EventData) == 32 && offsetof(EventData, type) == 8);
static_assert(offsetof(EventData, data) == 16 && offsetof(EventData, gpu_instance) == 24);
static_assert(offsetof(EventData, compute_instance) == 28);

inline constexpr uint64_t kEventSingleBit = 0x1;
inline constexpr uint64_t kEventDoubleBit = 0x2;
inline constexpr uint64_t kEventPerformanceState = 0x4;
inline constexpr uint64_t kEventXid = 0x8;
inline constexpr uint64_t kEventClock = 0x10;
inline constexpr uint64_t kEventPowerSource = 0x80;
inline constexpr uint64_t kEventMigChange = 0x100;
inline constexpr uint64_t kEventSingleBitStorm = 0x200;
inline constexpr uint64_t kEventRetirement = 0x400;
inline constexpr uint64_t kEventRetirementFailure = 0x800;
inline constexpr uint64_t kEventPoison = 0x1000;
inline constexpr uint64_t kEventFatalPoison = 0x2000;
inline constexpr uint64_t kEventUnavailable = 0x4000;
inline constexpr uint64_t kEventRecoveryAction = 0x8000;

// Why clocks are not at their highest.
inline constexpr uint64_t kReasonIdle = 0x1;
inline constexpr uint64_t kReasonApplicationsClocks = 0x2;
inline constexpr uint64_t kReasonSwPowerCap = 0x4;
inline constexpr uint64_t kReasonHwSlowdown = 0x8;
inline constexpr uint64_t kReasonSyncBoost = 0x10;
inline constexpr uint64_t kReasonSwThermal = 0x20;
inline constexpr uint64_t kReasonHwThermal = 0x40;
inline constexpr uint64_t kReasonHwPowerBrake = 0x80;
inline constexpr uint64_t kReasonDisplayClock = 0x100;

inline constexpr uint32_t kArchitectureAmpere = 7;
inline constexpr uint32_t kPerformanceStateUnknown = 32;

}  // namespace gpusight::collect::nvml
