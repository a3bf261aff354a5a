// SPDX-License-Identifier: GPL-3.0-or-later
// The input and the output of an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace spanscope::retrieve {

struct SourceDocument {
  std::string name;  ///< the extension tells the format
  std::string bytes;
};

/// The key of a document in the index. It is a hash of the document's format and bytes, the chunk options,
/// the tokenizer's vocabulary and, with summaries, who wrote them and how many texts each covers. Documents
/// with equal bytes and format are the same document.
using DocumentKey = std::string;

struct Fragment {
  DocumentKey document;
  std::int64_t number = 0;  ///< of the fragment in its document, from 0; summaries have the last numbers
  std::uint32_t level = 0;  ///< 0: the document's own text; n: a summary of fragments of level n − 1
  std::string place;        ///< in its document, e.g. "page 3"; may be empty
  std::string hash;         ///< hash128 of the text, in hexadecimal digits
  std::string text;
  double score = 0;  ///< the ranker's score; higher is better
};

enum class IndexPhase { Documents, Summaries, Vectors };

struct IndexProgress {
  IndexPhase phase = IndexPhase::Documents;
  std::size_t done = 0;   ///< documents that were checked; summaries or vectors that were made
  std::size_t total = 0;  ///< of these; for summaries: as many as are known to be needed so far
  std::size_t added = 0;  ///< of those done: how many were not in the index before
};

/// Watches the making of an index, and may stop it. What is done before a stop is kept.
struct Watch {
  std::function<void(const IndexProgress&)> progress;  ///< called after each step; may be empty
  std::stop_token stop;

  void tell(const IndexProgress& now) const {
    if (progress) progress(now);
  }
};

}  // namespace spanscope::retrieve
