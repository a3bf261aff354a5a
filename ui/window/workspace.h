// SPDX-License-Identifier: GPL-3.0-or-later
// What is open and what is shown of it: documents in tabs, the one engine they share, its trace, the
// selection, the scrubber. From these it makes the input of every view.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/document/document_query.h"
#include "ui/document/document_model.h"
#include "ui/session/engine_host.h"
#include "ui/session/forecasts.h"
#include "ui/session/run_inputs.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

/// A tab.
struct OpenDocument {
  std::uint32_t id = 0;  ///< of the tab, never used again
  std::unique_ptr<document::DocumentModel> model;
  std::shared_ptr<TraceStore> recording;       ///< of a trace file; null: the engine's live trace
  std::map<RunId, document::NodePaths> paths;  ///< runs of this document in its trace
  Selection selection;
  std::size_t position = 0;  ///< of the scrubber
  bool following = true;     ///< the newest event is shown
  QString failure;           ///< why the last run could not start or failed; empty otherwise
};

class Workspace : public QObject {
  Q_OBJECT
 public:
  explicit Workspace(compute::Backends backends, QObject* parent = nullptr);
  ~Workspace() override;

  EngineHost& engine() { return m_engine; }

  const std::vector<std::unique_ptr<OpenDocument>>& documents() const { return m_documents; }
  OpenDocument* current() { return m_current; }  ///< nullptr: nothing is open
  const OpenDocument* current() const { return m_current; }
  document::DocumentModel* model() { return m_current == nullptr ? nullptr : m_current->model.get(); }
  void setCurrent(OpenDocument* document);

  /// Opens a tab and makes it the current one.
  OpenDocument& open(std::unique_ptr<document::DocumentModel> model);
  /// Opens a recorded trace with the query of its last run. Throws Failure.
  OpenDocument& openTrace(const QString& path);
  void close(OpenDocument* document);

  /// What the views of the current document are a function of.
  const ViewInput& input() const { return m_input; }

  void select(const Selection& selection);
  void setTheme(const Theme& theme);
  /// Whether texts of documents and questions may be sent to this endpoint; asked before a run that would.
  /// What is on this machine is not asked about, and without an answer nothing is sent elsewhere.
  using ServerConsent = std::function<bool(const QString& endpoint)>;
  void setServerConsent(ServerConsent consent) { m_consent = std::move(consent); }
  /// Shows the state after so many events; the newest one is followed from then on.
  void setPosition(std::size_t position);

  /// Runs the document, or the subtree of a node; `asker` answers its questions. Returns why not, in words;
  /// nothing if it was started.
  QString run(document::NodeId top = document::kNoNode, const Asker& asker = {});
  /// Writes the events of the current document's trace to a file; what was wrong, or nothing.
  QString saveTrace(const QString& path) const;

 Q_SIGNALS:
  void currentChanged();
  void documentsChanged();  ///< tabs or their titles
  void inputChanged();      ///< at most once a frame
  void runEnded(const QString& error);

 private:
  void invalidate();
  void drain();
  void boundTrace();
  void update();
  void showForecast();
  /// The server that a run of the query takes vectors from, if any; why it may not, in words.
  QString findEmbeddings(const query::Node& query, RetrievalRequest& request) const;
  void bindRuns(OpenDocument& document) const;

  EngineHost m_engine;
  Forecasts m_forecasts{m_engine};
  ServerConsent m_consent;
  std::shared_ptr<TraceStore> m_live;
  std::uint64_t m_keptBytes;  ///< most of it that is kept
  std::vector<std::unique_ptr<OpenDocument>> m_documents;
  OpenDocument* m_current = nullptr;
  std::uint32_t m_nextId = 1;

  std::uint32_t m_runner = 0;                        ///< tab whose run was started last
  std::optional<document::NodePaths> m_runnerPaths;  ///< until its RunStarted event came

  ViewInput m_input;
  QTimer m_frame;  ///< one frame's wait before views are told
};

}  // namespace spanscope::ui
