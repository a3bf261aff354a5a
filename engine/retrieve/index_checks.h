// SPDX-License-Identifier: GPL-3.0-or-later
// Makes, checks and prunes the tables of an index file, which other programs may have changed. The index
// compares everything that it reads with checksums before use. Documents, vectors and summaries have a
// checksum each. All words of all passages together have one checksum. The words can be rebuilt from the
// texts. Open this file to change the tables, or when an index is reported as damaged.
#pragma once

#include "engine/base/hash.h"
#include "engine/retrieve/passage.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/sqlite.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace spanscope::retrieve {

/// Checksum over everything that depends on a document: its key, its properties, and the rows of its
/// passages.
class DocumentChecksum {
 public:
  explicit DocumentChecksum(const DocumentKey& key);
  void add(std::int64_t row, std::int64_t number, std::int64_t level, std::string_view place,
           std::string_view hash);
  /// `words`: the number of words in all passages of the document. `unread`: the pages without text.
  std::string value(std::int64_t passages, std::int64_t words, std::string_view unread) const;

 private:
  Digest m_digest;
};

/// Returns the checksum over an embedder's vector for a text.
std::int64_t vectorChecksum(std::string_view fingerprint, std::string_view textHash,
                            std::span<const std::byte> vector);
std::int64_t summaryChecksum(std::string_view key, std::string_view text, std::string_view textHash);

/// Checks documents and words once. Checks again after any program has written to the index.
class IndexChecks {
 public:
  explicit IndexChecks(Database& database) : m_database(database) {}

  /// Drops the results if another program has written since. Call this before using the index.
  void refresh();
  /// Drops the results about documents. Call this after this program has written.
  void forgetDocuments() { m_whole.clear(); }
  /// Drops all results. Call this if a write may have been undone.
  void forget();

  /// Whether the document is as it was written. The row of the document must exist.
  bool isWhole(std::int64_t id, const DocumentKey& key);
  /// Throws the Failure for a damaged document.
  [[noreturn]] void refuse(const DocumentKey& key) const;

  /// Checks that the words are unchanged, and rebuilds changed words. Call requireWords() before a search.
  /// Call requireWordsHere() in a writing transaction, before the transaction changes words.
  void requireWords();
  void requireWordsHere();
  /// Call this in a writing transaction that removes rows of passages but not the words of these rows.
  void dropWords() { m_areWordsStale = true; }
  /// Call this at the end of a writing transaction. The function stores the checksum of the new words.
  void noteWords();

 private:
  std::string wordsChecksum();
  std::string notedWords();

  Database& m_database;
  std::int64_t m_version = -1;  ///< version of the file at the last check
  std::unordered_set<DocumentKey> m_whole;
  bool m_areWordsWhole = false;
  bool m_areWordsStale = false;
  std::optional<Statement> m_document;
  std::optional<Statement> m_rows;
};

/// Makes the tables of a new index. Checks that an existing file is an index of this version. Throws Failure
/// for any other file.
void prepareTables(Database& database, const std::string& file);

/// Removes from an index everything that the rule does not keep. The removed data are documents with their
/// passages, words and vectors, vectors of embedders, and summaries. Then returns the space to the disk.
/// Works once a day; further calls do nothing and return false. Each transaction is short and removes whole
/// documents. A program may therefore end at any moment, and other programs do not wait long. The next call
/// completes an interrupted call.
bool pruneIndex(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop);

}  // namespace spanscope::retrieve
