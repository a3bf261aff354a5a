// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_stage.h"

#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/jobs/fidelity.h"
#include "engine/lesson/lesson_state.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/edits.h"
#include "ui/document/problems.h"
#include "ui/editor/canvas.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/session/answer_jobs.h"
#include "ui/views/rotation/rotation_model.h"
#include "ui/window/dialogs.h"
#include "ui/window/dock_host.h"
#include "ui/window/engine_jobs.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"

#include <QFileInfo>
#include <QMainWindow>

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

WindowStage::WindowStage(const WindowParts& parts, LessonController& lessons)
    : QObject(&parts.window),
      m_window(parts.window),
      m_workspace(parts.workspace),
      m_docks(parts.docks),
      m_canvas(parts.canvas),
      m_pages(parts.pages),
      m_status(parts.status),
      m_lessons(lessons) {
  connect(&m_workspace.engine(), &EngineHost::cacheCleared, this, [this] { ++m_emptied; });
}

std::optional<std::map<QString, QByteArray>> WindowStage::layoutsBefore() const {
  return m_before ? std::optional(m_before->layouts) : std::nullopt;
}

void WindowStage::begin() {
  if (m_before)
    endLesson();
  else
    m_before = Before{.layouts = m_docks.layoutStates(),
                      .layout = m_docks.layout(),
                      .isWelcome = m_pages.isWelcome(),
                      .machine = machine()};
  m_workspace.setAside();
  // Docks that the learner or an earlier lesson has opened would take the space of this lesson's docks.
  m_docks.restore();
  m_docks.setLayoutStates({}, m_docks.layout());
  m_layoutActions = 0;
}

void WindowStage::end() {
  if (!m_before) return;
  endLesson();
  // The numbers of the lesson's runs are the numbers of other runs now.
  compareLast();
  showOnlyDifferences(false);
  Before before = *std::exchange(m_before, std::nullopt);
  // The lesson moved the docks, not the user.
  m_docks.setLayoutStates(std::move(before.layouts), before.layout);
  if (before.isWelcome || m_workspace.current() == nullptr)
    m_pages.showWelcome();
  else
    m_lessons.showDocuments();
}

std::size_t WindowStage::hiddenTabs() const {
  const OpenDocuments& documents = m_workspace.documents();
  return static_cast<std::size_t>(
      std::ranges::count_if(documents, [](const auto& document) { return document->isSetAside; }));
}

void WindowStage::endLesson() {
  m_workspace.bringBack();
  for (const auto& [query, tab] : std::exchange(m_tabs, {})) {
    // The learner's own changes stay in a tab.
    OpenDocument* const document = m_workspace.find(tab);
    if (document == nullptr) continue;
    setOfLesson(*document->model, false);
    if (!document->model->isModified()) m_lessons.close(*document);
  }
  m_tab = 0;
  m_wantedServer.clear();
}

void WindowStage::hidePrediction(bool hides) {
  m_workspace.hidePrediction(hides);
}

document::RunSettings WindowStage::machine() const {
  if (m_before) return m_before->machine;
  const OpenDocument* current = m_workspace.current();
  document::RunSettings settings;
  if (current != nullptr && current->source->takesRuns())
    settings = current->model->document().settings;
  else
    m_workspace.useModelInUse(settings);
  return settings;
}

bool WindowStage::isInView() const {
  const OpenDocument* current = m_workspace.current();
  return m_tab != 0 && current != nullptr && current->id == m_tab;
}

void WindowStage::showQuery(const QString& query, const document::Document& document, const QString& change) {
  Workspace& workspace = m_workspace;
  const auto known = m_tabs.find(query);
  OpenDocument* open = known == m_tabs.end() ? nullptr : workspace.find(known->second);
  if (open == nullptr) {
    open = &m_lessons.openQuery(QFileInfo(query.section(QLatin1Char(':'), -1)).completeBaseName(), document);
    if (const LessonCourse* course = m_lessons.reader().course()) {
      // A query of the lesson reads files only from the lesson's folder.
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
  m_lessons.showDocuments();
  open->model->endMerge();
  if (const std::string server = serverOf(open->model->document()); server != serverOf(document))
    m_wantedServer = server;
  open->model->change(change, [&document](document::Document& own) { own = document; });
  // Changes by the lesson are not the learner's work, so they do not need saving.
  open->model->markSaved();
}

void WindowStage::showLayout(const QString& layout, std::uint32_t actions) {
  m_docks.restore();
  // An action for the current layout also closes the docks that were opened before.
  const bool isNew = std::exchange(m_layoutActions, actions) != actions;
  for (const LayoutId id : kLayouts) {
    if (layoutName(id) != layout || (m_docks.layout() == id && !isNew)) continue;
    m_docks.setLayout(id);
    m_docks.resetLayout();
  }
}

void WindowStage::showDock(const QString& id) {
  m_docks.bring(id);
}

void WindowStage::select(const Selection& selection) {
  // The learner may have opened another tab.
  if (OpenDocument* own = m_workspace.find(m_tab); own != nullptr && !isInView()) {
    m_workspace.setCurrent(own);
    m_lessons.showDocuments();
  }
  m_workspace.select(selection);
  if (selection.block) m_docks.offer(QStringLiteral("why"));
  if (selection.currentNode() != document::kNoNode) m_canvas.reveal(selection.currentNode());
}

Selection WindowStage::selection() const {
  const OpenDocument* current = m_workspace.current();
  return current == nullptr ? Selection() : current->selection;
}

void WindowStage::zoom(const QString& how) {
  static const std::map<QString, const char*> commands{{QStringLiteral("in"), "view.zoom-in"},
                                                       {QStringLiteral("out"), "view.zoom-out"},
                                                       {QStringLiteral("reset"), "view.zoom-reset"},
                                                       {QStringLiteral("selection"), "view.fit-selection"}};
  const auto found = commands.find(how);
  if (found == commands.end())
    m_canvas.fit();
  else
    m_canvas.perform(QString::fromLatin1(found->second));
}

void WindowStage::showRun(RunId run, std::size_t position) {
  Workspace& workspace = m_workspace;
  if (const std::shared_ptr<const TraceStore> trace = traceOf(run)) {
    workspace.showRun(run);
    if (position != trace->endOf(run)) workspace.setPosition(position);
  }
}

void WindowStage::compare(RunId one, RunId other) {
  Dock* dock = m_docks.dock(QStringLiteral("compare"));
  if (dock == nullptr) return;
  dock->openView()->perform(compareRuns(one, other));
  showOnlyDifferences(true);
}

/// A lesson compares two runs to show what differs.
void WindowStage::showOnlyDifferences(bool isOnly) {
  const Dock* dock = m_docks.dock(QStringLiteral("compare"));
  if (dock == nullptr || dock->view() == nullptr) return;
  dock->view()->perform(isOnly ? QStringLiteral("compare.differences") : QStringLiteral("compare.all"));
}

void WindowStage::compareLast() {
  const Dock* dock = m_docks.dock(QStringLiteral("compare"));
  if (dock != nullptr && dock->view() != nullptr) dock->view()->perform(compareRuns(0, 0));
}

void WindowStage::showExperiment(const QString& name) {
  m_docks.bring(QStringLiteral("experiments"));
  try {
    m_docks.dock(QStringLiteral("experiments"))
        ->openView()
        ->perform(QStringLiteral("run.experiment:") + name);
  } catch (const Failure& failure) {
    m_status.say(QString::fromUtf8(failure.what()));
  }
}

QString WindowStage::startRun() {
  Workspace& workspace = m_workspace;
  if (workspace.current() == nullptr) return tr("No query is open.");
  workspace.model()->endMerge();
  // The learner may have set this query to a server, but the lesson starts the run.
  const LessonCourse* course = m_lessons.reader().course();
  const auto allowed = [&] { return course == nullptr ? std::string() : course->server(); };
  std::string wanted = std::exchange(m_wantedServer, {});
  if (wanted.empty()) wanted = serverOf(workspace.model()->document());
  if (!wanted.empty() && wanted != allowed()) {
    if (course == nullptr || !askForServer(wanted)) {
      return tr("The query is set to run on the server “%1”. A lesson runs there only if you choose the "
                "server for the lesson.")
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
  return workspace.runs().start();
}

void WindowStage::chooseServer() {
  LessonCourse* course = m_lessons.reader().course();
  if (course == nullptr || course->isBusy() || !askForServer(course->server())) return;
  course->comeBack();
  forgetWantedServer();
}

bool WindowStage::askForServer(const std::string& wanted) {
  Workspace& workspace = m_workspace;
  LessonServerDialog dialog(workspace.serverRuns().servers().list(), wanted, workspace.input().theme,
                            &m_window);
  if (dialog.exec() != QDialog::Accepted) return false;
  // The lesson may have ended meanwhile.
  LessonCourse* course = m_lessons.reader().course();
  if (course == nullptr) return false;
  course->setServer(dialog.server());
  return true;
}

QString WindowStage::startFidelity(RunId run) {
  Workspace& workspace = m_workspace;
  workspace.showRun(run);
  return startJob(workspace, jobs::callOf<jobs::FidelityJob>({measurableRequests(workspace.input(), run)}));
}

bool WindowStage::startRotation() {
  const RotationModel model = rotationModel(m_workspace.input(), {});
  const bool isWanted = model.choice.request != 0 && model.reason.isEmpty() && !model.isAhead &&
                        !model.isRunning && !model.isComputed;
  return isWanted && startJob(m_workspace, jobs::callOf<jobs::PairVectorsJob>(model.choice)).isEmpty();
}

void WindowStage::emptyCache() {
  m_workspace.engine().clearCache();
}

EngineMark WindowStage::engineMark() const {
  const auto& records = *m_workspace.history().records();
  return {.newest = records.empty() ? 0 : records.back()->run, .runs = records.size(), .emptied = m_emptied};
}

bool WindowStage::isBusy() const {
  return m_tab != 0 && m_workspace.engine().isBusy(m_tab);
}

const document::Document* WindowStage::shownDocument() const {
  return isInView() ? &m_workspace.current()->model->document() : nullptr;
}

std::shared_ptr<const TraceStore> WindowStage::traceOf(RunId run) const {
  const RunRecord* record = m_workspace.history().find(run);
  return record == nullptr ? nullptr : record->trace;
}

}  // namespace spanscope::ui
