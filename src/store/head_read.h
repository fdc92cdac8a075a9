// Reading the head's groups: from immutable GroupViews to numbers, on the reader's own thread and
// under no lock. Not thread-safe; every call makes objects of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/queryable.h"
#include "store/head.h"
#include "store/head_group.h"

namespace gpusight::store {

// Samples with start < time <= end, in milliseconds since 1970.
struct Window {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
};

// "host", "self" or the device's uuid
std::string subject_name(const GroupKey& key);

// The labels of a series; label_of() reads one of them, empty when it has none.
model::Labels labels_of(const GroupKey& key, const SeriesInfo& series);
std::string_view label_of(const GroupKey& key, const SeriesInfo& series, std::string_view name);

bool series_matches(const GroupKey& key, const SeriesInfo& series,
                    std::span<const model::Matcher> matchers);

// False when plain equality on the metric's name or the uuid rules every series of the group out.
// Calls nothing of the matchers', so that it may be asked under a lock.
bool may_match(const GroupKey& key, std::span<const model::Matcher> matchers);

// The matching series that have samples in the window, in label order. Fails with kCancelled, also
// later while it is read, once `stop` is requested.
Result<std::unique_ptr<model::SeriesSet>> select_series(std::span<const GroupView> views,
                                                        std::span<const model::Matcher> matchers,
                                                        Window window, std::stop_token stop);

// The rows later than since_ms, with the series that have a number there; nullopt when none has.
std::optional<HeadGroup> unpack_group(const GroupView& view, int64_t since_ms);

}  // namespace gpusight::store
