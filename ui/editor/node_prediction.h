// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the prediction for each node of the document. Views draw a prediction in another style than the
// values of a run.
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

/// The predicted token counts of a leaf, or of the prompt of a node that generates.
struct NodePrediction : metrics::PredictedAccount {
  /// Number of blocks of the prompt, 0 for a leaf. If the counts are bounds, this is the max number.
  std::int64_t blocks = 0;
  std::int64_t foundBlocks = 0;  ///< number of these blocks that are hits or relocated hits
  QString server{};              ///< the server whose simulator predicts; empty: the embedded engine
  QString serverKind{};          ///< "llama.cpp"
  bool isCertain = true;         ///< false: the run may have other counts
  bool operator==(const NodePrediction&) const = default;
};

/// Each node has one entry per copy of its step. A leaf has one entry.
using NodePredictions = std::map<document::NodeId, std::vector<NodePrediction>>;

/// Returns the prediction of each node. `prediction` must be known. If several prompts contain a leaf, the
/// last of these prompts counts, as after a run.
NodePredictions nodePredictions(const DocumentPrediction& prediction, const document::Document& document);

/// Returns the number of tokens of each text in the next run's prompt, with the tokens of the chat template.
/// The map includes texts of prompts that do not fit. `prediction` must be known.
std::map<document::NodeId, std::int64_t> promptTokens(const DocumentPrediction& prediction,
                                                      const document::Document& document);

/// Returns the prediction to show beside the status of a node. Returns nullptr in these cases:
/// - there is no prediction
/// - the prediction equals the counts of the shown run
/// - neither the prediction nor the shown run has cached tokens
const NodePrediction* predictionBeside(const NodePredictions& predictions, document::NodeId node,
                                       const NodeStatus& status);

/// Returns the predicted share of tokens from the cache: "next 87 %", "next 62–87 %", "next ≈ 87 %".
QString predictionBadge(const NodePrediction& prediction);
/// Returns the predicted share in a sentence with the counts.
QString predictionWords(const NodePrediction& prediction);

/// Returns the predictions of the cache simulators of servers, for each node that a server of the user's list
/// answers. Texts in the prompts of these nodes have predictions, too. These nodes have no prediction:
/// - nodes of a server that has no cache simulator, or whose simulator cannot predict
/// - nodes of the embedded engine beside servers: the engine's prediction does not know the chat of a step
NodePredictions serverPredictions(const AskedSimulators& asked, const document::Document& document);

}  // namespace spanscope::ui
