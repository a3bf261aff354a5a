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

/// Starts runs of the current document: finds out what is run, and says why it cannot be.
class RunStarter {
  Q_DECLARE_TR_FUNCTIONS(RunStarter)

 public:
  /// Both must outlive it.
  RunStarter(Workspace& workspace, const Predictions& predictions);

  /// Runs the document, or the subtree of a node; `asker` answers its questions. Returns why not, in words;
  /// nothing if it was started.
  QString start(document::NodeId top = document::kNoNode, const Asker& asker = {});
  /// Why nothing of the current document can be run now, in words; nothing: it can.
  QString refusal() const;
  /// Why nothing of it can be measured now, in words; nothing: it can.
  QString measuringRefusal() const;
  /// The problems of the document, or of what is run below a node. A run with an error among them is refused.
  std::vector<Problem> problems(document::NodeId top = document::kNoNode);
  /// Takes the query of the current document, or of the subtree of a node, through every stage before
  /// retrieving. Returns why not, in words; nothing where `prepared` holds it.
  QString prepare(document::NodeId top, const Asker& asker, PreparedQuery& prepared) const;

  /// Whether texts of documents and questions may be sent to this endpoint. It is asked before a run that
  /// would send them to another machine; without it, nothing is sent there.
  using ServerConsent = std::function<bool(const QString& endpoint)>;
  void setServerConsent(ServerConsent consent) { m_consent = std::move(consent); }
  /// The settings of the last run that was started.
  const document::RunSettings& lastSettings() const { return m_lastSettings; }

 private:
  /// Has the engine run what was prepared.
  QString startHere(OpenDocument& document, PreparedQuery prepared);
  /// Finds the server that a run of the query takes vectors from, if any. Returns why it may not, in words.
  QString findEmbeddings(const query::Node& query, workbench::RetrievalRequest& request) const;

  Workspace& m_workspace;
  const Predictions& m_predictions;
  ServerConsent m_consent;
  ProblemFinder m_finder;
  document::RunSettings m_lastSettings;
};

}  // namespace spanscope::ui
