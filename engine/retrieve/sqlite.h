// SPDX-License-Identifier: GPL-3.0-or-later
// The small part of SQLite that the index needs. Every error throws Failure. Open this file to use another
// feature of SQLite.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace spanscope::retrieve {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

class Database;

/// One prepared statement, which can be used many times. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  void bind(int parameter, std::int64_t value);
  /// `text` must stay valid until the next reset().
  void bind(int parameter, std::string_view text);
  /// Binds bytes that are no text. These bytes must also stay valid until the next reset().
  void bindBytes(int parameter, std::span<const std::byte> bytes);
  /// Binds a pointer for SQL functions that take a pointer with this type. `pointer` and `type` must be valid
  /// as long as the statement.
  void bindPointer(int parameter, void* pointer, const char* type);
  /// Goes to the next row. Returns false after the last row.
  bool step();
  /// Runs a statement without rows to its end and makes it ready for the next use.
  void run();
  void reset();

  std::int64_t integer(int column) const { return sqlite3_column_int64(m_statement.get(), column); }
  double number(int column) const { return sqlite3_column_double(m_statement.get(), column); }
  int columns() const { return sqlite3_column_count(m_statement.get()); }
  bool isNull(int column) const { return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL; }
  std::string text(int column) const;
  /// The bytes are valid until the next step() or reset().
  std::span<const std::byte> bytes(int column) const;

 private:
  void check(int code) const;

  const Database* m_database;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> m_statement;
};

/// Makes a statement ready for its next use when the scope ends in any way. An open statement keeps a lock on
/// the file.
class StatementUse {
 public:
  explicit StatementUse(Statement& statement) : m_statement(statement) {}
  ~StatementUse() { m_statement.reset(); }
  StatementUse(const StatementUse&) = delete;
  StatementUse& operator=(const StatementUse&) = delete;

 private:
  Statement& m_statement;
};

class Database {
 public:
  /// Opens or makes a file. ":memory:" makes a separate database in memory.
  explicit Database(const std::string& file);

  /// Runs one or more statements. The rows of the results are ignored.
  void execute(const char* sql);
  std::int64_t lastRow() const { return sqlite3_last_insert_rowid(m_database.get()); }

  sqlite3* get() const { return m_database.get(); }
  /// Empty for a database in memory.
  const std::string& file() const { return m_file; }
  [[noreturn]] void fail() const;

 private:
  std::string m_file;
  std::unique_ptr<sqlite3, CloseDatabase> m_database;
};

/// A transaction. If the scope ends without a call of commit(), all changes are undone.
class Transaction {
 public:
  enum class Kind {
    Immediate,  ///< locks the file from the start
    Deferred    ///< locks only what its statements need; for tables that only this connection uses
  };
  explicit Transaction(Database& database, Kind kind = Kind::Immediate);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& m_database;
  bool m_isOpen = true;
};

}  // namespace spanscope::retrieve
