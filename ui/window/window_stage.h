// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/lessons/lesson_actions.h"
#include "ui/views/view.h"
#include "ui/window/window_parts.h"

#include <QByteArray>
#include <QObject>

#include <map>
#include <optional>
#include <string>

namespace spanscope::ui {

class LessonController;

/// Performs the actions of lessons on the window.
class WindowStage : public QObject, public LessonStage {
  Q_OBJECT
 public:
  /// The parts and the lessons must outlive the stage.
  WindowStage(const WindowParts& parts, LessonController& lessons);

  /// The tab whose jobs the lesson waits for; 0: no tab.
  std::uint32_t tab() const { return m_tab; }
  /// Whether that tab is the current tab. Then the docks show the lesson's nodes.
  bool isInView() const;
  /// The arrangements of docks that the learner chose; nothing: no lesson is open.
  std::optional<std::map<QString, QByteArray>> layoutsBefore() const;
  /// Asks the learner where the open lesson runs, and then shows its step again.
  void chooseServer();
  /// Forgets the server that the learner has set for the query, so that startRun() does not ask.
  void forgetWantedServer() { m_wantedServer.clear(); }

  void begin() override;
  void end() override;
  std::size_t hiddenTabs() const override;
  void hidePrediction(bool hides) override;
  document::RunSettings machine() const override;
  void showQuery(const QString& query, const document::Document& document, const QString& change) override;
  void showLayout(const QString& layout, std::uint32_t actions) override;
  void showDock(const QString& id) override;
  void select(const Selection& selection) override;
  Selection selection() const override;
  void zoom(const QString& how) override;
  void showRun(RunId run, std::size_t position) override;
  void compare(RunId one, RunId other) override;
  void compareLast() override;
  void showExperiment(const QString& name) override;
  /// If the learner has set the query to a server, asks whether the lesson may run there.
  QString startRun() override;
  QString startFidelity(RunId run) override;
  bool startRotation() override;
  void emptyCache() override;
  EngineMark engineMark() const override;
  bool isBusy() const override;
  const document::Document* shownDocument() const override;
  std::shared_ptr<const TraceStore> traceOf(RunId run) const override;

 private:
  /// The window before the lesson.
  struct Before {
    std::map<QString, QByteArray> layouts;
    LayoutId layout = LayoutId::Author;
    bool isWelcome = false;
    document::RunSettings machine;
  };
  /// Brings back the documents that were set aside, and closes those of the lesson.
  void endLesson();
  void showOnlyDifferences(bool isOnly);
  /// Asks the learner for the server of the open lesson, and sets this server. Returns false if the learner
  /// cancels.
  bool askForServer(const std::string& wanted);

  QMainWindow& m_window;
  Workspace& m_workspace;
  DockHost& m_docks;
  Canvas& m_canvas;
  PageArea& m_pages;
  StatusLine& m_status;
  LessonController& m_lessons;
  /// The server that the learner has set for the query; the next startRun() asks about this server.
  std::string m_wantedServer;
  std::map<QString, std::uint32_t> m_tabs;  ///< the tab of each query
  std::uint32_t m_tab = 0;
  std::optional<Before> m_before;  ///< nothing: no lesson is open
  std::uint64_t m_emptied = 0;
  std::uint32_t m_layoutActions = 0;  ///< of the last showLayout()
};

}  // namespace spanscope::ui
