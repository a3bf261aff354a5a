// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the input and the output of an index: documents and passages, and the interface of embedding
// models. Open this file to add a fact about a passage, or a source of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::retrieve {

struct SourceDocument {
  std::string name;  ///< the extension determines the format
  std::string bytes;
};

/// The key of a document in the index. The key is a hash of these facts:
/// - the document's format and bytes, the size and overlap of passages, and the tokenizer's vocabulary;
/// - with summaries, their writer and the number of texts of each summary.
///
/// Documents with equal bytes and format are the same document.
using DocumentKey = std::string;

struct Passage {
  DocumentKey document;
  std::int64_t number = 0;  ///< index of the passage in the document, from 0; summaries have the last numbers
  std::uint32_t level = 0;  ///< 0: the document's own text; n: a summary of passages of level n − 1
  std::string place;        ///< in its document, e.g. "page 3"; may be empty
  std::string hash;         ///< hash128 of the text, in hexadecimal digits
  std::string text;
  double score = 0;  ///< the ranker's score; higher is better
};

enum class IndexPhase { Documents, Summaries, Vectors };

struct IndexProgress {
  IndexPhase phase = IndexPhase::Documents;
  std::size_t done = 0;  ///< documents that were checked; summaries or vectors that were made
  /// Number of all documents, summaries or vectors. For summaries: the number that is known so far.
  std::size_t total = 0;
  /// Number of finished documents, summaries or vectors that were not in the index before.
  std::size_t added = 0;
};

/// Watches the building of an index, and may stop it. Finished work is kept after a stop.
struct Watch {
  std::function<void(const IndexProgress&)> progress;  ///< called after each step; may be empty
  std::stop_token stop;

  void report(const IndexProgress& now) const {
    if (progress) progress(now);
  }
};

using EmbeddingVector = std::vector<float>;

/// Turns texts into vectors. The vectors of similar texts have similar directions.
class Embedder {
 public:
  virtual ~Embedder() = default;

  /// Returns the name in messages: "http://localhost:8000/v1/embeddings", "the model that is loaded".
  virtual std::string name() const = 0;

  /// Identifies everything that a vector depends on, except the text. This identity is part of the key of
  /// stored vectors.
  virtual std::string fingerprint() const = 0;

  /// Returns one vector for each text, in order, all of the same length. Returns nothing when stopped. The
  /// vector of a text depends only on this text. Throws Failure if vectors cannot be made.
  virtual std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token stop) = 0;

  /// Returns the vector of a question. Some models were trained with an instruction before questions. Returns
  /// nothing when stopped. Throws Failure like embed().
  virtual std::vector<EmbeddingVector> embedQuestion(const std::string& question, std::stop_token stop) {
    return embed({&question, 1}, std::move(stop));
  }
};

}  // namespace spanscope::retrieve
