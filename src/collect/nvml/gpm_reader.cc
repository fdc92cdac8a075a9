#include "collect/nvml/gpm_reader.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "collect/nvml/field_tables.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using enum catalog::MetricId;

constexpr double kPerCent = 0.01;
constexpr double kMebi = 1024.0 * 1024.0;
constexpr DriverAges kSince560{.first = {560, 28, 3}};
constexpr DriverAges kSince575{.first = {575, 51, 2}};
constexpr DriverAges kSince610{.first = {610, 0, 0}};
constexpr DriverAges kSince595{.first = {595, 45, 4}};

struct GpmRow {
  uint32_t id;
  MetricId metric;
  double unit = kPerCent;
  std::string_view label = {};
  DriverAges ages = {};
};

// clang-format off
constexpr GpmRow kRows[] = {
    {1, kGpuGraphicsActivity}, {2, kGpuSmActivity}, {3, kGpuSmOccupancy}, {4, kGpuIntegerActivity},
    {5, kGpuTensorActivity}, {10, kGpuDramActivity}, {11, kGpuFp64Activity}, {12, kGpuFp32Activity},
    {13, kGpuFp16Activity},
    {6, kGpuTensorPipeActivity, kPerCent, "dfma"}, {7, kGpuTensorPipeActivity, kPerCent, "hmma"},
    {8, kGpuTensorPipeActivity, kPerCent, "dmma", kSince595}, {9, kGpuTensorPipeActivity, kPerCent, "imma"},
    {20, kGpuPcieTransmitMean, kMebi}, {21, kGpuPcieReceiveMean, kMebi},
    {60, kGpuNvlinkReceiveMean, kMebi}, {61, kGpuNvlinkTransmitMean, kMebi},
    {30, kGpuMediaActivity, kPerCent, "nvdec0"}, {31, kGpuMediaActivity, kPerCent, "nvdec1"},
    {32, kGpuMediaActivity, kPerCent, "nvdec2"}, {33, kGpuMediaActivity, kPerCent, "nvdec3"},
    {34, kGpuMediaActivity, kPerCent, "nvdec4"}, {35, kGpuMediaActivity, kPerCent, "nvdec5"},
    {36, kGpuMediaActivity, kPerCent, "nvdec6"}, {37, kGpuMediaActivity, kPerCent, "nvdec7"},
    {40, kGpuMediaActivity, kPerCent, "nvjpg0"}, {41, kGpuMediaActivity, kPerCent, "nvjpg1"},
    {42, kGpuMediaActivity, kPerCent, "nvjpg2"}, {43, kGpuMediaActivity, kPerCent, "nvjpg3"},
    {44, kGpuMediaActivity, kPerCent, "nvjpg4"}, {45, kGpuMediaActivity, kPerCent, "nvjpg5"},
    {46, kGpuMediaActivity, kPerCent, "nvjpg6"}, {47, kGpuMediaActivity, kPerCent, "nvjpg7"},
    {50, kGpuMediaActivity, kPerCent, "nvofa0"}, {51, kGpuMediaActivity, kPerCent, "nvofa1", kSince560},
    {166, kGpuMediaActivity, kPerCent, "nvenc0", kSince575}, {167, kGpuMediaActivity, kPerCent, "nvenc1", kSince575},
    {168, kGpuMediaActivity, kPerCent, "nvenc2", kSince575}, {169, kGpuMediaActivity, kPerCent, "nvenc3", kSince575},
};
// clang-format on
static_assert(std::size(kRows) <= kMostGpmMetrics);

// Two of each link; those of links from the eighteenth on came later, with other numbers.
std::span<const GpmRow> link_rows() {
  static const std::vector<GpmRow> kLinkRows = [] {
    std::vector<GpmRow> rows;
    for (unsigned link = 0; link < kMostLinks; ++link) {
      const bool is_late = link >= 18;
      const uint32_t first = is_late ? 212 + 2 * (link - 18) : 62 + 2 * link;
      const DriverAges ages = is_late ? kSince610 : DriverAges{};
      rows.push_back({first, kGpuNvlinkLinkReceiveMean, kMebi, link_label(link), ages});
      rows.push_back({first + 1, kGpuNvlinkLinkTransmitMean, kMebi, link_label(link), ages});
    }
    return rows;
  }();
  return kLinkRows;
}
static_assert(2 * kMostLinks <= kMostGpmMetrics);

std::span<const GpmRow> rows_of(GpmPart part) {
  return part == GpmPart::kUnits ? std::span<const GpmRow>(kRows) : link_rows();
}

constexpr MetricId kMetrics[] = {
    kGpuGraphicsActivity,   kGpuSmActivity,        kGpuSmOccupancy,        kGpuTensorActivity,
    kGpuTensorPipeActivity, kGpuDramActivity,      kGpuFp64Activity,       kGpuFp32Activity,
    kGpuFp16Activity,       kGpuIntegerActivity,   kGpuMediaActivity,      kGpuPcieTransmitMean,
    kGpuPcieReceiveMean,    kGpuNvlinkReceiveMean, kGpuNvlinkTransmitMean,
};

// What one GPU instance lacks another may have: each is remembered by itself. Metrics lie below
// 512, instances far below 127, which stands for the whole GPU.
uint32_t sub_key(std::optional<uint32_t> gpu_instance, uint32_t metric) {
  return metric | (gpu_instance.value_or(127) & 127) << 9;
}

constexpr MetricId kLinkMetrics[] = {kGpuNvlinkLinkReceiveMean, kGpuNvlinkLinkTransmitMean};

void say(Gathering& found, GpmPart part, Return code) {
  const auto metrics = part == GpmPart::kUnits ? std::span<const MetricId>(kMetrics)
                                               : std::span<const MetricId>(kLinkMetrics);
  for (const MetricId metric : metrics) found.put(metric, {code, 0});
}

}  // namespace

std::span<const MetricId> gpm_metrics() { return kMetrics; }

GpmReader::GpmReader(const NvmlApi& api, const std::optional<DriverVersion>& driver, GpmPart part,
                     std::optional<uint32_t> gpu_instance)
    : api_(api), driver_(driver), part_(part), gpu_instance_(gpu_instance) {}

GpmReader::~GpmReader() {
  for (GpmSample sample : samples_) {
    if (sample != nullptr && api_.gpm_free != nullptr) api_.gpm_free(sample);
  }
}

// Whether the device has it at all is asked until the samples stand.
Return GpmReader::prepare(Conversation& gpu) {
  if (samples_[1] != nullptr) return Return::kSuccess;
  if (api_.gpm_metrics == nullptr || api_.gpm_free == nullptr) return Return::kFunctionNotFound;
  GpmSupport support{.version = 1};
  Return code = gpu.ask(Query::kGpmSupport, 0, api_.gpm_support, &support);
  if (code == Return::kSuccess && support.is_supported == 0) {
    code = Return::kNotSupported;
    gpu.note(Query::kGpmSupport, 0, code);
  }
  for (GpmSample& sample : samples_) {
    if (code != Return::kSuccess || sample != nullptr) continue;
    code = gpu.ask_library(Query::kGpmAlloc, 0, api_.gpm_alloc, &sample);
    if (code == Return::kSuccess && sample == nullptr) code = Return::kMemory;
  }
  return code;
}

Return GpmReader::take_sample(Conversation& gpu, GpmSample into) {
  if (!gpu_instance_) return gpu.ask(Query::kGpmSample, 0xFFFF, api_.gpm_sample, into);
  return gpu.ask(Query::kGpmSample, *gpu_instance_, api_.gpm_instance_sample,
                 unsigned{*gpu_instance_}, into);
}

void GpmReader::read(Conversation& gpu, Gathering& found) {
  const MonoTime now = gpu.report().now();
  Return code = prepare(gpu);
  if (code == Return::kSuccess && taken_at_ && now - *taken_at_ < kShortest) {
    return say(found, part_, Return::kNotReady);
  }
  if (code == Return::kSuccess) code = take_sample(gpu, samples_[1]);
  if (code != Return::kSuccess) {
    taken_at_.reset();  // what comes is not to be compared with what was before the failure
    return say(found, part_, code);
  }
  if (taken_at_) {
    put_metrics(gpu, found, now - *taken_at_);
  } else {
    say(found, part_, Return::kNotReady);
  }
  std::swap(samples_[0], samples_[1]);
  taken_at_ = now;
}

void GpmReader::put_metrics(Conversation& gpu, Gathering& found, Duration window) {
  GpmMetrics request{.version = 1, .count = 0, .earlier = samples_[0], .later = samples_[1]};
  std::array<const GpmRow*, kMostGpmMetrics> asked{};
  for (const GpmRow& row : rows_of(part_)) {
    const bool is_known = row.ages.holds(driver_);
    if (!is_known || !gpu.is_worth_asking(Query::kGpmMetric, sub_key(gpu_instance_, row.id))) {
      continue;
    }
    asked[request.count] = &row;
    request.metrics[request.count++].id = row.id;
  }
  if (request.count == 0) return;
  const Return code =
      gpu.ask_library(Query::kGpmMetrics, sub_key(gpu_instance_, 0), api_.gpm_metrics, &request);
  for (size_t i = 0; i < request.count && i < asked.size(); ++i) {
    const GpmRow& row = *asked[i];
    const GpmMetric& metric = request.metrics[i];
    if (code != Return::kSuccess) {
      found.put(row.metric, {code, 0});
      continue;
    }
    // Each has its own code; what failed holds a zero that means nothing.
    gpu.note(Query::kGpmMetric, sub_key(gpu_instance_, row.id), metric.result);
    found.put(row.metric, {metric.result, metric.value * row.unit}, row.label, window);
  }
}

}  // namespace gpusight::collect::nvml
