// SPDX-License-Identifier: GPL-3.0-or-later
// From a query that retrieves to one that holds what was retrieved.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/embedder.h"
#include "engine/retrieve/fragment_index.h"
#include "engine/retrieve/ranking.h"
#include "engine/retrieve/retrieval_limits.h"
#include "engine/retrieve/summarizer.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Ranked fragments that are listed of an augment beyond those in the prompt, to choose from.
inline constexpr std::size_t kRunnersUp = 10;

/// What a person decided of the fragments of one augment, by the hashes of their texts.
struct FragmentChoice {
  std::vector<std::string> pinned;  ///< always in the prompt, first and in this order
  std::set<std::string> dropped;    ///< never in the prompt, unless pinned
  bool operator==(const FragmentChoice&) const = default;
};

struct RetrievalOptions {
  std::int32_t fragments = 5;  ///< most of an augment, but for pinned ones: 1 … kMaxFragments
  ChunkOptions chunk;
  std::optional<Ranking> ranking;  ///< nothing: by vectors where an augment names the embedder's model, else
                                   ///< by words
  bool summaries = false;          ///< search summaries of the documents too
  std::map<NodePath, FragmentChoice> choices;  ///< by augment
};

/// What it works with; all of it outlives the call.
struct RetrievalTools {
  const text::Tokenizer* tokenizer = nullptr;  ///< that cuts documents into fragments
  FragmentIndex* index = nullptr;
  query::Surroundings* files = nullptr;  ///< where files are read; null: an augment has none
  /// Whether a name ("spnl/spanlet") is that of the model that embeds; empty: there is none.
  std::function<bool(const std::string&)> isEmbedder;
  /// Called when they are first needed; they may throw Failure.
  std::function<Embedder&()> embedder;
  std::function<Summarizer&()> summarizer;
  Watch watch;
};

/// One fragment that an augment found.
struct FoundFragment {
  RankedFragment ranked;
  std::string source;    ///< name of its document
  std::size_t rank = 0;  ///< in the ranking, from 1; 0: it is here because it is pinned
  bool isPinned = false;
  bool isDropped = false;
  bool isInPrompt = false;
};

/// What one augment found: first what is in the prompt, in its order there, then the others by rank.
struct Retrieved {
  NodePath node;  ///< of the augment, and of the plus that stands there now
  std::string question;
  Ranking ranking = Ranking::Lexical;
  std::size_t documents = 0;  ///< that were searched
  std::vector<FoundFragment> fragments;
};

struct ResolvedAugments {
  std::optional<query::Node> query;            ///< nothing if there was an error, or it was stopped
  std::vector<query::Diagnostic> diagnostics;  ///< with the path of the node and no position
  std::vector<Retrieved> retrieved;
  bool isStopped = false;
};

bool hasAugment(const query::Node& node);

/// The query with each augment replaced by a plus of user messages: the pinned fragments of its documents and
/// those that fit its body best, the best first. The question is the text of the messages in the body; what
/// has no text before the query runs (a generate, a map, another augment, an ask or file that was not
/// resolved) is an error there, as are a document that cannot be read, options out of range and an index or a
/// model that cannot be used. Every problem of every augment is listed. Of many files, those that cannot be
/// read are warned of and left out. An augment that finds nothing becomes an empty plus, with a warning.
/// Documents, their vectors and summaries are added to the index.
ResolvedAugments resolveAugments(const query::Node& node, const RetrievalOptions& options,
                                 const RetrievalTools& tools);

}  // namespace spanscope::retrieve
