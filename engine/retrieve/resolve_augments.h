// SPDX-License-Identifier: GPL-3.0-or-later
// Turns a query with augments into one with the retrieved chunks. Open this file to change how augments are
// resolved.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/chunker.h"
#include "engine/retrieve/embedder.h"
#include "engine/retrieve/fragment_index.h"
#include "engine/retrieve/ranking.h"
#include "engine/retrieve/summary_tree.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Number of further chunks that are listed for an augment, beyond those in the prompt. The user can choose
/// from them.
inline constexpr std::size_t kRunnersUp = 10;

/// The user's decisions about the chunks of one augment, by the hashes of their texts.
struct FragmentChoice {
  std::vector<std::string> pinned;  ///< always in the prompt, first and in this order
  std::set<std::string> dropped;    ///< never in the prompt, unless pinned
  bool operator==(const FragmentChoice&) const = default;
};

struct RetrievalOptions {
  std::int32_t fragments = 5;  ///< max chunks of an augment, without pinned ones: 1 … kMaxFragments
  ChunkOptions chunk;
  std::optional<Ranking> ranking;  ///< nothing: dense if an augment names the embedder's model, else lexical
  bool summaries = false;          ///< also search summaries of the documents
  std::map<NodePath, FragmentChoice> choices;  ///< by augment
};

/// The tools for retrieval. All of them must outlive the call.
struct RetrievalTools {
  const text::Tokenizer* tokenizer = nullptr;  ///< splits documents into chunks
  FragmentIndex* index = nullptr;
  query::Surroundings* files = nullptr;  ///< reads files; null: augments have no files
  /// Whether a name ("spnl/spanlet") means the embedder's model. Empty: there is no embedder.
  std::function<bool(const std::string&)> isEmbedder;
  /// The makers are called at their first use. They may throw Failure.
  std::function<Embedder&()> embedder;
  std::function<Summarizer&()> summarizer;
  Watch watch;
};

/// One chunk that an augment found.
struct FoundFragment {
  RankedFragment ranked;
  std::string source;    ///< name of its document
  std::size_t rank = 0;  ///< rank, from 1; 0: the chunk is here only because it is pinned
  bool isPinned = false;
  bool isDropped = false;
  bool isInPrompt = false;
};

/// The result of one augment: first the chunks in the prompt, in their order there, then the others by rank.
struct Retrieved {
  NodePath node;  ///< of the augment, and of the plus that replaces it
  std::string question;
  Ranking ranking = Ranking::Lexical;
  std::size_t documents = 0;  ///< number of searched documents
  std::vector<FoundFragment> fragments;
};

struct ResolvedAugments {
  std::optional<query::Node> query;            ///< nothing after an error or a stop
  std::vector<query::Diagnostic> diagnostics;  ///< they have the path of the node and no position
  std::vector<Retrieved> retrieved;
  bool isStopped = false;
};

bool hasAugment(const query::Node& node);

/// Replaces each augment of the query by a plus of user messages. First come the pinned chunks of its
/// documents, then the chunks that match its body best, the best first. The question is the text of the
/// messages in the body. Documents, their vectors and summaries are added to the index. An augment without
/// chunks becomes an empty plus, with a warning. If an augment has many files, unreadable files are left out
/// with a warning. Every problem of every augment is listed. These are errors:
/// - a node of the body without text before the run, such as a generate, a map or another augment;
/// - an ask or file of the body that is not resolved;
/// - a document that cannot be read, or options out of range;
/// - an index or a model that cannot be used.
ResolvedAugments resolveAugments(const query::Node& node, const RetrievalOptions& options,
                                 const RetrievalTools& tools);

}  // namespace spanscope::retrieve
