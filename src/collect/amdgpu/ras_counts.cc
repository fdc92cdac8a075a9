#include "collect/amdgpu/ras_counts.h"

#include <utility>

#include "base/text.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;

constexpr Duration kPeriod = std::chrono::seconds(60);
constexpr size_t kMostBlocks = 32;
constexpr std::string_view kEnd = "_err_count";

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

void RasCounts::ask(FileReader& reader) {
  for (Block& block : blocks_) {
    const auto text = reader.text(block.path);
    block.count = text ? parse_ras_count(*text) : RasCount{};
  }
  pages_.reset();
  if (pages_path_.empty()) return;
  if (const auto text = reader.text(pages_path_)) pages_ = parse_bad_pages(*text);
}

void RasCounts::read(Report& report, FileReader& reader) {
  if (!asked_at_ || report.now() - *asked_at_ >= kPeriod) {
    asked_at_ = report.now();
    ask(reader);
  }
  std::optional<uint64_t> corrected;
  std::optional<uint64_t> uncorrected;
  const auto add = [&](const std::optional<uint64_t>& count, std::optional<uint64_t>& sum,
                       MetricId metric, const std::string& block) {
    if (!count) return;
    sum = sum.value_or(0) + *count;
    report.set(metric, static_cast<double>(*count), {}, block);
  };
  for (const Block& block : blocks_) {
    std::optional<uint64_t> deferred;
    add(block.count.corrected, corrected, MetricId::kGpuEccVolatileCorrectedAt, block.name);
    add(block.count.uncorrected, uncorrected, MetricId::kGpuEccVolatileUncorrectedAt, block.name);
    add(block.count.deferred, deferred, MetricId::kGpuEccVolatileDeferredAt, block.name);
  }
  if (corrected) {
    report.set(MetricId::kGpuEccVolatileCorrected, static_cast<double>(*corrected));
  }
  if (uncorrected) {
    report.set(MetricId::kGpuEccVolatileUncorrected, static_cast<double>(*uncorrected));
  }
  if (!pages_) return;
  report.set(MetricId::kGpuRetiredPagesUncorrected, static_cast<double>(pages_->retired));
  report.set(MetricId::kGpuRetiredPagesPending, pages_->pending > 0 ? 1 : 0);
}

}  // namespace gpusight::collect::amdgpu
