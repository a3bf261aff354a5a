// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_stage.h"

#include "engine/experiment/experiment.h"
#include "engine/lesson/desk.h"
#include "engine/workbench/document/edits.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/session/experiment_run.h"
#include "ui/session/fidelity_request.h"
#include "ui/views/compare/compare_view.h"
#include "ui/window/engine_jobs.h"
#include "ui/window/lesson_server_dialog.h"
#include "ui/window/main_window.h"

#include <QFileInfo>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

namespace spanscope::ui {
namespace {

/// The server to which a document sends a text; empty: none.
std::string serverOf(const document::Document& document) {
  return document.settings.runsOnServer() ? document.settings.server : lesson::firstServerOf(document);
}

}  // namespace

WindowStage::WindowStage(MainWindow& window) : QObject(&window), m_window(window) {
  connect(&window.workspace().engine(), &EngineHost::cacheCleared, this, [this] { ++m_emptied; });
}

void WindowStage::forgetTabs() {
  m_tabs.clear();
  m_tab = 0;
  m_wantedServer.clear();
}

document::RunSettings WindowStage::machine() const {
  const OpenDocument* current = m_window.workspace().current();
  document::RunSettings settings;
  if (current != nullptr && current->source->takesRuns())
    settings = current->model->document().settings;
  else
    m_window.workspace().useModelInUse(settings);
  return settings;
}

bool WindowStage::isInView() const {
  const OpenDocument* current = m_window.workspace().current();
  return m_tab != 0 && current != nullptr && current->id == m_tab;
}

void WindowStage::showQuery(const QString& query, const document::Document& document, const QString& change) {
  Workspace& workspace = m_window.workspace();
  const auto known = m_tabs.find(query);
  OpenDocument* open = known == m_tabs.end() ? nullptr : workspace.find(known->second);
  if (open == nullptr) {
    open = &m_window.openLessonQuery(QFileInfo(query.section(QLatin1Char(':'), -1)).completeBaseName(),
                                     document);
    if (const LessonCourse* course = m_window.lessonReader().course()) {
      // A query of the lesson reads files of the lesson's folder, and no others.
      const std::string name = query.section(QLatin1Char(':'), -1).toStdString();
      const std::filesystem::path folder = course->file().folder.folderOf(query.toStdString());
      open->beside =
          QFileInfo(QString::fromStdString((folder / std::filesystem::path(name).filename()).string()))
              .absoluteFilePath();
    }
    m_tabs[query] = open->id;
  }
  m_tab = open->id;
  workspace.setCurrent(open);
  m_window.showDocuments();
  open->model->endMerge();
  if (const std::string server = serverOf(open->model->document()); server != serverOf(document))
    m_wantedServer = server;
  open->model->change(change, [&document](document::Document& own) { own = document; });
  // What the lesson did is no work of the learner's that would have to be saved.
  open->model->markSaved();
}

void WindowStage::showLayout(const QString& layout) {
  m_window.docks().restore();
  for (const LayoutId id : {LayoutId::Author, LayoutId::Explain, LayoutId::Measure}) {
    if (layoutName(id) == layout && m_window.docks().layout() != id) m_window.docks().setLayout(id);
  }
}

void WindowStage::showDock(const QString& id) {
  m_window.docks().bring(id);
}

void WindowStage::select(const Selection& selection) {
  // The learner may have gone to a tab of their own.
  if (OpenDocument* own = m_window.workspace().find(m_tab); own != nullptr && !isInView()) {
    m_window.workspace().setCurrent(own);
    m_window.showDocuments();
  }
  m_window.workspace().select(selection);
  if (selection.block) m_window.docks().offer(QStringLiteral("why"));
  if (selection.currentNode() != document::kNoNode) m_window.canvas().reveal(selection.currentNode());
}

Selection WindowStage::selection() const {
  const OpenDocument* current = m_window.workspace().current();
  return current == nullptr ? Selection() : current->selection;
}

void WindowStage::zoom(const QString& how) {
  static const std::map<QString, const char*> commands{{QStringLiteral("in"), "view.zoom-in"},
                                                       {QStringLiteral("out"), "view.zoom-out"},
                                                       {QStringLiteral("reset"), "view.zoom-reset"},
                                                       {QStringLiteral("selection"), "view.fit-selection"}};
  const auto found = commands.find(how);
  if (found == commands.end())
    m_window.canvas().fit();
  else
    m_window.canvas().perform(QString::fromLatin1(found->second));
}

void WindowStage::showRun(RunId run, std::size_t position) {
  Workspace& workspace = m_window.workspace();
  if (const std::shared_ptr<const TraceStore> trace = traceOf(run)) {
    workspace.showRun(run);
    if (position != trace->endOf(run)) workspace.setPosition(position);
  }
}

void WindowStage::compare(RunId one, RunId other) {
  m_window.docks().bring(QStringLiteral("compare"));
  Dock* dock = m_window.docks().dock(QStringLiteral("compare"));
  if (auto* view = dock == nullptr ? nullptr : qobject_cast<CompareView*>(dock->openView()))
    view->setRuns(one, other);
}

void WindowStage::compareLast() {
  const Dock* dock = m_window.docks().dock(QStringLiteral("compare"));
  if (auto* view = dock == nullptr ? nullptr : qobject_cast<CompareView*>(dock->view())) view->setRuns(0, 0);
}

void WindowStage::showExperiment(const QString& name) {
  m_window.showExperiment(name);
}

QString WindowStage::startRun() {
  Workspace& workspace = m_window.workspace();
  if (workspace.current() == nullptr) return tr("No query is open.");
  workspace.model()->endMerge();
  // The learner may have set this query to a server, but the lesson starts the run.
  const LessonCourse* course = m_window.lessonReader().course();
  const auto allowed = [&] { return course == nullptr ? std::string() : course->server(); };
  std::string wanted = std::exchange(m_wantedServer, {});
  if (wanted.empty()) wanted = serverOf(workspace.model()->document());
  if (!wanted.empty() && wanted != allowed()) {
    if (course == nullptr || !askForServer(wanted)) {
      return tr("The query is set to run on the server “%1”. A lesson runs there only if you choose it for "
                "the lesson.")
          .arg(QString::fromStdString(wanted));
    }
    workspace.model()->change(tr("Lesson"), [&](document::Document& own) {
      own.settings.server = allowed();
      for (const auto& [path, id] : document::pathsInTree(own, own.root())) {
        if (id != document::kNoNode && !own.at(id).server.empty()) document::setServer(own, id, {});
      }
    });
    workspace.model()->markSaved();
  }
  return workspace.run();
}

void WindowStage::chooseServer() {
  LessonCourse* course = m_window.lessonReader().course();
  if (course == nullptr || course->isBusy() || !askForServer(course->server())) return;
  course->comeBack();
  forgetWantedServer();
}

bool WindowStage::askForServer(const std::string& wanted) {
  Workspace& workspace = m_window.workspace();
  LessonServerDialog dialog(workspace.servers().list(), wanted, workspace.input().theme, &m_window);
  if (dialog.exec() != QDialog::Accepted) return false;
  // The lesson may have ended meanwhile.
  LessonCourse* course = m_window.lessonReader().course();
  if (course == nullptr) return false;
  course->setServer(dialog.server());
  return true;
}

QString WindowStage::startFidelity(RunId run) {
  Workspace& workspace = m_window.workspace();
  workspace.showRun(run);
  return ui::startFidelity(workspace, measurableRequests(workspace.input(), run));
}

void WindowStage::emptyCache() {
  m_window.workspace().engine().clearCache();
}

EngineMark WindowStage::engineMark() const {
  const auto& records = *m_window.workspace().history().records();
  return {.newest = records.empty() ? 0 : records.back()->run, .emptied = m_emptied};
}

bool WindowStage::isBusy() const {
  return m_tab != 0 && m_window.workspace().engine().isBusy(m_tab);
}

std::shared_ptr<const TraceStore> WindowStage::traceOf(RunId run) const {
  const RunRecord* record = m_window.workspace().history().find(run);
  return record == nullptr ? nullptr : record->trace;
}

}  // namespace spanscope::ui
