// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/sqlite.h"

#include "engine/base/error.h"

#include <filesystem>
#include <system_error>

namespace spanscope::retrieve {
namespace {

/// Max time to wait while another program has the file locked.
constexpr int kBusyMilliseconds = 10'000;
constexpr const char* kExpected = /*id:index-can-read*/ "an index that can be read and written";

}  // namespace

Statement::Statement(const Database& database, std::string_view sql) : m_database(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  m_statement.reset(statement);
  check(code);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) m_database->fail();
}

void Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(m_statement.get(), parameter, value));
}

void Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(m_statement.get(), parameter, text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
}

void Statement::bindBytes(int parameter, std::span<const std::byte> bytes) {
  check(sqlite3_bind_blob64(m_statement.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
}

void Statement::bindPointer(int parameter, void* pointer, const char* type) {
  check(sqlite3_bind_pointer(m_statement.get(), parameter, pointer, type, nullptr));
}

bool Statement::step() {
  const int code = sqlite3_step(m_statement.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) m_database->fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  step();
  reset();
}

void Statement::reset() {
  sqlite3_reset(m_statement.get());
}

std::string Statement::text(int column) const {
  const unsigned char* const bytes = sqlite3_column_text(m_statement.get(), column);
  const int size = sqlite3_column_bytes(m_statement.get(), column);
  if (bytes == nullptr || size <= 0) return {};
  return {bytes, bytes + size};
}

std::span<const std::byte> Statement::bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(m_statement.get(), column);
  const int size = sqlite3_column_bytes(m_statement.get(), column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)};
}

Database::Database(const std::string& file) : m_file(file == ":memory:" ? std::string() : file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(m_file, error);
  // SQLite would put its journal beside a device before it reports an error.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Failure(
        {m_file, {}, /*id:something-no-regular*/ "something that is not a regular file", kExpected});
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  m_database.reset(database);
  if (code != SQLITE_OK) fail();
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  // The file may come from an unknown source. Statements in its schema may only define tables.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void Database::execute(const char* sql) {
  if (sqlite3_exec(m_database.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Database::fail() const {
  const char* const text = m_database == nullptr ? "no memory" : sqlite3_errmsg(m_database.get());
  throw Failure({m_file, {}, std::string("SQLite's \"") + text + "\"", kExpected});
}

Transaction::Transaction(Database& database, Kind kind) : m_database(database) {
  database.execute(kind == Kind::Immediate ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (m_isOpen) sqlite3_exec(m_database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  m_database.execute("COMMIT");
  m_isOpen = false;
}

}  // namespace spanscope::retrieve
