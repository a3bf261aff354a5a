// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the status of each node of the document from the trace. The status has the number of tokens, and how
// the tokens were served. A generate node also has a phase and an answer.
#pragma once

#include "engine/metrics/metric_table.h"
#include "engine/query/query.h"
#include "ui/session/token_account.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

enum class NodePhase {
  None,      ///< never ran, or has nothing to run
  Waiting,   ///< planned or deferred
  Running,   ///< prefill or decoding
  Finished,  ///< ended by an end token or at its limit
  Stopped,
  Failed,
};

struct NodeStatus {
  /// The number of tokens of a leaf, or of the prompt of a generate node. −1: not known.
  std::int64_t tokens = -1;
  std::int64_t generated = 0;  ///< tokens of the answer
  bool hasBegun = false;       ///< the answer has text, even if its tokens were not counted
  std::int64_t read = 0;  ///< for a generate node: tokens of its prompt that were reused or computed so far
  /// True: `tokens` comes from the trace. False: `tokens` comes from the tokenizer or from a prediction.
  bool fromTrace = false;
  std::int64_t beside = 0;  ///< for an answer: see RequestAccount::beside().
  /// The account of a leaf in the newest request of its own step. For a generate node, the account of its
  /// prompt. All counts are 0 before the lookup of blocks.
  TokenAccount served;
  /// For a leaf: the newest run with this leaf had another text, so `served` and `outer` have no tokens.
  bool hasOtherText = false;
  /// Number of tokens that a request neither reused nor computed. The request runs, or it did not finish.
  std::int64_t unread = 0;
  /// For a leaf of a subquery: its account in the newest outer request that reuses the leaf. Without such a
  /// request, all counts are 0.
  TokenAccount outer;
  NodePhase phase = NodePhase::None;
  std::string answer;
  std::uint32_t copy = 0;    ///< the shown copy of the step, from 0
  std::uint32_t copies = 0;  ///< number of copies that the newest run has started
  RequestId request = 0;     ///< the shown request
  QString step;              ///< the name of the shown step, as in views of runs; empty: no run
  std::string failure;       ///< first line of the reason
  std::string advice;        ///< the engine's warnings about the run; may be empty.
  /// The name of the model or server that gave the answer, if the next answer would come from another one.
  std::string answeredBy;
  /// The number of passages that an augment's newest run put into the prompt. −1: no run.
  std::int32_t passages = -1;
  double bestScore = 0;  ///< score of the passage with rank 1.
  /// This node's share of the shown answer's attention on all sources, 0 … 1. −1: the share is not known.
  double looked = -1;
  bool operator==(const NodeStatus&) const = default;

  /// Returns the account of the tokens, for metrics.
  metrics::Totals totals() const;
  /// Returns the cached share: "86 %", "<1 %". Empty: nothing was looked up.
  QString cachedShare() const;
};

/// Whether `step` is the innermost of the steps that contain the place. Also true if no step contains the
/// place.
bool isOwnStep(const std::set<NodePath>& steps, const NodePath& step, const NodePath& place);

using NodeStatuses = std::map<document::NodeId, NodeStatus>;

/// Caches data that nodeStatuses() would otherwise recompute in every call. The cache never changes a result.
struct NodeStatusCache {
  std::map<RunId, std::optional<query::Node>> queries;  ///< the parsed query of each run
  std::shared_ptr<TokenCounts> counts;                  ///< null: nothing was counted
  const TraceStore* trace = nullptr;
};

/// Returns the statuses of all nodes that have one. A leaf with a changed text has no served tokens, because
/// these tokens belonged to the old text.
NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache);
NodeStatuses nodeStatuses(const ViewInput& input);
/// Returns the statuses of only these nodes.
NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache,
                          const std::vector<document::NodeId>& nodes);

/// Returns the requests of the node by copy, in the newest run with such requests.
std::map<std::uint32_t, RequestId> requestsOfNode(const ViewInput& input, document::NodeId node);

}  // namespace spanscope::ui
