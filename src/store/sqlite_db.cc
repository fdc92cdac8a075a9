#include "store/sqlite_db.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <utility>

namespace gpusight::store {
namespace {

// Only one of our own connections can hold the file, and for moments only.
constexpr int kBusyPatienceMs = 1000;

Code code_of(int primary) {
  switch (primary) {
    case SQLITE_FULL: return Code::kExhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return Code::kPermissionDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::kUnavailable;
    case SQLITE_CANTOPEN: return Code::kNotFound;
    case SQLITE_INTERRUPT: return Code::kCancelled;
    default: return Code::kIo;
  }
}

// What would end the path of a URI, or begin an escape in it, is escaped.
std::string unchanging_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Stmt::Stmt(Stmt&& other) noexcept
    : db_(other.db_),
      statement_(std::exchange(other.statement_, nullptr)),
      is_bound_(other.is_bound_) {}

Stmt::~Stmt() { sqlite3_finalize(statement_); }

// What cannot be bound (memory is out, the text is too long) fails the next step.
Stmt& Stmt::bind(int parameter, int64_t number) {
  is_bound_ = sqlite3_bind_int64(statement_, parameter, number) == SQLITE_OK && is_bound_;
  return *this;
}

Stmt& Stmt::bind(int parameter, std::string_view text) {
  is_bound_ = sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                                  SQLITE_UTF8) == SQLITE_OK &&
              is_bound_;
  return *this;
}

Stmt& Stmt::bind(int parameter, std::span<const uint8_t> bytes) {
  const int bound = bytes.empty() ? sqlite3_bind_zeroblob(statement_, parameter, 0)
                                  : sqlite3_bind_blob64(statement_, parameter, bytes.data(),
                                                        bytes.size(), SQLITE_TRANSIENT);
  is_bound_ = bound == SQLITE_OK && is_bound_;
  return *this;
}

Result<bool> Stmt::step() {
  if (!is_bound_) {
    reset();
    return Status(Code::kExhausted, fmt::format("{}: a value is too large", db_->path()));
  }
  const int stepped = sqlite3_step(statement_);
  if (stepped == SQLITE_ROW) return true;
  Status failed = stepped == SQLITE_DONE ? Status() : db_->failure(sqlite3_sql(statement_));
  reset();
  if (!failed.ok()) return failed;
  return false;
}

Status Stmt::run() {
  while (TRY(step())) {
  }
  return {};
}

void Stmt::reset() {
  sqlite3_reset(statement_);
  is_bound_ = true;
}

int64_t Stmt::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Stmt::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const uint8_t> Stmt::bytes(int column) const {
  const auto* bytes = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<std::unique_ptr<Db>> Db::open(const std::string& path, Mode mode) {
  sqlite3* handle = nullptr;
  const bool writes = mode == Mode::kCreate;
  int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  std::string name = path;
  if (mode == Mode::kReadUnchanging) {
    name = unchanging_uri(path);
    flags |= SQLITE_OPEN_URI;
  }
  const int opened = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Db> db(new Db(handle, path));
  if (opened != SQLITE_OK) return db->failure("opening");
  sqlite3_busy_timeout(handle, kBusyPatienceMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (!writes) {
    // Two that checkpoint at once can damage the file (sqlite.org/wal.html, "the WAL-reset bug"):
    // the one that writes is the one that checkpoints.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  return db;
}

Db::~Db() { sqlite3_close(db_); }

Status Db::run(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(sql);
  return {};
}

Result<Stmt> Db::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    return failure(sql);
  }
  return Stmt(*this, statement);
}

Result<std::optional<int64_t>> Db::number(const char* sql) {
  Stmt statement = TRY(prepare(sql));
  std::optional<int64_t> number;
  if (TRY(statement.step()) && sqlite3_column_type(statement.statement_, 0) != SQLITE_NULL) {
    number = statement.number(0);
  }
  return number;
}

Status Db::failure(std::string_view what) const {
  const int extended = db_ == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(db_);
  const char* said = db_ == nullptr ? "out of memory" : sqlite3_errmsg(db_);
  return {code_of(extended & 0xff), fmt::format("{}: {} ({})", path_, said, what)};
}

int Db::changes() const { return sqlite3_changes(db_); }

Result<Transaction> Transaction::begin(Db& db, Kind kind) {
  TRY(db.run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // Fails only where SQLite has rolled back by itself.
  if (db_ != nullptr) static_cast<void>(db_->run("ROLLBACK"));
}

Status Transaction::commit() {
  TRY(db_->run("COMMIT"));
  db_ = nullptr;
  return {};
}

BlobReader::~BlobReader() { close(); }

void BlobReader::close() { sqlite3_blob_close(std::exchange(blob_, nullptr)); }

Status BlobReader::read(int64_t row, size_t offset, size_t size, Bytes& out) {
  if (blob_ == nullptr || row_ != row) {
    const int opened =
        blob_ == nullptr ? sqlite3_blob_open(db_.handle(), "main", table_, column_, row, 0, &blob_)
                         : sqlite3_blob_reopen(blob_, row);
    row_ = row;
    if (opened != SQLITE_OK) {
      Status failed = db_.failure(fmt::format("row {} of {}", row, table_));
      close();
      return failed;
    }
  }
  const auto there = static_cast<size_t>(sqlite3_blob_bytes(blob_));
  if (size > there || offset > there - size) {
    return {Code::kCorrupt, fmt::format("{}: row {} of {} is too short", db_.path(), row, table_)};
  }
  out.resize(size);
  if (sqlite3_blob_read(blob_, out.data(), static_cast<int>(size), static_cast<int>(offset)) !=
      SQLITE_OK) {
    return db_.failure(fmt::format("row {} of {}", row, table_));
  }
  return {};
}

}  // namespace gpusight::store
