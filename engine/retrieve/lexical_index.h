// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the fragments of documents that share the most telling words with a question: BM25 over SQLite's FTS5
// (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; k1 = 1.2, b =
// 0.75, the constants of FTS5). Words are compared without case and diacritics, by their English stems.
#pragma once

#include "engine/retrieve/chunker.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::retrieve {

struct SourceDocument {
  std::string name;  ///< its extension says the format
  std::string bytes;
};

/// What a document is found by: XXH3-128, in hexadecimal, of its format and bytes, of the chunk options and
/// of the tokenizer's vocabulary. Documents of equal bytes and format are one.
using DocumentKey = std::string;

struct Fragment {
  DocumentKey document;
  std::int64_t number = 0;  ///< of the fragment in its document, from 0
  std::string text;
  double score = 0;  ///< BM25, higher is better; depends on everything that is in the index
};

struct IndexProgress {
  std::size_t done = 0;   ///< documents that were looked at
  std::size_t total = 0;  ///< documents that were given
  std::size_t added = 0;  ///< of those done: documents that were not in the index
};
/// Called after each document. False stops; what is done so far is kept.
using ProgressCallback = std::function<bool(const IndexProgress&)>;

struct IndexedDocuments {
  std::vector<DocumentKey> keys;  ///< of the documents that are in the index, in the order given
  std::size_t added = 0;
};

/// An index, in memory or in one file. A program may be ended at any moment: a document is in the index as a
/// whole or not at all, and the file can be opened again. Several programs may use a file at once, but one
/// object is used by one thread at a time. All functions throw Failure: for a file that is no index or that
/// cannot be read or written, for documents that cannot be read (as readPassages), for options out of range.
class LexicalIndex {
 public:
  /// `file` empty: in memory.
  explicit LexicalIndex(const std::string& file = {});
  ~LexicalIndex();
  LexicalIndex(LexicalIndex&&) noexcept;
  LexicalIndex& operator=(LexicalIndex&&) noexcept;

  /// Adds those documents that are not in the index yet. At a Failure the documents before it may have been
  /// added.
  IndexedDocuments add(const std::vector<SourceDocument>& documents, const text::Tokenizer& tokenizer,
                       const ChunkOptions& options, const ProgressCallback& progress = {});

  /// At most `count` fragments that share a word with the question, the best first, of one document or of
  /// all. A question is text, never an expression. Of its words the first kMaxQuestionWords different ones
  /// count.
  std::vector<Fragment> find(std::string_view question, std::size_t count,
                             const std::optional<DocumentKey>& document = std::nullopt) const;

  std::size_t documentCount() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

inline constexpr std::size_t kMaxQuestionWords = 200;

}  // namespace spanscope::retrieve
