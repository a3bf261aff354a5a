// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/index_tables.h"

#include "engine/base/error.h"
#include "engine/retrieve/index_checks.h"
#include "engine/retrieve/index_version.h"

#include <cstdint>

namespace spanscope::retrieve {
namespace {

/// "Span" in ASCII, by which a file is known as an index.
constexpr std::int64_t kApplicationId = 0x5370616e;

struct Definition {
  const char* name;
  const char* sql;
};

/// `words` refers to the texts in `fragments`, so that they are stored once. Vectors and summaries belong to
/// contents, not to documents: a document that changed keeps those of what it still says. `used` is the day
/// on which something was of use last, `size` the bytes of a document's fragments. Numbers of rows that are
/// gone are not given again (AUTOINCREMENT): another program may hold them. `fragments` and `words` of a
/// document are how many it has: what is searched is measured without its texts. `unread` names its pages
/// without text. What checksums are of, index_checks.h says; the one in `checks` is of the words.
constexpr Definition kTables[] = {
    {"documents",
     "CREATE TABLE documents(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,"
     " used INTEGER NOT NULL, size INTEGER NOT NULL, fragments INTEGER NOT NULL, words INTEGER NOT NULL,"
     " unread TEXT NOT NULL, checksum TEXT NOT NULL)"},
    {"fragments",
     "CREATE TABLE fragments(id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES "
     "documents(id),"
     " number INTEGER NOT NULL, level INTEGER NOT NULL, place TEXT NOT NULL, hash TEXT NOT NULL,"
     " text TEXT NOT NULL)"},
    {"fragments_of_document", "CREATE INDEX fragments_of_document ON fragments(document)"},
    {"fragments_by_hash", "CREATE INDEX fragments_by_hash ON fragments(hash)"},
    {"words",
     "CREATE VIRTUAL TABLE words USING fts5(text, content='fragments', content_rowid='id',"
     " tokenize='porter unicode61 remove_diacritics 2')"},
    {"embedders",
     "CREATE TABLE embedders(id INTEGER PRIMARY KEY AUTOINCREMENT, fingerprint TEXT NOT NULL UNIQUE,"
     " used INTEGER NOT NULL)"},
    {"vectors",
     "CREATE TABLE vectors(embedder INTEGER NOT NULL REFERENCES embedders(id), hash TEXT NOT NULL,"
     " vector BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY(embedder, hash)) WITHOUT ROWID"},
    {"summaries",
     "CREATE TABLE summaries(key TEXT PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL,"
     " used INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"},
    {"pruned", "CREATE TABLE pruned(day INTEGER NOT NULL)"},
    {"checks", "CREATE TABLE checks(words TEXT NOT NULL)"},
};

std::int64_t numberFrom(Database& database, const char* sql) {
  Statement statement(database, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string definitionOf(Database& database, const char* name) {
  Statement statement(database, "SELECT sql FROM sqlite_schema WHERE name = ?1");
  statement.bind(1, name);
  return statement.step() ? statement.text(0) : std::string();
}

/// Throws Failure where the tables are not those that were made: with others, the same statements do
/// something else.
void checkDefinitions(Database& database, const std::string& file) {
  for (const Definition& table : kTables) {
    if (definitionOf(database, table.name) == table.sql) continue;
    throw Failure(
        {file, std::string("table ") + table.name, "another definition",
         "that of version " + std::to_string(kIndexVersion) + ": delete the file, it is made anew"});
  }
  if (numberFrom(database, "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')") > 0)
    throw Failure({file, {}, "triggers or views", "an index of documents, or a new file"});
}

}  // namespace

void prepareTables(Database& database, const std::string& file) {
  // Of a new file alone, and before it has a page: room that is left in it can be given back to the disk.
  if (numberFrom(database, "SELECT count(*) FROM sqlite_schema") == 0)
    database.execute("PRAGMA auto_vacuum = INCREMENTAL");
  Transaction transaction(database);
  if (numberFrom(database, "SELECT count(*) FROM sqlite_schema") == 0) {
    for (const Definition& table : kTables) database.execute(table.sql);
    database.execute("INSERT INTO pruned VALUES(0)");
    IndexChecks(database).noteWords();
    database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId) +
                      "; PRAGMA user_version = " + std::to_string(kIndexVersion))
                         .c_str());
    transaction.commit();
    return;
  }
  if (numberFrom(database, "PRAGMA application_id") != kApplicationId) {
    throw Failure({file, {}, "a database of something else", "an index of documents, or a new file"});
  }
  const std::int64_t version = numberFrom(database, "PRAGMA user_version");
  if (version != kIndexVersion) {
    throw Failure({file,
                   {},
                   "an index of version " + std::to_string(version),
                   "version " + std::to_string(kIndexVersion) + ": delete it, it is made anew"});
  }
  checkDefinitions(database, file);
}

}  // namespace spanscope::retrieve
