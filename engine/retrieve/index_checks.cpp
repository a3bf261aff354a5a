// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/index_checks.h"

#include "engine/base/error.h"

#include <array>
#include <bit>

namespace spanscope::retrieve {
namespace {

void addNumber(Digest& digest, std::int64_t number) {
  digest.add(std::as_bytes(std::span(&number, 1)));
}

/// All rows of a table that FTS5 keeps, in its own order, value by value.
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

std::string DocumentChecksum::value(std::int64_t fragments, std::int64_t words,
                                    std::string_view unread) const {
  Digest all;
  all.add(m_digest.value().hex());
  for (const std::int64_t number : {fragments, words}) addNumber(all, number);
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
    // Reads each row by its number. An index over the rows might differ from them.
    m_rows.emplace(m_database,
                   "SELECT fragments.id, fragments.document, fragments.number, fragments.level, "
                   "fragments.place, fragments.hash, fragments.text FROM fragments AS listed "
                   "CROSS JOIN fragments ON fragments.id = listed.id WHERE listed.document = ?1");
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
  throw Failure({m_database.file(), "document " + key, "other rows than were written",
                 "those that were; it is indexed anew when it is searched next, or delete the file"});
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

}  // namespace spanscope::retrieve
