// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_recording.h"

#include "engine/workbench/document/document_text.h"
#include "engine/workbench/resource_paths.h"
#include "ui/commands/command_table.h"
#include "ui/document/document_file.h"
#include "ui/lessons/lesson_course.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/lessons/lesson_recorder_panel.h"
#include "ui/lessons/recording_file.h"
#include "ui/window/dock_host.h"
#include "ui/window/status_line.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLocale>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kPanelWidth = 340;  // pixels
constexpr int kKeepTime = 2000;   // milliseconds between a change and writing the side file

/// The name of a model in a lesson of this folder: "bundled", a path in the folder, or "any" for the
/// learner's model.
std::string modelInFolder(const std::string& model, const QString& folder) {
  if (model.empty()) return "bundled";
  std::error_code error;
  const std::filesystem::path place = std::filesystem::canonical(model, error);
  if (error) return "any";
  if (place == std::filesystem::canonical(workbench::bundledModelDirectory(), error)) return "bundled";
  const std::filesystem::path inside =
      place.lexically_relative(std::filesystem::canonical(folder.toStdString(), error));
  const bool isInside = !error && !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
  return isInside ? inside.generic_string() : "any";
}

}  // namespace

LessonRecording::LessonRecording(const WindowParts& parts)
    : m_window(parts.window),
      m_workspace(parts.workspace),
      m_docks(parts.docks),
      m_places(parts.places),
      m_pages(parts.pages),
      m_status(parts.status),
      m_lastFolder(parts.lastFolder),
      m_autosaveDirectory(parts.autosaveDirectory) {
  connect(&m_workspace, &Workspace::inputChanged, this, &LessonRecording::see);
  connect(&m_docks, &DockHost::layoutChanged, this, &LessonRecording::see);
}

LessonRecording::~LessonRecording() {
  // The panel uses the recorder, so it is deleted first.
  delete m_recorderPanel;
}

SeenNow LessonRecording::seenNow() {
  SeenNow now;
  now.layout = layoutName(m_docks.layout()).toStdString();
  const OpenDocument* current = m_workspace.current();
  if (current == nullptr || !current->source->takesRuns()) return now;
  const ViewInput& input = m_workspace.input();
  now.tab = current->id;
  now.title = current->model->title();
  now.document = current->model->snapshot();
  now.selection = current->selection;
  now.run = m_workspace.shownRun();
  now.trace = input.trace;
  now.position = input.position;
  now.isAtEnd = current->following;
  now.isBusy = m_workspace.engine().isBusy(current->id);
  now.beside = m_workspace.documentPath().value_or(QString());
  return now;
}

void LessonRecording::see() {
  if (m_recorder != nullptr) m_recorder->see(seenNow());
}

void LessonRecording::noteCommand(const QString& command) {
  if (m_recorder == nullptr) return;
  static const std::map<QString, const char*> zooms{{QStringLiteral("view.zoom-in"), "in"},
                                                    {QStringLiteral("view.zoom-out"), "out"},
                                                    {QStringLiteral("view.zoom-reset"), "reset"},
                                                    {QStringLiteral("view.fit-all"), "all"},
                                                    {QStringLiteral("view.fit-selection"), "selection"}};
  const auto zoom = zooms.find(command);
  if (zoom != zooms.end()) m_recorder->noteZoom(QString::fromLatin1(zoom->second));
  if (commandId(command) == QLatin1String("view.dock"))
    m_recorder->noteDock(command.section(QLatin1Char(':'), 1));
}

void LessonRecording::setTheme(const Theme& theme) {
  if (m_recorderPanel != nullptr) m_recorderPanel->setTheme(theme);
}

void LessonRecording::takeFocus() {
  m_recorderPanel->takeFocus();
}

void LessonRecording::showDocuments() {
  m_pages.showDocuments();
  Q_EMIT changed();
}

void LessonRecording::start() {
  if (m_recorder != nullptr) {
    m_recorderPanel->takeFocus();
    return;
  }
  OpenDocument* current = m_workspace.current();
  if (current == nullptr || !current->source->takesRuns() || m_pages.isWelcome()) {
    m_status.say(tr("Open the first query of the lesson first."));
    return;
  }
  if (m_workspace.engine().isBusy()) {
    m_status.say(tr("A query is running. Stop the query first."));
    return;
  }
  Q_EMIT beginning();
  // The tab of an open lesson was closed.
  current = m_workspace.current();
  if (current == nullptr || !current->source->takesRuns()) {
    m_status.say(tr("Open the first query of the lesson first."));
    return;
  }
  // A lesson starts with an empty cache, so the recording does, too.
  m_workspace.engine().clearCache();
  m_recorder = std::make_unique<LessonRecorder>(seenNow());
  showRecorder();
  // A dock that is in front of others in the same place may be the user's choice.
  for (const Dock* dock : m_docks.docks()) {
    const bool isInFront = dock->isVisible() && !dock->visibleRegion().isEmpty() &&
                           !m_docks.tabifiedDockWidgets(const_cast<Dock*>(dock)).isEmpty();
    if (isInFront) m_recorder->noteDock(dock->id());
  }
  m_status.say(tr("The cache is empty. Your actions are now recorded."));
  Q_EMIT changed();
}

void LessonRecording::showRecorder() {
  m_recorderPanel = new LessonRecorderPanel(*m_recorder);
  m_recorderPanel->setTheme(m_workspace.input().theme);
  connect(m_recorderPanel, &LessonRecorderPanel::saveWanted, this, &LessonRecording::save);
  connect(m_recorderPanel, &LessonRecorderPanel::throwAwayWanted, this, [this] {
    if (mayLose()) end();
  });
  m_recordedFidelity.clear();
  m_lastRecordedRun = newestRun();
  LessonRecorder* recorder = m_recorder.get();
  connect(&m_workspace, &Workspace::jobEnded, recorder, [this](const QString& problem, std::uint32_t tab) {
    if (m_recorder->isPaused())
      recordedRunEnded(problem, tab);
    else if (problem.isEmpty())
      recordJob(tab);
  });
  connect(&m_workspace.engine(), &EngineHost::cacheCleared, recorder,
          [recorder] { recorder->noteEmptied(); });
  connect(&m_docks, &DockHost::tabChosen, recorder,
          [recorder](const QString& id) { recorder->noteDock(id); });
  m_pages.addPanel(*m_recorderPanel);
  const int wide = std::clamp(m_window.width() * 27 / 100, m_recorderPanel->minimumWidth(), kPanelWidth);
  m_pages.giveWidth(*m_recorderPanel, wide);
  m_places.fitLater();
  m_recorderPanel->takeFocus();
  m_recordingFile = std::make_unique<RecordingFile>(m_autosaveDirectory);
  m_keepRecording.setSingleShot(true);
  m_keepRecording.setInterval(kKeepTime);
  disconnect(&m_keepRecording, nullptr, this, nullptr);
  connect(&m_keepRecording, &QTimer::timeout, this, [this] {
    if (!keep())
      m_status.say(
          tr("The recording cannot be saved in %1.").arg(QDir::toNativeSeparators(m_autosaveDirectory)));
  });
  connect(recorder, &LessonRecorder::edited, this, [this] {
    if (!m_keepRecording.isActive()) m_keepRecording.start();
  });
  m_keepRecording.start();
}

bool LessonRecording::keep() {
  if (m_recorder == nullptr || m_recordingFile == nullptr) return false;
  m_keepRecording.stop();
  return m_recordingFile->write(m_recorder->saved());
}

void LessonRecording::offer() {
  if (m_recorder != nullptr) return;
  for (const RecordingFile::Found& found : RecordingFile::found(m_autosaveDirectory)) {
    std::unique_ptr<LessonRecorder> recorder = LessonRecorder::recovered(found.text);
    if (recorder == nullptr) continue;
    QMessageBox box(QMessageBox::Question, tr("Recover"),
                    tr("Spanscope ended during the recording of a lesson. Continue the recording?"),
                    QMessageBox::NoButton, &m_window);
    const QString title = QString::fromStdString(recorder->head().title);
    const QString when = QLocale().toString(found.time, QLocale::ShortFormat);
    box.setInformativeText(
        tr("%1, from %2: %3. The runs are repeated, starting with an empty cache.")
            .arg(title.isEmpty() ? tr("Without a title") : QLatin1Char('"') + title + QLatin1Char('"'), when,
                 recorder->steps() == 1 ? tr("one step") : tr("%1 steps").arg(recorder->steps())));
    QPushButton* goOn =
        box.addButton(tr(/*id:continue-recording*/ "Continue recording"), QMessageBox::AcceptRole);
    const QPushButton* away = box.addButton(tr("Delete recording"), QMessageBox::DestructiveRole);
    QPushButton* later = box.addButton(tr("Ask again later"), QMessageBox::RejectRole);
    box.setDefaultButton(goOn);
    box.setEscapeButton(later);
    box.exec();
    if (box.clickedButton() == away) QFile::remove(found.path);
    if (box.clickedButton() != goOn) continue;
    continueWith(std::move(recorder));
    // The new file has the whole recording.
    if (keep()) QFile::remove(found.path);
    return;
  }
}

void LessonRecording::continueWith(std::unique_ptr<LessonRecorder> recorder) {
  Q_EMIT beginning();
  m_recorder = std::move(recorder);
  // The session may have restored the tab.
  OpenDocument* open = nullptr;
  const std::string text = document::writeDocument(m_recorder->document());
  for (const auto& one : m_workspace.documents()) {
    const bool isSame = one->source->takesRuns() && one->model->title() == m_recorder->documentTitle() &&
                        document::writeDocument(one->model->document()) == text;
    if (isSame) open = one.get();
  }
  if (open == nullptr) {
    auto model = std::make_unique<DocumentModel>(m_recorder->document());
    model->setTitle(m_recorder->documentTitle());
    open = &m_workspace.open(std::move(model));
    open->beside = m_recorder->beside();
    Q_EMIT documentOpened(*open);
  }
  m_workspace.setCurrent(open);
  showDocuments();
  for (const LayoutId id : kLayouts) {
    const bool isSeen = layoutName(id).toStdString() == m_recorder->layout();
    if (isSeen && m_docks.layout() != id) m_docks.setLayout(id);
  }
  m_repeatTab = open->id;
  m_repeated = 0;
  m_workspace.engine().clearCache();
  showRecorder();
  repeatRecorded();
  Q_EMIT changed();
}

void LessonRecording::repeatRecorded() {
  const std::vector<std::size_t> log = m_recorder->cacheLog();
  while (m_repeated < log.size() && log[m_repeated] == LessonRecorder::kEmptied) {
    m_workspace.engine().clearCache();
    ++m_repeated;
  }
  OpenDocument* open = m_workspace.find(m_repeatTab);
  if (open == nullptr) return endRepeating(tr("The tab of the recording was closed."));
  if (m_repeated == log.size()) return endRepeating({});
  m_workspace.setCurrent(open);
  showDocuments();
  open->model->endMerge();
  open->model->change(tr("Recorded run"), [this, run = log[m_repeated]](document::Document& document) {
    document = m_recorder->ran(run);
  });
  m_lastRecordedRun = newestRun();
  m_recorderPanel->showBusy(tr("Repeating run %1 of the recording…").arg(log[m_repeated] + 1));
  if (const QString refused = m_workspace.runs().start(); !refused.isEmpty()) endRepeating(refused);
}

void LessonRecording::recordedRunEnded(const QString& problem, std::uint32_t tab) {
  if (tab != m_repeatTab) return;
  const RunRecord* record = m_workspace.history().find(newestRun());
  const bool isDone = record != nullptr && record->run > m_lastRecordedRun && record->tab == tab &&
                      record->metricValues != nullptr && record->metricValues->runs.contains(record->run) &&
                      record->metricValues->runs.at(record->run).outcome == trace::RunOutcome::Finished;
  if (!problem.isEmpty() || !isDone)
    return endRepeating(problem.isEmpty() ? tr("A run was stopped.") : problem);
  m_recorder->noteRepeated(m_recorder->cacheLog()[m_repeated], record->run, record->trace);
  ++m_repeated;
  repeatRecorded();
}

void LessonRecording::endRepeating(const QString& problem) {
  m_recorderPanel->showBusy({});
  if (OpenDocument* open = m_workspace.find(m_repeatTab)) {
    m_workspace.setCurrent(open);
    showDocuments();
    open->model->change(tr("Recorded run"),
                        [this](document::Document& document) { document = m_recorder->document(); });
  }
  m_lastRecordedRun = newestRun();
  m_recorder->resume(seenNow());
  if (!problem.isEmpty())
    m_recorder->noteUnsaid(
        tr("Not all runs of the recording could be repeated: %1 Your texts are here and can be saved.")
            .arg(problem));
}

RunId LessonRecording::newestRun() const {
  const auto& records = *m_workspace.history().records();
  return records.empty() ? 0 : records.back()->run;
}

void LessonRecording::recordJob(std::uint32_t tab) {
  const OpenDocument* current = m_workspace.current();
  if (current == nullptr || current->id != tab) {
    m_recorder->noteUnsaid(tr("The action in another tab was not recorded."));
    m_lastRecordedRun = newestRun();
    return;
  }
  m_recorder->see(seenNow());
  const RunRecord* record = m_workspace.history().find(newestRun());
  if (record != nullptr && record->run > m_lastRecordedRun && record->tab == tab) {
    m_lastRecordedRun = record->run;
    const bool isWhole = !std::exchange(m_ranPart, false);
    const bool isDone = record->metricValues != nullptr && record->metricValues->runs.contains(record->run) &&
                        record->metricValues->runs.at(record->run).outcome == trace::RunOutcome::Finished;
    if (!isWhole)
      m_recorder->noteUnsaid(tr("A lesson runs whole queries. The run of a branch was not recorded."));
    else if (!isDone)
      m_recorder->noteUnsaid(tr("The stopped run was not recorded."));
    else
      m_recorder->noteRun(record->run);
    return;
  }
  for (const auto& one : *m_workspace.history().records()) {
    if (one->tab == tab && !one->fidelity.empty() && m_recordedFidelity.insert(one->run).second)
      m_recorder->noteFidelity(one->run);
  }
}

bool LessonRecording::mayEnd() {
  return m_recorder == nullptr || keep() || mayLose();
}

bool LessonRecording::mayLose() {
  if (m_recorder == nullptr) return true;
  QMessageBox box(QMessageBox::Question, tr("Recording a lesson"), tr("Discard the recording?"),
                  QMessageBox::Cancel, &m_window);
  box.setInformativeText(tr("Your actions and texts are not saved."));
  const QPushButton* away =
      box.addButton(tr(/*id:confirm-discard-recording*/ "Discard recording"), QMessageBox::DestructiveRole);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  return box.clickedButton() == away;
}

void LessonRecording::end() {
  if (m_recorder == nullptr) return;
  // A signal of the panel may call this function, so the panel is deleted later.
  m_recorderPanel->hide();
  m_recorderPanel->setParent(nullptr);
  m_recorderPanel->deleteLater();
  m_recorderPanel = nullptr;
  m_keepRecording.stop();
  m_recordingFile->discard();
  m_recordingFile.reset();
  m_recorder.reset();
  m_places.fitLater();
  Q_EMIT changed();
}

void LessonRecording::save() {
  QString path = chosenSavePath(&m_window, tr("Save the lesson"), m_lastFolder + QStringLiteral("/lesson.md"),
                                tr("Lessons (*.md)"));
  if (path.isEmpty()) return;
  m_lastFolder = QFileInfo(path).absolutePath();
  saveAs(path);
}

bool LessonRecording::saveAs(const QString& path) {
  const QFileInfo file(path);
  const std::string model = modelInFolder(m_recorder->model(), file.absolutePath());
  // Queries are saved next to the lesson, with its name as prefix, so that no other file is overwritten.
  const QString prefix = LessonRecorder::fileStem(file.completeBaseName()) + QLatin1Char('-');
  const std::string text = m_recorder->text(model, prefix);
  for (const RecordedQuery& query : m_recorder->queries()) {
    const QString name = file.absolutePath() + QLatin1Char('/') + prefix + QString::fromStdString(query.name);
    if (const std::optional<Error> problem = saveDocument(name, query.document)) {
      m_recorderPanel->showProblem(QString::fromStdString(problem->message()));
      return false;
    }
  }
  QSaveFile out(path);
  const QByteArray bytes = QByteArray::fromStdString(text);
  if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit()) {
    m_recorderPanel->showProblem(tr("%1 cannot be written: %2").arg(path, out.errorString()));
    return false;
  }
  QStringList problems;
  const std::shared_ptr<const LessonFile> written = openLesson(path);
  for (const query::Diagnostic& diagnostic : written->diagnostics) {
    if (diagnostic.severity == Severity::Error)
      problems.append(
          tr("Line %1: %2").arg(diagnostic.position.line).arg(QString::fromStdString(diagnostic.message())));
  }
  if (!problems.isEmpty()) {
    // The lesson was saved, but the recording stays open, so that the user can correct it.
    m_recorderPanel->showProblem(tr("The lesson was saved, but the lesson has errors:\n%1")
                                     .arg(problems.mid(0, 4).join(QLatin1Char('\n'))));
    return false;
  }
  end();
  if (model == "any")
    m_status.say(
        tr("Saved. The lesson runs on the learner's model, because your model is not in the folder of the "
           "lesson."));
  Q_EMIT saved(path);
  return true;
}

}  // namespace spanscope::ui
