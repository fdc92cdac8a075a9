// The database of history as a file: its tables, its version, and how it is opened. FORMAT.md says
// what the tables hold. Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/sqlite_db.h"

namespace gpusight::store {

// Grows when a program that knows only the older one would read the file wrongly.
inline constexpr int64_t kFormatVersion = 1;
// "GPSH": what `file` and SQLite know our databases by.
inline constexpr int64_t kApplicationId = 0x47505348;

// For the one who holds the state directory's lock: makes the file or takes what is there.
// kUnsupported when it was written by a newer gpusight, which leaves it as it is; kCorrupt when it
// is damaged or another program's.
Result<std::unique_ptr<Db>> open_to_write(const std::string& path);

// A connection that never writes. kNotFound when there is no file. Where the directory cannot be
// written and nobody has the file open, it is read as one that nobody changes.
Result<std::unique_ptr<Db>> open_to_read(const std::string& path);

}  // namespace gpusight::store
