// Recorded history as a Queryable: what is on disk and, where a head is given, what is not yet. The
// one ends and the other begins at the newest committed tick, so that no sample is seen twice.
//
// Which tier answers a selector, and what of its rows, is said in tier_choice.h. What has not been
// rolled up yet is rolled up while it is read, so that a rolled-up tier reaches to the present; its
// last row may then stand for a span that is not over and is dated at its newest sample. Parts of
// a row that the selector's function does not look at are 0.
//
// Chunks that are damaged are left out, counted and logged; the rest of the answer stands. Where
// the database cannot be opened for reading, the head answers alone: the writer has the same
// trouble and reports it.
//
// Labels are listed by chunks: a series counts as having samples in a span when a chunk that
// reaches into the span has any of it.
//
// Threads: as every Queryable. A SeriesSet holds a read transaction until it is destroyed or has
// been cancelled.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/queryable.h"
#include "store/head.h"
#include "store/read_session.h"

namespace gpusight::store {

class HistoryReader final : public model::Queryable {
 public:
  // `head` may be nullptr; it and what else is given outlive the reader and all its sets.
  HistoryReader(std::shared_ptr<ReadPool> pool, const Head* head)
      : pool_(std::move(pool)), head_(head) {}

  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override;
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher> matchers,
                                               int64_t start_ms, int64_t end_ms,
                                               std::stop_token stop) const override;
  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const model::Matcher> matchers,
                                                int64_t start_ms, int64_t end_ms,
                                                std::stop_token stop) const override;

  // Chunks that queries have left out because they are damaged; one may be counted again.
  uint64_t damaged() const { return damaged_->load(); }

 private:
  std::shared_ptr<ReadPool> pool_;
  const Head* head_;
  std::shared_ptr<std::atomic<uint64_t>> damaged_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace gpusight::store
