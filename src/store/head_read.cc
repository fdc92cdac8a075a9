#include "store/head_read.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"

namespace gpusight::store {
namespace {

using model::Labels;
using model::Matcher;

constexpr std::string_view kNameLabel = "__name__";
constexpr std::string_view kUuidLabel = "uuid";

Status cancelled() { return {Code::kCancelled, "reading the head of history was cancelled"}; }

// The blocks of one group that a window touches, opened; times are unpacked when first needed.
class WindowReader {
 public:
  static Result<WindowReader> open(const GroupView& view, Window window) {
    WindowReader reader(window);
    for (const BlockPtr& block : view.blocks) {
      if (block->last_ms <= window.start_ms || block->first_ms > window.end_ms) continue;
      reader.blocks_.push_back(
          {.bytes = block, .view = TRY(BlockView::open(block->bytes)), .times_ms = {}});
    }
    return reader;
  }

  Status read(const catalog::MetricRow& row, uint32_t id, std::vector<int64_t>& times_ms,
              std::vector<double>& values) {
    for (OpenBlock& block : blocks_) {
      const BlockView::Column* column = block.view.find(id);
      if (column == nullptr) continue;
      if (block.times_ms.empty()) TRY(block.view.read_times(block.times_ms));
      TRY(block.view.read_cells(*column, cells_));
      for (size_t i = 0; i < cells_.size(); ++i) {
        const int64_t time_ms = block.times_ms[i];
        const Cell& cell = cells_[i];
        const bool is_sample = cell.kind == CellKind::kValue || cell.kind == CellKind::kAbsent;
        if (!is_sample || time_ms <= window_.start_ms || time_ms > window_.end_ms) continue;
        times_ms.push_back(time_ms);
        values.push_back(cell.kind == CellKind::kValue ? catalog::value_of(row, cell.quantum)
                                                       : model::stale_marker());
      }
    }
    return {};
  }

 private:
  struct OpenBlock {
    BlockPtr bytes;  // what the view looks into
    BlockView view;
    std::vector<int64_t> times_ms;
  };

  explicit WindowReader(Window window) : window_(window) {}

  Window window_;
  std::vector<OpenBlock> blocks_;
  std::vector<Cell> cells_;
};

class HeadCursor final : public model::SeriesCursor {
 public:
  HeadCursor(Labels labels, std::vector<int64_t> times_ms, std::vector<double> values)
      : labels_(std::move(labels)), times_ms_(std::move(times_ms)), values_(std::move(values)) {}

  const Labels& labels() const override { return labels_; }
  Result<model::Stretch> next() override {
    if (std::exchange(is_done_, true)) return model::Stretch{};
    return model::Stretch{.times_ms = times_ms_, .values = values_};
  }

 private:
  Labels labels_;
  std::vector<int64_t> times_ms_;
  std::vector<double> values_;
  bool is_done_ = false;
};

class HeadSeriesSet final : public model::SeriesSet {
 public:
  struct Wanted {
    Labels labels;
    catalog::MetricId metric{};
    uint32_t id = 0;
    size_t reader = 0;  // its place in readers_
  };

  HeadSeriesSet(std::vector<WindowReader> readers, std::vector<Wanted> wanted, std::stop_token stop)
      : readers_(std::move(readers)), wanted_(std::move(wanted)), stop_(std::move(stop)) {}

  int64_t resolution_ms() const override { return 0; }
  std::string_view tier() const override { return "raw"; }

  Result<std::unique_ptr<model::SeriesCursor>> next() override {
    while (next_ < wanted_.size()) {
      if (stop_.stop_requested()) return cancelled();
      Wanted& wanted = wanted_[next_++];
      std::vector<int64_t> times_ms;
      std::vector<double> values;
      TRY(readers_[wanted.reader].read(catalog::metric(wanted.metric), wanted.id, times_ms,
                                       values));
      if (times_ms.empty()) continue;
      return std::unique_ptr<model::SeriesCursor>(std::make_unique<HeadCursor>(
          std::move(wanted.labels), std::move(times_ms), std::move(values)));
    }
    return std::unique_ptr<model::SeriesCursor>();
  }

 private:
  std::vector<WindowReader> readers_;
  std::vector<Wanted> wanted_;
  size_t next_ = 0;
  std::stop_token stop_;
};

// The numbers of one series of a group, one for each row of `blocks`; a held cell repeats the
// number before it.
std::vector<double> unpack_series(const SeriesInfo& series, std::span<const BlockView> blocks) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const catalog::MetricRow& row = catalog::metric(series.metric);
  std::vector<double> values;
  std::vector<Cell> cells;
  double before = kNone;
  for (const BlockView& block : blocks) {
    if (const BlockView::Column* column = block.find(series.id)) {
      const Status read = block.read_cells(*column, cells);
      CHECK(read.ok(), read.message());
    } else {
      cells.assign(block.rows(), Cell{});
    }
    for (const Cell& cell : cells) {
      if (cell.kind == CellKind::kValue) before = catalog::value_of(row, cell.quantum);
      if (cell.kind == CellKind::kAbsent) before = kNone;
      values.push_back(cell.kind == CellKind::kGap ? kNone : before);
    }
  }
  return values;
}

}  // namespace

std::string subject_name(const GroupKey& key) {
  return key.scope == catalog::Scope::kDevice ? key.uuid
                                              : std::string(catalog::scope_name(key.scope));
}

std::string_view label_of(const GroupKey& key, const SeriesInfo& series, std::string_view name) {
  const catalog::MetricRow& row = catalog::metric(series.metric);
  if (name == kNameLabel) return row.name;
  if (name == kUuidLabel) return key.uuid;
  if (!row.label.empty() && name == row.label) return series.label;
  return {};
}

bool series_matches(const GroupKey& key, const SeriesInfo& series,
                    std::span<const Matcher> matchers) {
  return std::ranges::all_of(matchers, [&](const Matcher& matcher) {
    return matcher.accepts(label_of(key, series, matcher.name));
  });
}

bool may_match(const GroupKey& key, std::span<const Matcher> matchers) {
  return std::ranges::all_of(matchers, [&](const Matcher& matcher) {
    if (matcher.kind != Matcher::Kind::kEqual) return true;
    if (matcher.name == kUuidLabel) return matcher.value == key.uuid;
    if (matcher.name != kNameLabel) return true;
    const catalog::MetricRow* row = catalog::find_metric(matcher.value);
    return row != nullptr && row->cadence == key.cadence;
  });
}

Labels labels_of(const GroupKey& key, const SeriesInfo& series) {
  const catalog::MetricRow& row = catalog::metric(series.metric);
  Labels labels;
  for (const std::string_view name : {kNameLabel, row.label, kUuidLabel}) {
    const std::string_view value = label_of(key, series, name);
    if (!value.empty()) labels.emplace_back(name, value);
  }
  std::ranges::sort(labels);
  return labels;
}

Result<std::unique_ptr<model::SeriesSet>> select_series(std::span<const GroupView> views,
                                                        std::span<const Matcher> matchers,
                                                        Window window, std::stop_token stop) {
  std::vector<WindowReader> readers;
  std::vector<HeadSeriesSet::Wanted> wanted;
  for (const GroupView& view : views) {
    if (stop.stop_requested()) return cancelled();
    const size_t before = wanted.size();
    for (const SeriesInfo& series : *view.series) {
      if (!series_matches(*view.key, series, matchers)) continue;
      wanted.push_back({.labels = labels_of(*view.key, series),
                        .metric = series.metric,
                        .id = series.id,
                        .reader = readers.size()});
    }
    if (wanted.size() > before) readers.push_back(TRY(WindowReader::open(view, window)));
  }
  std::ranges::sort(wanted, {}, &HeadSeriesSet::Wanted::labels);
  return std::unique_ptr<model::SeriesSet>(
      std::make_unique<HeadSeriesSet>(std::move(readers), std::move(wanted), std::move(stop)));
}

std::optional<HeadGroup> unpack_group(const GroupView& view, int64_t since_ms) {
  HeadGroup group{.subject = subject_name(*view.key)};
  std::vector<BlockView> blocks;
  std::vector<int64_t> block_times_ms;
  for (const BlockPtr& block : view.blocks) {
    // Rows of a slow group may hold a number of a block before; those are few enough to read all.
    if (view.key->cadence == catalog::Cadence::kFast && block->last_ms <= since_ms) continue;
    Result<BlockView> opened = BlockView::open(block->bytes);
    CHECK(opened.ok(), opened.status().message());
    const Status read = opened->read_times(block_times_ms);
    CHECK(read.ok(), read.message());
    group.times_ms.insert(group.times_ms.end(), block_times_ms.begin(), block_times_ms.end());
    blocks.push_back(std::move(*opened));
  }
  const auto wanted = std::ranges::upper_bound(group.times_ms, since_ms) - group.times_ms.begin();
  group.times_ms.erase(group.times_ms.begin(), group.times_ms.begin() + wanted);
  if (group.times_ms.empty()) return std::nullopt;

  for (const SeriesInfo& series : *view.series) {
    std::vector<double> values = unpack_series(series, blocks);
    values.erase(values.begin(), values.begin() + wanted);
    const bool has_number = std::ranges::any_of(values, [](double v) { return v == v; });
    if (!has_number) continue;
    group.series.push_back(
        {.metric = series.metric, .label = series.label, .values = std::move(values)});
  }
  if (group.series.empty()) return std::nullopt;
  return group;
}

}  // namespace gpusight::store
