// SPDX-License-Identifier: GPL-3.0-or-later
// What the trace says of each node of the document: how many tokens it has, how they were served, and for a
// generate where it stands and what it has answered.
#pragma once

#include "engine/query/query.h"
#include "ui/editor/served_tokens.h"
#include "ui/session/view_input.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

enum class NodePhase {
  None,      ///< never ran, or has nothing to run
  Waiting,   ///< planned or deferred
  Running,   ///< prefill or decoding
  Finished,  ///< by an end token or at its limit
  Stopped,
  Failed,
};

struct NodeStatus {
  std::int64_t tokens = -1;    ///< of a leaf: its tokens; of a generate: its prompt. −1: not known
  std::int64_t generated = 0;  ///< tokens of the answer
  std::int64_t read = 0;       ///< of a generate: tokens of its prompt that were found or computed so far
  bool fromTrace = false;      ///< `tokens` was reported; else counted by the tokenizer
  Served served;               ///< by the newest request that holds them; all 0 until something was looked up
  NodePhase phase = NodePhase::None;
  std::string answer;
  std::uint32_t copy = 0;    ///< which copy of the step is shown, from 0
  std::uint32_t copies = 0;  ///< how many the newest run has started
  RequestId request = 0;     ///< that is shown
  std::string failure;       ///< first line of the reason
  std::string advice;        ///< what the engine warned of about the run; empty: nothing
  std::int32_t fragments =
      -1;                ///< of an augment: that its newest run put into the prompt; −1: it has not run
  double bestScore = 0;  ///< of the fragment that ranked first
  double looked = -1;    ///< what the shown answer read of it, of all it read from sources; −1: not known
  bool operator==(const NodeStatus&) const = default;

  /// Cached share in whole per cent; −1 where nothing was looked up.
  int cachedPercent() const;
};

using NodeStatuses = std::map<document::NodeId, NodeStatus>;

/// What nodeStatuses() would compute again and again. Its content never changes a result.
struct NodeStatusCache {
  std::map<RunId, std::optional<query::Node>> queries;  ///< the runs' queries, read
  std::shared_ptr<TokenCounts> counts;                  ///< null: nothing was counted
  const TraceStore* trace = nullptr;
};

/// The states of all nodes that have one. A leaf whose text is another than the one that ran has no served
/// tokens: they were those of the old text.
NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache);
NodeStatuses nodeStatuses(const ViewInput& input);
/// Of these nodes alone.
NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache,
                          const std::vector<document::NodeId>& nodes);

/// The requests of the newest run that belong to the node, by copy.
std::map<std::uint32_t, RequestId> requestsOfNode(const ViewInput& input, document::NodeId node);

}  // namespace spanscope::ui
