// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/lessons/lesson_actions.h"
#include "ui/window/window_parts.h"

#include <QObject>

#include <map>
#include <string>

namespace spanscope::ui {

class LessonController;

/// Carries out on the window what lessons do.
class WindowStage : public QObject, public LessonStage {
  Q_OBJECT
 public:
  /// The parts and the lessons must outlive the stage.
  WindowStage(const WindowParts& parts, LessonController& lessons);

  /// The tab whose work a lesson waits for; 0: none.
  std::uint32_t tab() const { return m_tab; }
  /// Whether that tab is the current one, so that the lesson's nodes are those in the docks.
  bool isInView() const;
  /// The tabs of the next lesson are its own.
  void forgetTabs();
  /// Asks the learner where the open lesson runs, and shows its step again with the answer.
  void chooseServer();
  /// The learner's own choice for the query is undone, so that there is nothing to ask.
  void forgetWantedServer() { m_wantedServer.clear(); }

  document::RunSettings machine() const override;
  void showQuery(const QString& query, const document::Document& document, const QString& change) override;
  void showLayout(const QString& layout) override;
  void showDock(const QString& id) override;
  void select(const Selection& selection) override;
  Selection selection() const override;
  void zoom(const QString& how) override;
  void showRun(RunId run, std::size_t position) override;
  void compare(RunId one, RunId other) override;
  void compareLast() override;
  void showExperiment(const QString& name) override;
  /// Where the learner set the query to a server, this asks whether the lesson may run there.
  QString startRun() override;
  QString startFidelity(RunId run) override;
  void emptyCache() override;
  EngineMark engineMark() const override;
  bool isBusy() const override;
  std::shared_ptr<const TraceStore> traceOf(RunId run) const override;

 private:
  /// Gives the open lesson the server that the learner chooses. Returns false where they cancel.
  bool askForServer(const std::string& wanted);

  QMainWindow& m_window;
  Workspace& m_workspace;
  DockHost& m_docks;
  Canvas& m_canvas;
  StatusLine& m_status;
  LessonController& m_lessons;
  std::string m_wantedServer;  ///< that the learner set the lesson's query to, and was not asked about yet
  std::map<QString, std::uint32_t> m_tabs;  ///< by query
  std::uint32_t m_tab = 0;
  std::uint64_t m_emptied = 0;
};

}  // namespace spanscope::ui
