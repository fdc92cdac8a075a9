#include "collect/amdgpu/ras_counts.h"

#include <utility>

#include "base/text.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;

constexpr Duration kPeriod = std::chrono::seconds(60);
constexpr size_t kMostBlocks = 32;
constexpr std::string_view kEnd = "_err_count";
constexpr size_t kLongestList = 1 << 20;  // of pages, a line of 28 bytes each
constexpr MetricId kMetrics[] = {
    MetricId::kGpuEccVolatileCorrected,   MetricId::kGpuEccVolatileUncorrected,
    MetricId::kGpuEccVolatileCorrectedAt, MetricId::kGpuEccVolatileUncorrectedAt,
    MetricId::kGpuEccVolatileDeferredAt,  MetricId::kGpuRetiredPagesUncorrected,
    MetricId::kGpuRetiredPagesPending,
};

}  // namespace

RasCount parse_ras_count(std::string_view text) {
  RasCount count;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 2) continue;
    if (words[0] == "ce:") count.corrected = parse_uint(words[1]);
    if (words[0] == "ue:") count.uncorrected = parse_uint(words[1]);
    if (words[0] == "de:") count.deferred = parse_uint(words[1]);
  }
  return count;
}

BadPages parse_bad_pages(std::string_view text) {
  BadPages pages;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 5 || !parse_uint(words[0], 16)) continue;
    if (words[4] == "R") ++pages.retired;
    if (words[4] == "P" || words[4] == "F") ++pages.pending;
  }
  return pages;
}

RasCounts::RasCounts(const platform::RootFs& root, const AmdDevice& gpu) {
  if (!gpu.has("ras")) return;
  for (const std::string& file : root.list(gpu.path("ras"))) {
    std::string path = gpu.path("ras/");
    path += file;
    if (file == "gpu_vram_bad_pages") pages_path_ = path;
    if (!file.ends_with(kEnd) || blocks_.size() == kMostBlocks) continue;
    blocks_.push_back({.name = clean_text(file.substr(0, file.size() - kEnd.size()), 32),
                       .path = std::move(path)});
  }
}

std::span<const MetricId> RasCounts::metrics() { return kMetrics; }

void RasCounts::ask(FileReader& reader) {
  for (Block& block : blocks_) {
    const auto text = reader.text(block.path);
    block.count = text ? parse_ras_count(*text) : RasCount{};
    block.failure.reset();
    if (!text) block.failure = reader.reason();
    for (const Kind kind : {&RasCount::corrected, &RasCount::uncorrected, &RasCount::deferred}) {
      if (block.count.*kind) block.told.*kind = block.count.*kind;
    }
  }
  pages_.reset();
  if (pages_path_.empty()) return;
  const auto text = reader.text(pages_path_, kLongestList);
  // A list that was cut is none.
  if (text && text->size() < kLongestList) pages_ = parse_bad_pages(*text);
}

// A sum without a part that was in it would fall and rise again: it is absent meanwhile.
void RasCounts::put(Report& report, Kind kind, MetricId by_block,
                    std::optional<MetricId> total) const {
  std::optional<uint64_t> sum;
  std::optional<model::Reason> missing;
  for (const Block& block : blocks_) {
    if (const auto& count = block.count.*kind) {
      sum = sum.value_or(0) + *count;
      report.set(by_block, static_cast<double>(*count), {}, block.name);
    } else if (block.told.*kind) {
      missing = block.failure.value_or(model::Reason::kDriverError);
      report.absent(by_block, *missing, block.name);
    }
  }
  if (!total) return;
  if (missing) return report.absent(*total, *missing);
  if (sum) report.set(*total, static_cast<double>(*sum));
}

void RasCounts::read(Report& report, FileReader& reader) {
  if (!asked_at_ || report.now() - *asked_at_ >= kPeriod) {
    asked_at_ = report.now();
    ask(reader);
  }
  put(report, &RasCount::corrected, MetricId::kGpuEccVolatileCorrectedAt,
      MetricId::kGpuEccVolatileCorrected);
  put(report, &RasCount::uncorrected, MetricId::kGpuEccVolatileUncorrectedAt,
      MetricId::kGpuEccVolatileUncorrected);
  put(report, &RasCount::deferred, MetricId::kGpuEccVolatileDeferredAt, std::nullopt);
  if (!pages_) return;
  report.set(MetricId::kGpuRetiredPagesUncorrected, static_cast<double>(pages_->retired));
  report.set(MetricId::kGpuRetiredPagesPending, pages_->pending > 0 ? 1 : 0);
}

}  // namespace gpusight::collect::amdgpu
