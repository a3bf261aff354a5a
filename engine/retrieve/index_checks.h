// SPDX-License-Identifier: GPL-3.0-or-later
// An index is a file that anything may have happened to. What it says is held against checksums before it is
// believed: those of documents, of vectors and summaries, each by itself, and one of the words of all
// fragments, which the texts can give anew.
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

/// Of all that is found by a document: its key, what it has, and the rows of its fragments.
class DocumentChecksum {
 public:
  explicit DocumentChecksum(const DocumentKey& key);
  void add(std::int64_t row, std::int64_t number, std::int64_t level, std::string_view place,
           std::string_view hash);
  /// `words`: of all its fragments.
  std::string value(std::int64_t fragments, std::int64_t words) const;

 private:
  Digest m_digest;
};

/// Of the vector of an embedder for a text.
std::int64_t vectorChecksum(std::string_view fingerprint, std::string_view textHash,
                            std::span<const std::byte> vector);
std::int64_t summaryChecksum(std::string_view key, std::string_view text, std::string_view textHash);

/// Looks at documents and words once, and again when another program, or this one, wrote.
class IndexChecks {
 public:
  explicit IndexChecks(Database& database) : m_database(database) {}

  /// Forgets what was found where another program wrote since; before an index is used.
  void refresh();
  /// Forgets which documents are whole, for this one wrote.
  void forgetDocuments() { m_whole.clear(); }
  /// Forgets everything, for what was written may have been undone.
  void forget();

  /// Whether the document is as it was written. Its row must be there.
  bool isWhole(std::int64_t id, const DocumentKey& key);
  /// The Failure for one that is not.
  [[noreturn]] void refuse(const DocumentKey& key) const;

  /// Sees that the words are as they were written, and has them made anew if not: before they are searched,
  /// or, within a transaction that writes, before they are changed.
  void requireWords();
  void requireWordsHere();
  /// Within such a transaction: rows of fragments went without their words.
  void dropWords() { m_areWordsStale = true; }
  /// At the end of such a transaction: what the words are now.
  void noteWords();

 private:
  std::string wordsChecksum();
  std::string notedWords();

  Database& m_database;
  std::int64_t m_version = -1;  ///< of the file when it was looked at
  std::unordered_set<DocumentKey> m_whole;
  bool m_areWordsWhole = false;
  bool m_areWordsStale = false;
  std::optional<Statement> m_document;
  std::optional<Statement> m_rows;
};

}  // namespace spanscope::retrieve
