// The table of events: what happened, kept for longer than the log in memory. Functions over a
// connection; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "store/event_log.h"
#include "store/sqlite_db.h"

namespace gpusight::store {

// Events keep the ids they have; one whose id is taken replaces the older.
Status insert_events(Db& db, std::span<const model::Event> events);
// As EventLog::find(): oldest first, the newest `limit`. Kinds that this program does not know (a
// newer one wrote them) are left out. The monotonic time is not kept: it means nothing after a
// restart.
Result<std::vector<model::Event>> find_events(Db& db, const EventFilter& filter);
// 0 when there is none.
Result<uint64_t> last_event_id(Db& db);
// Forgets events before `wall`, and the oldest beyond `most`.
Status trim_events(Db& db, WallTime before, int64_t most);

}  // namespace gpusight::store
