// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the fragments of documents and finds those that fit a question, in two ways:
//  - by the most telling words that they share with it: BM25 of what SQLite's FTS5 counts (bm25.h), where how
//    telling a word is depends on the documents that are searched. Words are compared without case and
//    diacritics, by their English stems;
//  - by the cosine between vectors of a model, compared with every fragment, so exactly.
// What is found, its order and its scores depend on the question and on the documents that are searched
// alone: not on what else is or was in the index, nor on when anything came in. Equal ones stand in the order
// of the documents, then of their texts.
#pragma once

#include "engine/base/error.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/embedder.h"
#include "engine/retrieve/fragment.h"
#include "engine/retrieve/keep_rule.h"
#include "engine/retrieve/summarizer.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Documents that are searched, in an order that decides between equals; nothing: all that are in the index,
/// in that of their keys. One that is named twice counts once, at its first place.
using DocumentChoice = std::optional<std::vector<DocumentKey>>;

/// Gives a document when it is its turn, or says why it cannot be had.
using DocumentReader = std::function<std::variant<SourceDocument, Error>(std::size_t)>;

struct IndexedDocuments {
  /// Of each document, in the order given; empty for one that was skipped. Fewer if it was stopped.
  std::vector<DocumentKey> keys;
  std::size_t added = 0;       ///< documents that were not in the index
  std::vector<Error> skipped;  ///< why a document could not be read
};

struct IndexOptions {
  ChunkOptions chunk;
  Summarizer* summarizer = nullptr;  ///< adds a tree of summaries to each document
};

/// An index, in memory or in one file. A program may be ended at any moment: a document is in the index as a
/// whole or not at all, and the file can be opened again. Several programs may use a file at once, but one
/// object is used by one thread at a time. What has not been searched for long is taken out again (KeepRule),
/// once a day, after documents were added. All functions throw Failure: for a file that is no index or that
/// cannot be read or written, and for options out of range.
class FragmentIndex {
 public:
  /// `file` empty: in memory.
  explicit FragmentIndex(const std::string& file = {}, KeepRule rule = {});
  ~FragmentIndex();
  FragmentIndex(FragmentIndex&&) noexcept;
  FragmentIndex& operator=(FragmentIndex&&) noexcept;

  /// Adds those documents that are not in the index yet, one after the other. All of them are in use from
  /// then on.
  IndexedDocuments add(std::size_t count, const DocumentReader& read, const text::Tokenizer& tokenizer,
                       const IndexOptions& options, const Watch& watch = {});
  /// The same of documents that are at hand.
  IndexedDocuments add(const std::vector<SourceDocument>& documents, const text::Tokenizer& tokenizer,
                       const IndexOptions& options = {}, const Watch& watch = {});

  /// Adds the vectors of those fragments that have none of this embedder yet. False if it was stopped before
  /// the end. Throws Failure too where they are not as long as those that the index has of the embedder.
  bool embed(const DocumentChoice& documents, Embedder& embedder, const Watch& watch = {});

  /// At most `count` fragments that share a word with the question, the best first. A question is text, never
  /// an expression. Of its words the first kMaxQuestionWords different ones count.
  std::vector<Fragment> find(std::string_view question, std::size_t count,
                             const DocumentChoice& documents = std::nullopt) const;

  /// At most `count` fragments whose vectors of that embedder point most the way of `question`, the best
  /// first; scores are cosines, −1 … 1. Fragments without a vector are not found.
  std::vector<Fragment> nearest(const EmbeddingVector& question, std::size_t count, const Embedder& embedder,
                                const DocumentChoice& documents = std::nullopt) const;

  /// A fragment with that hash; the first one, if there are several.
  std::optional<Fragment> withHash(std::string_view hash, const DocumentChoice& documents) const;

  std::size_t documentCount() const;
  std::size_t vectorCount() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

inline constexpr std::size_t kMaxQuestionWords = 200;

}  // namespace spanscope::retrieve
