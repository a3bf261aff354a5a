// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/service/request_retrieval.h"
#include "ui/session/open_document.h"
#include "ui/session/predictions.h"
#include "ui/session/problem_finder.h"
#include "ui/session/run_inputs.h"

#include <QCoreApplication>
#include <QString>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace spanscope::workbench {
class RunJob;
}

namespace spanscope::ui {

class Workspace;

/// Starts runs of the current document. Prepares the query, and returns the reason if the query cannot run.
class RunStarter {
  Q_DECLARE_TR_FUNCTIONS(RunStarter)

 public:
  /// Both arguments must outlive this object.
  RunStarter(Workspace& workspace, const Predictions& predictions);

  /// Runs the document, or the subtree of a node. `asker` answers questions of the query. Returns the reason
  /// if the run was not started, otherwise an empty text.
  QString start(document::NodeId top = document::kNoNode, const Asker& asker = {});
  /// Why the current document cannot run now; empty: no problem.
  QString refusal() const;
  /// Why the current document cannot be measured now; empty: no problem.
  QString measuringRefusal() const;
  /// The problems of the document, or of the subtree of a node. A run with an error is refused.
  std::vector<Problem> problems(document::NodeId top = document::kNoNode);
  /// Prepares the query of the current document, or of the subtree of a node: all stages before retrieval.
  /// Returns the reason if this fails. Otherwise the text is empty, and `prepared` has the query.
  QString prepare(document::NodeId top, const Asker& asker, PreparedQuery& prepared) const;

  /// Returns whether texts of documents and questions may be sent to this endpoint. Called before a run that
  /// sends texts to another machine. Without this function, nothing is sent there.
  using ServerConsent = std::function<bool(const QString& endpoint)>;
  void setServerConsent(ServerConsent consent) { m_consent = std::move(consent); }
  /// The settings of the last run that was started.
  const document::RunSettings& lastSettings() const { return m_lastSettings; }

 private:
  /// Starts the prepared run on the engine.
  QString startHere(OpenDocument& document, PreparedQuery prepared);
  /// Finds the server for the query's embeddings, if any. Returns the reason if the run may not use this
  /// server, otherwise an empty text.
  QString findEmbeddings(const query::Node& query, workbench::RetrievalRequest& request) const;

  Workspace& m_workspace;
  const Predictions& m_predictions;
  ServerConsent m_consent;
  ProblemFinder m_finder;
  document::RunSettings m_lastSettings;
};

}  // namespace spanscope::ui
