// What looks at the whole of a recorded history: its figures, whether it is sound, and every sample
// with the reason of those that are absent. Functions over one read session; not thread-safe.
#pragma once

#include <span>

#include "base/result.h"
#include "store/head_read.h"
#include "store/history.h"
#include "store/read_session.h"

namespace gpusight::store {

// Path, size and the names of the tiers; the rest is 0.
HistoryStats stats_of_file(const std::string& path);
// Fills in what the tables tell.
Status count_tables(Db& db, HistoryStats& stats);
Result<HistoryCheck> check_history(ReadSession& session);
// As History::for_each_sample().
Status visit_samples(ReadSession& session, std::span<const model::Matcher> matchers, Window window,
                     const History::Visit& visit);

}  // namespace gpusight::store
