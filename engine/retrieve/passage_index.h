// SPDX-License-Identifier: GPL-3.0-or-later
// Stores the passages of documents and finds passages that match a question. Open this file first when you
// work on retrieval. There are two kinds of search:
// - Lexical: passages share words with the question. The score is BM25 over the counts of SQLite's FTS5
//   (bm25.h). The weight of a word depends on the searched documents. Words are compared without case and
//   diacritics, by their English stems.
// - Dense: the cosine between vectors of a model. Every passage is compared. The result is therefore exact.
//
// The results, their order and their scores depend only on the question and on the searched documents. Other
// contents of the index, and the time of their addition, do not matter. Passages with equal scores are
// ordered by their documents, then by their texts.
#pragma once

#include "engine/base/error.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/passage.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Days since 1970-01-01, in UTC.
using Day = std::int64_t;
Day today();

/// The rule for keeping data in an index. Queries with different documents share the index, and no event
/// reports that a document is obsolete. The only sign is that no query has searched the document for a long
/// time. Data that was searched today or yesterday always stays.
struct KeepRule {
  Day unusedDays = 30;  ///< max days without use
  /// Max bytes of passages' texts. Above this size, the least recently used data is removed.
  std::int64_t mostBytes = std::int64_t{1} << 30;
  std::function<Day()> today = retrieve::today;
};

/// The documents to search. The order of the documents decides between equal scores. A document that is named
/// twice counts once, at its first place. Nothing: all documents in the index, ordered by key.
using DocumentChoice = std::optional<std::vector<DocumentKey>>;

/// Returns a document when the index needs it, or the reason why the document cannot be read.
using DocumentReader = std::function<std::variant<SourceDocument, Error>(std::size_t)>;

struct IndexedDocuments {
  /// Key of each document, in the given order. A skipped document has an empty key. If the call was stopped,
  /// there are fewer keys.
  std::vector<DocumentKey> keys;
  std::size_t added = 0;       ///< documents that were not in the index
  std::vector<Error> skipped;  ///< the reasons why documents could not be read
  std::vector<Error> unread;   ///< pages without text, of documents with text on other pages
};

struct IndexOptions {
  ChunkOptions chunk;
  Summarizer* summarizer = nullptr;  ///< adds a tree of summaries to each document
};

/// An index, in memory or in one file. A program may end at any moment. A document is in the index as a whole
/// or not at all, and the file can be opened again. Several programs may use a file at the same time. Only
/// one thread at a time may use an object. Documents without a search for a long time are removed (KeepRule),
/// once a day, after documents were added. All functions throw Failure for options out of range. All
/// functions also throw Failure for a file that is no index, or that cannot be read or written.
class PassageIndex {
 public:
  /// An empty `file` means in memory.
  explicit PassageIndex(const std::string& file = {}, KeepRule rule = {});
  ~PassageIndex();
  PassageIndex(PassageIndex&&) noexcept;
  PassageIndex& operator=(PassageIndex&&) noexcept;

  /// Adds the documents that are not in the index yet, one after the other. After the call, all these
  /// documents count as used.
  IndexedDocuments add(std::size_t count, const DocumentReader& read, const text::Tokenizer& tokenizer,
                       const IndexOptions& options, const Watch& watch = {});
  /// Adds documents in memory.
  IndexedDocuments add(const std::vector<SourceDocument>& documents, const text::Tokenizer& tokenizer,
                       const IndexOptions& options = {}, const Watch& watch = {});

  /// Adds vectors of this embedder for the passages that have none yet. Returns false if the call was stopped
  /// before the end. Also throws Failure if the new vectors and the stored vectors differ in length.
  bool embed(const DocumentChoice& documents, Embedder& embedder, const Watch& watch = {});

  /// Returns at most `count` passages that share a word with the question, the best first. A question is a
  /// text, never an expression. Only the first kMaxQuestionWords different words of the question count.
  std::vector<Passage> find(std::string_view question, std::size_t count,
                            const DocumentChoice& documents = std::nullopt) const;

  /// Returns at most `count` passages whose vectors of this embedder are nearest to `question`, the best
  /// first. Scores are cosines, −1 … 1. Passages without a vector are not found.
  std::vector<Passage> nearest(const EmbeddingVector& question, std::size_t count, const Embedder& embedder,
                               const DocumentChoice& documents = std::nullopt) const;

  /// Returns a passage with this hash. If several passages have this hash, returns the first passage.
  std::optional<Passage> withHash(std::string_view hash, const DocumentChoice& documents) const;

  std::size_t documentCount() const;
  std::size_t vectorCount() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

inline constexpr std::size_t kMaxQuestionWords = 200;

/// Version of the files of an index. Every change of the tables or of the hashed facts increases it. Files of
/// another version are refused.
inline constexpr int kIndexVersion = 6;

}  // namespace spanscope::retrieve
