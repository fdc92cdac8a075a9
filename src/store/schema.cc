#include "store/schema.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "base/fd.h"

namespace gpusight::store {
namespace {

// auto_vacuum counts only before the first table, and so has no way back. FULL syncs the -wal at
// every commit: what is committed survives loss of power.
constexpr const char* kSettings =
    "PRAGMA auto_vacuum=INCREMENTAL;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA secure_delete=OFF;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA journal_size_limit=4194304;"
    "PRAGMA cache_size=-1024;";

constexpr const char* kTables =
    "CREATE TABLE state(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE series_group(id INTEGER PRIMARY KEY, scope TEXT NOT NULL, uuid TEXT NOT NULL,"
    "  cadence TEXT NOT NULL, UNIQUE(scope, uuid, cadence));"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL,"
    "  metric INTEGER NOT NULL, label TEXT NOT NULL,"
    "  numerator INTEGER NOT NULL, denominator INTEGER NOT NULL,"
    "  UNIQUE(metric, group_id, label, numerator, denominator));"
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, tier INTEGER NOT NULL,"
    "  level INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,"
    "  head BLOB NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX chunk_by_group ON chunk(group_id, tier, last_ms, first_ms, level);"
    "CREATE INDEX chunk_by_time ON chunk(tier, last_ms, first_ms);"
    "CREATE INDEX chunk_to_merge ON chunk(tier, level, group_id, last_ms) WHERE level < 2;"
    "CREATE TABLE rolled(group_id INTEGER NOT NULL, tier INTEGER NOT NULL,"
    "  until_ms INTEGER NOT NULL, PRIMARY KEY(group_id, tier)) WITHOUT ROWID;"
    "CREATE TABLE event(id INTEGER PRIMARY KEY, wall_ns INTEGER NOT NULL, kind INTEGER NOT NULL,"
    "  severity TEXT NOT NULL, uuid TEXT NOT NULL, code INTEGER NOT NULL,"
    "  fields TEXT NOT NULL, arguments TEXT NOT NULL);"
    "CREATE INDEX event_by_time ON event(wall_ns);";

Status check_version(Db& db) {
  const int64_t application = TRY(db.number("PRAGMA application_id")).value_or(0);
  if (application != kApplicationId) {
    return {Code::kCorrupt, fmt::format("{} is no database of gpusight's history", db.path())};
  }
  const int64_t version = TRY(db.number("PRAGMA user_version")).value_or(0);
  if (version > kFormatVersion) {
    return {Code::kUnsupported,
            fmt::format("{} was written by a newer gpusight (format {}, this one knows {})",
                        db.path(), version, kFormatVersion)};
  }
  return {};
}

Result<std::unique_ptr<Db>> open_to_read(const std::string& path, Db::Mode mode) {
  std::unique_ptr<Db> db = TRY(Db::open(path, mode));
  TRY(check_version(*db));
  TRY(db->run("PRAGMA cache_size=-4096"));
  return db;
}

Status make_tables(Db& db) {
  Transaction transaction = TRY(Transaction::begin(db, Transaction::Kind::kWrite));
  TRY(db.run(kTables));
  TRY(db.run(fmt::format("PRAGMA application_id={}", kApplicationId).c_str()));
  TRY(db.run(fmt::format("PRAGMA user_version={}", kFormatVersion).c_str()));
  return transaction.commit();
}

}  // namespace

Result<std::unique_ptr<Db>> open_to_write(const std::string& path) {
  // SQLite would make it readable for all that the umask lets; it and what lies beside it get the
  // mode of the file that is there.
  { const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); }
  std::unique_ptr<Db> db = TRY(Db::open(path, Db::Mode::kCreate));
  const int64_t tables = TRY(db->number("SELECT COUNT(*) FROM sqlite_schema")).value_or(0);
  // A newer one is told from its header alone, before anything is set that would write.
  if (tables > 0) TRY(check_version(*db));
  TRY(db->run(kSettings));
  if (tables == 0) TRY(make_tables(*db));
  return db;
}

Result<std::unique_ptr<Db>> open_to_read(const std::string& path) {
  Result<std::unique_ptr<Db>> db = open_to_read(path, Db::Mode::kRead);
  // Readers of a database with a -wal keep a -shm beside it. Where they may not make one, and there
  // is no -wal, nobody has it open.
  const bool may_be_unchanging =
      db.status().code() == Code::kNotFound || db.status().code() == Code::kPermissionDenied;
  if (db.ok() || !may_be_unchanging) return db;
  if (::access(path.c_str(), R_OK) != 0 || ::access((path + "-wal").c_str(), F_OK) == 0) return db;
  return open_to_read(path, Db::Mode::kReadUnchanging);
}

}  // namespace gpusight::store
