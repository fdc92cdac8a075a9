// SQLite as gpusight uses it: a connection, a prepared statement, a transaction and a blob that is
// read in parts. Each closes itself; whatever fails is a Status that says what SQLite said.
//
// Codes: kExhausted the disk is full, kPermissionDenied it may not be written, kCorrupt the file is
// damaged or no database, kUnavailable somebody else holds it, kNotFound it is not there, kIo else.
//
// Threads: a Db and all that was made from it belong to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/bytes.h"

struct sqlite3;
struct sqlite3_blob;
struct sqlite3_stmt;

namespace gpusight::store {

class Db;

class Stmt {
 public:
  Stmt(Stmt&& other) noexcept;
  Stmt& operator=(Stmt&&) = delete;
  ~Stmt();

  // Parameters are counted from 1. Texts and bytes are copied.
  Stmt& bind(int parameter, int64_t number);
  Stmt& bind(int parameter, std::string_view text);
  Stmt& bind(int parameter, std::span<const uint8_t> bytes);

  // True with a row to read, false at the end; the statement may then be bound and stepped anew.
  Result<bool> step();
  // For what gives no rows.
  Status run();
  void reset();

  // Columns are counted from 0; what they point to is valid until the next step.
  int64_t number(int column) const;
  std::string_view text(int column) const;
  std::span<const uint8_t> bytes(int column) const;

 private:
  friend class Db;
  Stmt(Db& db, sqlite3_stmt* statement) : db_(&db), statement_(statement) {}
  Db* db_;
  sqlite3_stmt* statement_;
  bool is_bound_ = true;
};

class Db {
 public:
  enum class Mode : uint8_t {
    kCreate,  // reads and writes, makes the file
    kRead,    // never writes, never checkpoints
    // The same of a file that nobody changes: needs no -wal and no -shm, which are not looked at.
    kReadUnchanging,
  };
  static Result<std::unique_ptr<Db>> open(const std::string& path, Mode mode);
  ~Db();
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  Status run(const char* sql);
  Result<Stmt> prepare(std::string_view sql);
  // One number that `sql` gives; nullopt when it gives none, or NULL.
  Result<std::optional<int64_t>> number(const char* sql);

  // What the last call on this connection failed with; `what` says what it was about.
  Status failure(std::string_view what) const;
  sqlite3* handle() { return db_; }
  const std::string& path() const { return path_; }
  int changes() const;

 private:
  Db(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  sqlite3* db_;
  std::string path_;
};

// Rolls back unless commit() succeeded.
class Transaction {
 public:
  enum class Kind : uint8_t { kRead, kWrite };
  static Result<Transaction> begin(Db& db, Kind kind);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Db& db) : db_(&db) {}
  Db* db_;
};

// One column of rows of one table, read in parts without reading the whole.
class BlobReader {
 public:
  BlobReader(Db& db, const char* table, const char* column)
      : db_(db), table_(table), column_(column) {}
  ~BlobReader();
  BlobReader(const BlobReader&) = delete;
  BlobReader& operator=(const BlobReader&) = delete;

  // kCorrupt when the row is not there or too short.
  Status read(int64_t row, size_t offset, size_t size, Bytes& out);
  // Lets go of the row; has to be called before the transaction ends.
  void close();

 private:
  Db& db_;
  const char* table_;
  const char* column_;
  sqlite3_blob* blob_ = nullptr;
  int64_t row_ = 0;
};

}  // namespace gpusight::store
