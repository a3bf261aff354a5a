// SPDX-License-Identifier: GPL-3.0-or-later
// What the trace says of each node of the document: the number of its tokens, how they were served, and for a
// generate its phase and its answer.
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
  std::int64_t tokens = -1;  ///< for a leaf its own tokens, for a generate those of its prompt; −1: not known
  std::int64_t generated = 0;  ///< tokens of the answer
  bool hasBegun = false;       ///< text of the answer has come, counted as tokens or not
  std::int64_t read = 0;       ///< for a generate: tokens of its prompt that were found or computed so far
  bool fromTrace =
      false;  ///< `tokens` comes from the trace; false: the tokenizer or a prediction counted them
  std::int64_t beside = 0;  ///< for an answer: RequestAccount::beside()
  /// For a leaf: in the newest request of its own step. All 0 until the blocks were looked up.
  TokenAccount served;
  /// How many of `tokens` a request that runs or did not finish has neither found nor computed.
  std::int64_t unread = 0;
  /// For a leaf of an inner step: in the newest request of an outer step that reuses it; all 0: there is
  /// none.
  TokenAccount outer;
  NodePhase phase = NodePhase::None;
  std::string answer;
  std::uint32_t copy = 0;    ///< which copy of the step is shown, from 0
  std::uint32_t copies = 0;  ///< how many copies the newest run has started
  RequestId request = 0;     ///< the shown request
  QString step;              ///< the name of the shown step, as views of runs name it; empty: no run
  std::string failure;       ///< first line of the reason
  std::string advice;        ///< the engine's warnings about the run; empty: none
  /// Who gave the answer, if that is not who would give it now: the name of a model or of a server.
  std::string answeredBy;
  std::int32_t fragments =
      -1;  ///< for an augment: how many fragments its newest run put into the prompt; −1: it has not run
  double bestScore = 0;  ///< score of the fragment that ranked first
  /// Share of this node in what the shown answer read from all sources, 0 … 1; −1: not known.
  double looked = -1;
  bool operator==(const NodeStatus&) const = default;

  /// All tokens of the prompt, for the metrics of it.
  metrics::Totals totals() const;
  /// The cached share: "86 %", "<1 %"; empty if nothing was looked up.
  QString cachedShare() const;
};

/// Whether `step` is the innermost of these steps that holds the place. Also true if no step holds it.
bool isOwnStep(const std::set<NodePath>& steps, const NodePath& step, const NodePath& place);

using NodeStatuses = std::map<document::NodeId, NodeStatus>;

/// Keeps what nodeStatuses() would otherwise compute again in every call. It never changes a result.
struct NodeStatusCache {
  std::map<RunId, std::optional<query::Node>> queries;  ///< the parsed query of each run
  std::shared_ptr<TokenCounts> counts;                  ///< null: nothing was counted
  const TraceStore* trace = nullptr;
};

/// The statuses of all nodes that have one. If the text of a leaf has changed since it ran, the leaf has no
/// served tokens, because these belonged to the old text.
NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache);
NodeStatuses nodeStatuses(const ViewInput& input);
/// The statuses of only these nodes.
NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache,
                          const std::vector<document::NodeId>& nodes);

/// The node's requests in the newest run that has any, by copy.
std::map<std::uint32_t, RequestId> requestsOfNode(const ViewInput& input, document::NodeId node);

}  // namespace spanscope::ui
