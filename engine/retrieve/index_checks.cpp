// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/index_checks.h"

#include "engine/base/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <utility>

namespace spanscope::retrieve {

namespace {

void addNumber(Digest& digest, std::int64_t number) {
  digest.add(std::as_bytes(std::span(&number, 1)));
}

/// All rows of a table of FTS5, in the order of FTS5, value by value.
constexpr std::array<const char*, 4> kWordTables = {
    "SELECT id, block FROM words_data ORDER BY id",
    "SELECT segid, term, pgno FROM words_idx ORDER BY segid, term",
    "SELECT id, sz FROM words_docsize ORDER BY id",
    "SELECT k, v FROM words_config ORDER BY k",
};

}  // namespace

DocumentChecksum::DocumentChecksum(const DocumentKey& key) {
  m_digest.add(key);
}

void DocumentChecksum::add(std::int64_t row, std::int64_t number, std::int64_t level, std::string_view place,
                           std::string_view hash) {
  for (const std::int64_t value : {row, number, level}) addNumber(m_digest, value);
  m_digest.add(place);
  m_digest.add(hash);
}

std::string DocumentChecksum::value(std::int64_t passages, std::int64_t words,
                                    std::string_view unread) const {
  Digest all;
  all.add(m_digest.value().hex());
  for (const std::int64_t number : {passages, words}) addNumber(all, number);
  all.add(unread);
  return all.value().hex();
}

std::int64_t vectorChecksum(std::string_view fingerprint, std::string_view textHash,
                            std::span<const std::byte> vector) {
  Digest digest;
  digest.add(fingerprint);
  digest.add(textHash);
  digest.add(vector);
  return std::bit_cast<std::int64_t>(digest.value().low);
}

std::int64_t summaryChecksum(std::string_view key, std::string_view text, std::string_view textHash) {
  Digest digest;
  digest.add(key);
  digest.add(text);
  digest.add(textHash);
  return std::bit_cast<std::int64_t>(digest.value().low);
}

void IndexChecks::refresh() {
  Statement statement(m_database, "PRAGMA data_version");
  const std::int64_t version = statement.step() ? statement.integer(0) : -1;
  if (version == m_version) return;
  m_version = version;
  m_whole.clear();
  m_areWordsWhole = false;
}

void IndexChecks::forget() {
  m_version = -1;
  m_whole.clear();
  m_areWordsWhole = false;
  m_areWordsStale = false;
}

bool IndexChecks::isWhole(std::int64_t id, const DocumentKey& key) {
  if (m_whole.contains(key)) return true;
  if (!m_document) {
    m_document.emplace(m_database,
                       "SELECT key, fragments, words, checksum, unread FROM documents WHERE id = ?1");
    // Reads each row by its number. An SQL index over the rows might differ from the rows.
    m_rows.emplace(m_database,
                   R"(SELECT fragments.id, fragments.document, fragments.number, fragments.level, )"
                   R"(fragments.place, fragments.hash, fragments.text FROM fragments AS listed )"
                   R"(CROSS JOIN fragments ON fragments.id = listed.id WHERE listed.document = ?1)");
  }
  const StatementUse useDocument(*m_document);
  const StatementUse useRows(*m_rows);
  m_document->bind(1, id);
  if (!m_document->step() || m_document->text(0) != key) return false;
  m_rows->bind(1, id);
  DocumentChecksum checksum(key);
  std::int64_t count = 0;
  for (; m_rows->step(); ++count) {
    const std::string hash = m_rows->text(5);
    if (m_rows->integer(1) != id || hash128(m_rows->text(6)).hex() != hash) return false;
    checksum.add(m_rows->integer(0), m_rows->integer(2), m_rows->integer(3), m_rows->text(4), hash);
  }
  const std::string sum = checksum.value(count, m_document->integer(2), m_document->text(4));
  if (count != m_document->integer(1) || sum != m_document->text(3)) return false;
  m_whole.insert(key);
  return true;
}

void IndexChecks::refuse(const DocumentKey& key) const {
  throw Failure({m_database.file(), "document " + key, "rows that differ from the written rows",
                 "the written rows. The next search indexes the document again"});
}

std::string IndexChecks::wordsChecksum() {
  Digest digest;
  for (const char* sql : kWordTables) {
    Statement statement(m_database, sql);
    std::int64_t rows = 0;
    for (; statement.step(); ++rows) {
      for (int column = 0; column < statement.columns(); ++column) digest.add(statement.bytes(column));
    }
    addNumber(digest, rows);
  }
  return digest.value().hex();
}

std::string IndexChecks::notedWords() {
  Statement statement(m_database, "SELECT words FROM checks");
  return statement.step() ? statement.text(0) : std::string();
}

void IndexChecks::requireWords() {
  if (m_areWordsWhole) return;
  {
    // The stored checksum and the rows must be read at the same time.
    Transaction reading(m_database, Transaction::Kind::Deferred);
    m_areWordsWhole = wordsChecksum() == notedWords();
    reading.commit();
  }
  if (m_areWordsWhole) return;
  Transaction writing(m_database);
  requireWordsHere();
  writing.commit();
}

void IndexChecks::requireWordsHere() {
  if (m_areWordsWhole || wordsChecksum() == notedWords()) {
    m_areWordsWhole = true;
    return;
  }
  m_areWordsStale = true;
  noteWords();
}

void IndexChecks::noteWords() {
  if (m_areWordsStale) m_database.execute("INSERT INTO words(words) VALUES('rebuild')");
  // Until then, FTS5 keeps new rows in memory.
  m_database.execute("SAVEPOINT written; RELEASE written");
  const std::string checksum = wordsChecksum();
  m_database.execute("DELETE FROM checks");
  Statement statement(m_database, "INSERT INTO checks(words) VALUES(?1)");
  statement.bind(1, checksum);
  statement.run();
  m_areWordsStale = false;
  m_areWordsWhole = true;
}

namespace {

/// "Span" in ASCII. This number identifies a file as an index.
constexpr std::int64_t kApplicationId = 0x5370616e;

struct Definition {
  const char* name;
  const char* sql;
};

/// `words` refers to the texts in `fragments`. Texts are therefore stored once. Vectors and summaries belong
/// to contents, not to documents. A changed document keeps the vectors and summaries of its unchanged texts.
/// `used` is the day of the last use, and `size` the bytes of a document's passages. Numbers of removed rows
/// are not used again (AUTOINCREMENT), because another program may still use these numbers. `fragments` and
/// `words` of a document are counts, for measuring a search without its texts. `unread` names the pages of a
/// document without text. index_checks.h defines the checksums. The checksum in `checks` covers the words.
constexpr Definition kTables[] = {
    {"documents",
     R"(CREATE TABLE documents(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,)"
     R"( used INTEGER NOT NULL, size INTEGER NOT NULL, fragments INTEGER NOT NULL, words INTEGER NOT NULL,)"
     R"( unread TEXT NOT NULL, checksum TEXT NOT NULL))"},
    {"fragments",
     R"(CREATE TABLE fragments(id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES )"
     "documents(id),"
     R"( number INTEGER NOT NULL, level INTEGER NOT NULL, place TEXT NOT NULL, hash TEXT NOT NULL,)"
     R"( text TEXT NOT NULL))"},
    {"fragments_of_document", "CREATE INDEX fragments_of_document ON fragments(document)"},
    {"fragments_by_hash", "CREATE INDEX fragments_by_hash ON fragments(hash)"},
    {"words", R"(CREATE VIRTUAL TABLE words USING fts5(text, content='fragments', content_rowid='id',)"
              R"( tokenize='porter unicode61 remove_diacritics 2'))"},
    {"embedders",
     R"(CREATE TABLE embedders(id INTEGER PRIMARY KEY AUTOINCREMENT, fingerprint TEXT NOT NULL UNIQUE,)"
     R"( used INTEGER NOT NULL))"},
    {"vectors",
     R"(CREATE TABLE vectors(embedder INTEGER NOT NULL REFERENCES embedders(id), hash TEXT NOT NULL,)"
     R"( vector BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY(embedder, hash)) WITHOUT ROWID)"},
    {"summaries", R"(CREATE TABLE summaries(key TEXT PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL,)"
                  R"( used INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID)"},
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

/// Throws Failure if the tables differ from this program's tables. With other tables, the same statements
/// have other effects.
void checkDefinitions(Database& database, const std::string& file) {
  for (const Definition& table : kTables) {
    if (definitionOf(database, table.name) == table.sql) continue;
    throw Failure({file, std::string("table ") + table.name, "another definition",
                   "the definition of version " + std::to_string(kIndexVersion) +
                       ". Delete the file: the next search creates a new index"});
  }
  if (numberFrom(database, "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')") > 0)
    throw Failure({file, {}, "triggers or views", "an index of documents, or a new file"});
}

}  // namespace

void prepareTables(Database& database, const std::string& file) {
  // This statement works only for a new file, before the file has a page. Free space in the file can then be
  // returned to the disk.
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
    throw Failure({file, {}, "a database of another program", "an index of documents, or a new file"});
  }
  const std::int64_t version = numberFrom(database, "PRAGMA user_version");
  if (version != kIndexVersion) {
    throw Failure({file,
                   {},
                   "an index of version " + std::to_string(version),
                   "version " + std::to_string(kIndexVersion) +
                       ". Delete the file: the next search creates a new index"});
  }
  checkDefinitions(database, file);
}

namespace {

constexpr std::chrono::milliseconds kTransactionTime{100};

class Pruner {
 public:
  Pruner(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop)
      : m_database(database),
        m_checks(checks),
        m_stop(std::move(stop)),
        m_today(rule.today()),
        m_rule(rule) {}

  bool prune() {
    if (isDone()) return false;
    for (const std::int64_t document : documentsToGo()) {
      if (m_stop.stop_requested()) return true;
      makeRoomInTime();
      removeDocument(document);
    }
    commit();
    if (m_stop.stop_requested()) return true;
    removeRest();
    m_database.execute("PRAGMA incremental_vacuum");
    return true;
  }

 private:
  Day oldest() const { return m_today - std::max<Day>(m_rule.unusedDays, 1); }

  bool isDone() {
    Statement day(m_database, "SELECT day FROM pruned");
    return day.step() && day.integer(0) == m_today;
  }

  /// Returns documents that were unused for too long. Documents beyond the max size follow, the least
  /// recently used first.
  std::vector<std::int64_t> documentsToGo() {
    std::int64_t bytes = 0;
    {
      Statement sum(m_database, "SELECT total(size) FROM documents");
      if (sum.step()) bytes = sum.integer(0);
    }
    std::vector<std::int64_t> documents;
    Statement list(m_database, "SELECT id, used, size FROM documents WHERE used < ?1 ORDER BY used, id");
    // Another program may have been using these documents since yesterday.
    list.bind(1, m_today - 1);
    while (list.step()) {
      if (list.integer(1) >= oldest() && bytes <= m_rule.mostBytes) break;
      documents.push_back(list.integer(0));
      bytes -= list.integer(2);
    }
    return documents;
  }

  void removeDocument(std::int64_t document) {
    // The document may have been used since the list was made.
    m_isStale.bind(1, document);
    m_isStale.bind(2, m_today - 1);
    const bool goes = m_isStale.step();
    const DocumentKey key = goes ? m_isStale.text(0) : DocumentKey();
    m_isStale.reset();
    if (!goes) return;
    const bool isWhole = m_checks.isWhole(document, key);
    if (!isWhole) m_checks.dropWords();
    std::vector<std::string> hashes;
    m_passages.bind(1, document);
    while (m_passages.step()) {
      const std::string text = m_passages.text(2);
      // FTS5 needs the original text to remove the words of this text.
      if (isWhole) {
        m_words.bind(1, m_passages.integer(0));
        m_words.bind(2, text);
        m_words.run();
      }
      hashes.push_back(m_passages.text(1));
    }
    m_passages.reset();
    for (Statement* remove : {&m_removePassages, &m_removeDocument}) {
      remove->bind(1, document);
      remove->run();
    }
    for (const std::string& hash : hashes) {
      m_vectors.bind(1, hash);
      m_vectors.run();
    }
  }

  /// Removes unused embedders and summaries, and stores the day of this removal.
  void removeRest() {
    Transaction transaction(m_database);
    for (const char* sql :
         {"DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders WHERE used < ?1)",
          "DELETE FROM embedders WHERE used < ?1",
          "DELETE FROM summaries WHERE used < ?1 AND "
          "NOT EXISTS (SELECT 1 FROM fragments WHERE fragments.hash = summaries.hash)"}) {
      Statement remove(m_database, sql);
      remove.bind(1, oldest());
      remove.run();
    }
    Statement done(m_database, "UPDATE pruned SET day = ?1");
    done.bind(1, m_today);
    done.run();
    transaction.commit();
  }

  void makeRoomInTime() {
    const auto now = std::chrono::steady_clock::now();
    if (m_transaction && now - m_opened > kTransactionTime) commit();
    if (m_transaction) return;
    m_transaction.emplace(m_database);
    m_checks.refresh();
    m_checks.requireWordsHere();
    m_opened = now;
  }

  void commit() {
    if (!m_transaction) return;
    m_checks.noteWords();
    m_transaction->commit();
    m_transaction.reset();
    m_checks.forgetDocuments();
  }

  Database& m_database;
  IndexChecks& m_checks;
  std::stop_token m_stop;
  Day m_today;
  const KeepRule& m_rule;
  Statement m_isStale{m_database, "SELECT key FROM documents WHERE id = ?1 AND used < ?2"};
  Statement m_passages{m_database, "SELECT id, hash, text FROM fragments WHERE document = ?1"};
  Statement m_words{m_database, "INSERT INTO words(words, rowid, text) VALUES('delete', ?1, ?2)"};
  Statement m_removePassages{m_database, "DELETE FROM fragments WHERE document = ?1"};
  Statement m_removeDocument{m_database, "DELETE FROM documents WHERE id = ?1"};
  Statement m_vectors{m_database,
                      R"(DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders) AND hash = ?1 AND )"
                      R"(NOT EXISTS (SELECT 1 FROM fragments WHERE hash = ?1))"};
  std::optional<Transaction> m_transaction;  ///< declared after the statements, so that the rollback comes
                                             ///< before they are destroyed
  std::chrono::steady_clock::time_point m_opened;
};

}  // namespace

Day today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch().count();
}

bool pruneIndex(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop) {
  return Pruner(database, checks, rule, std::move(stop)).prune();
}

}  // namespace spanscope::retrieve
