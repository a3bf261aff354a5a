// SPDX-License-Identifier: GPL-3.0-or-later
// What a person asks the engine for besides runs: a function a kind of work. Each returns why not, in words;
// nothing if the work was submitted.
#pragma once

#include "engine/base/ids.h"
#include "engine/experiment/experiment.h"
#include "ui/session/attention_replay.h"
#include "ui/session/benchmark.h"
#include "ui/session/next_token_request.h"
#include "ui/session/run_inputs.h"
#include "ui/session/turn_request.h"

#include <QString>

#include <functional>
#include <string>
#include <vector>

namespace spanscope::ui {

class Workspace;

/// Computes the attention of an answer of the current document again.
QString startReplay(Workspace& workspace, const ReplayChoice& choice);
/// Computes the query and the key of two tokens of the current document's answer. `tell` gets what is known
/// of them, first that they are being computed.
QString startTurn(Workspace& workspace, const TurnChoice& choice,
                  const std::function<void(const TurnResult&)>& tell);
/// Computes what might have stood at each place of an answer of the current document. `tell` as above.
QString startNextToken(Workspace& workspace, const NextTokenChoice& choice,
                       const std::function<void(const NextTokenResult&)>& tell);
/// Measures how close these answers of the current document are to a full prefill.
QString startFidelity(Workspace& workspace, const std::vector<RequestId>& requests);
/// Measures the current document: its query, or made-up documents on its model. `asker` answers questions of
/// the query.
QString startBenchmark(Workspace& workspace, const BenchmarkWish& wish, const Asker& asker = {});
/// Runs the query of the current document under these policies, given as documents write them. `asker`
/// answers questions of the query.
QString startPolicyComparison(Workspace& workspace, const std::vector<std::string>& policies,
                              const Asker& asker = {});
/// Carries an experiment out on the model of the current document. It is the program's: every tab shows it,
/// and there is one at a time. Where it is wished, it takes documents and question from the query of the
/// current document; `asker` answers questions of that query.
QString startExperiment(Workspace& workspace, const experiment::ExperimentWish& wish,
                        const Asker& asker = {});

/// Has the engine count how long an experiment would take on the model of the current document, where that
/// one is loaded: Workspace::setEstimate() gets what came of it.
void estimateExperiment(Workspace& workspace, const QString& wish);

}  // namespace spanscope::ui
