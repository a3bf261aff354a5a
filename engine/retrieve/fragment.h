// SPDX-License-Identifier: GPL-3.0-or-later
// What goes into an index and what comes out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace spanscope::retrieve {

struct SourceDocument {
  std::string name;  ///< its extension says the format
  std::string bytes;
};

/// What a document is found by: the content hash of its format and bytes, of the chunk options, of the
/// tokenizer's vocabulary and, with summaries, of who wrote them and of how many each. Documents of equal
/// bytes and format are one.
using DocumentKey = std::string;

struct Fragment {
  DocumentKey document;
  std::int64_t number = 0;  ///< of the fragment in its document, from 0; summaries come last
  std::uint32_t level = 0;  ///< 0: the document's own text; n: a summary of fragments of level n − 1
  std::string place;        ///< in its document, e.g. "page 3"; may be empty
  std::string hash;         ///< hash128 of the text, in hexadecimal digits
  std::string text;
  double score = 0;  ///< of what found it, higher is better
};

enum class IndexPhase { Documents, Summaries, Vectors };

struct IndexProgress {
  IndexPhase phase = IndexPhase::Documents;
  std::size_t done = 0;   ///< documents that were looked at; summaries or vectors that were made
  std::size_t total = 0;  ///< of them; of the summaries, those that are known to be needed
  std::size_t added = 0;  ///< of those done: what was not in the index before
};

/// Who watches the making of an index, and may stop it: what is done so far is kept.
struct Watch {
  std::function<void(const IndexProgress&)> progress;  ///< called after each step; may be empty
  std::stop_token stop;

  void tell(const IndexProgress& now) const {
    if (progress) progress(now);
  }
};

}  // namespace spanscope::retrieve
