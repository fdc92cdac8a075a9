// The head of a daemon that starts anew goes on where recorded history ends, so that charts and
// queries of the last minutes are not empty after a restart.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "store/head.h"
#include "store/history.h"

namespace gpusight::store {

// Fills an empty head with what was recorded in the `span` before `wall`, as if its ticks had been
// appended when they were; `mono` is the same moment. What was recorded later than `wall` (the
// clock was set back) stays out. Takes about a second for ten minutes of 10 million samples, in
// steps of a minute so that little is held at a time. On failure the head has what was read before
// it.
//
// Call it before anything else is appended.
Status restore_head(Head& head, const History& history, MonoTime mono, WallTime wall,
                    Duration span);

}  // namespace gpusight::store
