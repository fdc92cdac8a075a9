#include "store/history_read.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/log.h"
#include "store/history_cursor.h"
#include "store/tier_choice.h"

namespace gpusight::store {
namespace {

using model::Labels;
using model::Matcher;

constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();

// Series on disk and in the head, each once, in label order.
class HistorySeriesSet final : public model::SeriesSet {
 public:
  HistorySeriesSet(std::shared_ptr<Reading> reading, SeriesByLabels stored,
                   std::unique_ptr<model::SeriesSet> head)
      : reading_(std::move(reading)), stored_(std::move(stored)), head_(std::move(head)) {}

  int64_t resolution_ms() const override { return reading_->tier().resolution_ms; }
  std::string_view tier() const override { return reading_->tier().name; }

  Result<std::unique_ptr<model::SeriesCursor>> next() override {
    while (true) {
      TRY(reading_->check_stop());
      if (head_ != nullptr && head_cursor_ == nullptr) {
        head_cursor_ = TRY(head_->next());
        if (head_cursor_ == nullptr) head_.reset();
      }
      if (stored_.empty() && head_cursor_ == nullptr) {
        return std::unique_ptr<model::SeriesCursor>();
      }
      auto cursor = TRY(next_cursor());
      if (TRY(cursor->has_samples())) {
        return std::unique_ptr<model::SeriesCursor>(std::move(cursor));
      }
    }
  }

 private:
  Result<std::unique_ptr<HistoryCursor>> next_cursor() {
    const bool head_first = head_cursor_ != nullptr &&
                            (stored_.empty() || head_cursor_->labels() <= stored_.begin()->first);
    const bool both =
        head_first && !stored_.empty() && head_cursor_->labels() == stored_.begin()->first;
    Labels labels = head_first ? head_cursor_->labels() : stored_.begin()->first;
    std::vector<StoredSeries> stored;
    if (!head_first || both) stored = std::move(stored_.extract(stored_.begin()).mapped());
    return HistoryCursor::open(reading_, std::move(labels), std::move(stored),
                               head_first ? std::move(head_cursor_) : nullptr);
  }

  std::shared_ptr<Reading> reading_;
  SeriesByLabels stored_;  // those to come
  std::unique_ptr<model::SeriesSet> head_;
  std::unique_ptr<model::SeriesCursor> head_cursor_;  // its next series
};

// There is nothing at all.
class NoSeries final : public model::SeriesSet {
 public:
  int64_t resolution_ms() const override { return 0; }
  std::string_view tier() const override { return tier_row(Tier::kRaw).name; }
  Result<std::unique_ptr<model::SeriesCursor>> next() override {
    return std::unique_ptr<model::SeriesCursor>();
  }
};

bool is_nothing_yet(const Status& status) { return status.code() == Code::kNotFound; }

// The stored series that have something in [start, end], by chunks.
Status visit_stored(ReadSession& session, std::span<const Matcher> matchers, int64_t start_ms,
                    int64_t end_ms, const std::stop_token& stop,
                    const std::function<void(const Labels&)>& visit) {
  const SeriesByLabels found = TRY(find_series(session.db(), matchers));
  std::map<int64_t, std::set<uint32_t>> missing;  // by group
  for (const auto& [labels, stored] : found) {
    for (const StoredSeries& series : stored) missing[series.group].insert(series.id);
  }
  const int64_t after_ms = start_ms == kBeginning ? start_ms : start_ms - 1;
  ChunkLoader& chunks = session.chunks();
  for (auto& [group, ids] : missing) {
    for (const TierRow& tier : kTiers) {
      auto infos = TRY(chunks.find(group, tier.tier, after_ms, end_ms));
      for (auto info = infos.rbegin(); info != infos.rend() && !ids.empty(); ++info) {
        if (stop.stop_requested()) return {Code::kCancelled, "reading history was cancelled"};
        const Status loaded = chunks.load(info->id);
        if (loaded.code() == Code::kCorrupt) continue;
        TRY(loaded);
        for (const ChunkHead::Column& column : chunks.columns()) {
          ids.erase(tier.resolution_ms == 0 ? column.id : column.id / 8);
        }
      }
    }
  }
  for (const auto& [labels, stored] : found) {
    const bool there = std::ranges::any_of(stored, [&](const StoredSeries& series) {
      return !missing[series.group].contains(series.id);
    });
    if (there) visit(labels);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<model::SeriesSet>> HistoryReader::select(std::span<const Matcher> matchers,
                                                                const model::SelectHints& hints,
                                                                std::stop_token stop) const {
  Result<ReadPool::Lease> session = pool_->take();
  if (!session.ok()) {
    if (head_ != nullptr) return head_->select(matchers, hints, std::move(stop));
    if (!is_nothing_yet(session.status())) return session.status();
    return std::unique_ptr<model::SeriesSet>(std::make_unique<NoSeries>());
  }
  const int64_t committed_ms = (*session)->committed_until_ms().value_or(kBeginning);
  SeriesByLabels stored = TRY(find_series((*session)->db(), matchers));
  const TierChoice choice = choose_tier(TRY(reach_of((*session)->db())), hints);
  std::unique_ptr<model::SeriesSet> head;
  if (head_ != nullptr && hints.end_ms > committed_ms) {
    model::SelectHints newest = hints;
    newest.start_ms = std::max(hints.start_ms, committed_ms);
    // A row that is not over holds what is before the window too.
    if (choice.tier != Tier::kRaw) newest.start_ms = committed_ms;
    head = TRY(head_->select(matchers, newest, stop));
  }
  auto reading = std::make_shared<Reading>(
      std::move(*session), Window{.start_ms = hints.start_ms, .end_ms = hints.end_ms}, choice,
      std::move(stop), damaged_);
  return std::unique_ptr<model::SeriesSet>(
      std::make_unique<HistorySeriesSet>(std::move(reading), std::move(stored), std::move(head)));
}

Result<std::vector<std::string>> HistoryReader::label_names(std::span<const Matcher> matchers,
                                                            int64_t start_ms, int64_t end_ms,
                                                            std::stop_token stop) const {
  std::set<std::string> names;
  if (head_ != nullptr) {
    const auto in_head = TRY(head_->label_names(matchers, start_ms, end_ms, stop));
    names.insert(in_head.begin(), in_head.end());
  }
  const auto session = pool_->take();
  if (session.ok()) {
    TRY(visit_stored(**session, matchers, start_ms, end_ms, stop, [&](const Labels& labels) {
      for (const auto& [name, value] : labels) names.insert(name);
    }));
  } else if (head_ == nullptr && !is_nothing_yet(session.status())) {
    return session.status();
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::string>> HistoryReader::label_values(std::string_view name,
                                                             std::span<const Matcher> matchers,
                                                             int64_t start_ms, int64_t end_ms,
                                                             std::stop_token stop) const {
  std::set<std::string> values;
  if (head_ != nullptr) {
    const auto in_head = TRY(head_->label_values(name, matchers, start_ms, end_ms, stop));
    values.insert(in_head.begin(), in_head.end());
  }
  const auto session = pool_->take();
  if (session.ok()) {
    TRY(visit_stored(**session, matchers, start_ms, end_ms, stop, [&](const Labels& labels) {
      for (const auto& [label, value] : labels) {
        if (label == name) values.insert(value);
      }
    }));
  } else if (head_ == nullptr && !is_nothing_yet(session.status())) {
    return session.status();
  }
  return std::vector<std::string>(values.begin(), values.end());
}

}  // namespace gpusight::store
