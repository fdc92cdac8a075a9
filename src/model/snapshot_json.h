// A Snapshot, what changed since the one before, an event and the catalogue as JSON: what the API
// serves, what the live stream sends and what `gpusight status --json` prints.
//
// Pure functions, any thread. Numbers are in the catalogue's unit; an absent one is null and its
// reason stands beside it. Times are Unix seconds to the millisecond. What the caller may not see
// is left out: process rows of others (their totals per user stay) and events about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/result.h"
#include "model/caller.h"
#include "model/event.h"
#include "model/snapshot.h"

namespace gpusight::model {

// Grows only when a document changes in a way that old readers would misread.
inline constexpr int kSnapshotSchema = 1;

// Of each device the facts and whose it is, and nothing else: members as in the whole document.
std::string owners_json(const Snapshot& snapshot, const Caller& caller, std::string_view version);

std::string snapshot_json(const Snapshot& snapshot, const Caller& caller, std::string_view version);
void append_snapshot_json(JsonWriter& w, const Snapshot& snapshot, const Caller& caller,
                          std::string_view version);

// Reads a snapshot document back. The text may come from anyone: what does not fit is an error that
// names the place. Metrics and keys that this program does not know are passed over.
//
// A document does not hold everything: `mono` is zero, a fresh value is read_at zero and a stale
// one its age before it; windows are zero and sources 0; `start_unix_ms` and what runs a process
// are absent; what the caller was not shown is in `hidden_users`.
Result<Snapshot> parse_snapshot_json(std::string_view json);

// True if both have the same devices with the same facts in the same order, on the same host at the
// same interval: then the next can be told as a delta to the one before.
bool delta_applies(const Snapshot& previous, const Snapshot& next);

// What changed, as message number n of the live stream. delta_applies() must hold. The tail is the
// message without its head, the same for every client with the same rights.
std::string snapshot_delta_json(const Snapshot& previous, const Snapshot& next,
                                const Caller& caller, uint64_t n);
std::string snapshot_delta_tail(const Snapshot& previous, const Snapshot& next,
                                const Caller& caller);
std::string message_head(std::string_view type, uint64_t n);  // {"type":"delta","n":7,

// Processes that come and go are told to their owner and to admins; of other events everyone is
// told all but the fields that name a process.
bool may_see(const Caller& caller, const Event& event);
void append_event_json(JsonWriter& w, const Event& event, const Caller& caller);

std::string catalog_json(std::string_view version);

}  // namespace gpusight::model
