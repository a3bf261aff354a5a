// SPDX-License-Identifier: GPL-3.0-or-later
// From a query that retrieves to one that holds what was retrieved.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/lexical_index.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::retrieve {

inline constexpr std::int32_t kMaxFragments = 10'000;

struct RetrievalOptions {
  std::int32_t fragments = 5;  ///< most of an augment: 1 … kMaxFragments
  ChunkOptions chunk;
};

/// What one augment found, the best first.
struct Retrieved {
  NodePath node;  ///< of the augment, and of the plus that stands there now
  std::vector<Fragment> fragments;
};

struct ResolvedAugments {
  std::optional<query::Node> query;            ///< nothing if there was an error
  std::vector<query::Diagnostic> diagnostics;  ///< with the path of the node and no position
  std::vector<Retrieved> retrieved;
};

bool hasAugment(const query::Node& node);

/// The query with each augment replaced by a plus of user messages: the fragments of its document that fit
/// its body best, the best first. The question is the text of the messages in the body; what has no text
/// before the query runs (a generate, a map, another augment, an ask or file that was not resolved) is an
/// error there, as are a document that cannot be read, options out of range and an index that cannot be used.
/// Every problem of every augment is listed. An augment that finds nothing becomes an empty plus, with a
/// warning. The embedding model is not used. Documents are added to the index.
ResolvedAugments resolveAugments(const query::Node& node, const RetrievalOptions& options,
                                 const text::Tokenizer& tokenizer, LexicalIndex& index);

}  // namespace spanscope::retrieve
