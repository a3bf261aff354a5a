// SPDX-License-Identifier: GPL-3.0-or-later
// What the prediction says of each node of the document. It looks different from what a run has done.
#pragma once

#include "engine/run/prediction.h"
#include "engine/workbench/document/document.h"
#include "ui/editor/node_status.h"
#include "ui/session/document_predictor.h"
#include "ui/session/simulator_asker.h"

#include <QString>

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

/// Counts of tokens of a leaf, or of the prompt of a node that generates.
struct NodePrediction : metrics::PredictedAccount {
  /// Blocks of the prompt, 0 for a leaf; the most possible if the counts are bounds.
  std::int64_t blocks = 0;
  std::int64_t foundBlocks = 0;  ///< how many of these blocks are found whole
  QString server{};              ///< whose twin says so; empty: the embedded engine's prediction
  QString serverKind{};          ///< "llama.cpp"
  bool isCertain = true;         ///< false: the run may have other counts; a leaf's counts are bounds then
  bool operator==(const NodePrediction&) const = default;
};

/// For each node one entry by copy of its step; a leaf has one entry.
using NodePredictions = std::map<document::NodeId, std::vector<NodePrediction>>;

/// The prediction of each node. `prediction` must be known. If a leaf stands in several prompts, the last of
/// them counts, as it does after a run.
NodePredictions nodePredictions(const DocumentPrediction& prediction, const document::Document& document);

/// By text of the query: its tokens in the next run's prompt, with those of the chat template. Also of
/// prompts that do not fit. `prediction` must be known.
std::map<document::NodeId, std::int64_t> promptTokens(const DocumentPrediction& prediction,
                                                      const document::Document& document);

/// The prediction to show beside the status of a node. Returns nullptr if it is not worth showing: there is
/// none, it predicts just what the shown run found, or it predicts no cached tokens and the shown run had
/// none.
const NodePrediction* predictionBeside(const NodePredictions& predictions, document::NodeId node,
                                       const NodeStatus& status);

/// "next 87 %", "next 62–87 %", "next ≈ 87 %": the share of its tokens that will come from the cache.
QString predictionBadge(const NodePrediction& prediction);
/// The same in a sentence with the counts.
QString predictionWords(const NodePrediction& prediction);

// What the twins of a document's servers say of each node.

/// The prediction of each node that a server of the person's list answers, and of the texts in its prompts,
/// by that server's twin. Nodes are not here whose server has no twin, or one that says nothing, and those
/// that the embedded engine answers beside servers: it is sent each step as a chat, of which its prediction
/// knows nothing.
NodePredictions serverPredictions(const AskedSimulators& asked, const document::Document& document);

}  // namespace spanscope::ui
