// SPDX-License-Identifier: GPL-3.0-or-later
// Checks the contents of an index file, to which anything may have happened. The index compares what it reads
// with checksums before it uses it. Documents, vectors and summaries have a checksum each. All words of all
// fragments together have one checksum; the words can be made again from the texts.
#pragma once

#include "engine/base/hash.h"
#include "engine/retrieve/fragment.h"
#include "engine/retrieve/sqlite.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace spanscope::retrieve {

/// Checksum over everything that depends on a document: its key, its properties, and the rows of its
/// fragments.
class DocumentChecksum {
 public:
  explicit DocumentChecksum(const DocumentKey& key);
  void add(std::int64_t row, std::int64_t number, std::int64_t level, std::string_view place,
           std::string_view hash);
  /// `words`: the number of words in all its fragments. `unread`: its pages without text.
  std::string value(std::int64_t fragments, std::int64_t words, std::string_view unread) const;

 private:
  Digest m_digest;
};

/// Checksum over an embedder's vector for a text.
std::int64_t vectorChecksum(std::string_view fingerprint, std::string_view textHash,
                            std::span<const std::byte> vector);
std::int64_t summaryChecksum(std::string_view key, std::string_view text, std::string_view textHash);

/// Checks documents and words once, and again after this or another program has written.
class IndexChecks {
 public:
  explicit IndexChecks(Database& database) : m_database(database) {}

  /// Forgets the results if another program has written since. Call this before using the index.
  void refresh();
  /// Forgets which documents are whole. Call this after this program has written.
  void forgetDocuments() { m_whole.clear(); }
  /// Forgets all results. Call this if something that was written may have been undone.
  void forget();

  /// Whether the document is as it was written. Its row must exist.
  bool isWhole(std::int64_t id, const DocumentKey& key);
  /// Throws the Failure for a document that is not whole.
  [[noreturn]] void refuse(const DocumentKey& key) const;

  /// Checks that the words are as they were written, and makes them again if not. Call requireWords() before
  /// a search, and requireWordsHere() within a transaction that writes, before it changes words.
  void requireWords();
  void requireWordsHere();
  /// Call this within such a transaction if it removes rows of fragments without their words.
  void dropWords() { m_areWordsStale = true; }
  /// Call this at the end of such a transaction: it stores the checksum of the new words.
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

}  // namespace spanscope::retrieve
