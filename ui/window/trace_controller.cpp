// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/trace_controller.h"

#include "ui/window/status_line.h"
#include "ui/window/workspace.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QToolButton>

namespace spanscope::ui {
namespace {

constexpr const char* kKeepRuns = "runs/keep";
constexpr const char* kRunFolder = "/runs";  ///< subfolder of the folder for unsaved work

}  // namespace

TraceController::TraceController(const WindowParts& parts) : m_parts(parts), m_traceState(new QToolButton) {
  m_traceState->setObjectName(QStringLiteral("traceState"));
  m_traceState->setAutoRaise(true);
  m_traceState->setFocusPolicy(Qt::TabFocus);
  m_traceState->hide();
  connect(m_traceState, &QToolButton::clicked, this, &TraceController::endTrace);
  connect(&m_parts.workspace.engine(), &EngineHost::recordingFailed, this, [this] {
    const QString name = QFileInfo(m_parts.workspace.engine().recording().path()).fileName();
    auto* box =
        new QMessageBox(QMessageBox::Warning, tr("Record"), tr("The recording %1 has ended.").arg(name),
                        QMessageBox::Ok, &m_parts.window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(m_parts.workspace.engine().finishRecording());
    box->open();
  });
  connect(&m_parts.workspace.engine(), &EngineHost::recordingChanged, this, [this] {
    showState();
    Q_EMIT commandsChanged();
  });
  // Each session and each run on a server has its own file.
  connect(&m_parts.workspace.engine(), &EngineHost::sessionStarted, this, &TraceController::showState);
  connect(&m_parts.workspace.engine(), &EngineHost::stateChanged, this, &TraceController::showState);
  m_parts.status.insertPermanentWidget(1, m_traceState);
}

void TraceController::addCommands(CommandHandlers& rows) {
  rows.add(
      "run.record", [] { return true; }, [this] { toggleRecording(); },
      [this] {
        return m_parts.workspace.engine().recording().isOn() ? tr("Stop recording") : tr("Record events…");
      });
  rows.add("run.save-trace", [this] { saveTrace(); });
  rows.add(
      "run.keep", [] { return true; }, [this] { toggleKeeping(); },
      [this] {
        return m_parts.workspace.traces().keepsRuns() ? tr("Forget runs when quitting")
                                                      : tr("Keep runs after quitting");
      });
}

void TraceController::restore() {
  if (m_parts.settings.value(QString::fromLatin1(kKeepRuns)).toBool())
    m_parts.workspace.traces().keepRuns(m_parts.autosaveDirectory + QLatin1String(kRunFolder));
}

void TraceController::saveTrace() {
  if (m_parts.workspace.runToSave() == 0 && m_parts.workspace.current()->source->takesRuns()) {
    m_parts.status.say(tr("This query has no run to save. Run the query first."));
    return;
  }
  const QString path =
      chosenSavePath(&m_parts.window, tr("Save run"), m_parts.lastFolder, tr("Recorded runs (*.trace)"));
  if (path.isEmpty()) return;
  const QString problem = m_parts.workspace.saveTrace(path);
  m_parts.status.say(problem.isEmpty() ? tr("Saved %1").arg(QFileInfo(path).fileName()) : problem);
}

void TraceController::toggleRecording() {
  if (m_parts.workspace.engine().recording().isOn()) return endTrace();
  const QString path =
      chosenSavePath(&m_parts.window, tr("Record"), m_parts.lastFolder, tr("Recorded runs (*.trace)"));
  if (!path.isEmpty()) recordTo(path);
}

bool TraceController::recordTo(const QString& path) {
  EngineHost& engine = m_parts.workspace.engine();
  const QString problem = engine.startRecording(path, m_parts.autosaveDirectory);
  const QString name = QFileInfo(path).fileName();
  if (!problem.isEmpty())
    m_parts.status.complain(problem);
  else if (engine.recording().sessions() == 0)
    m_parts.status.say(tr("All runs are now recorded to %1.").arg(name));
  else
    m_parts.status.say(tr("All events are now recorded to %1.").arg(name));
  return problem.isEmpty();
}

void TraceController::endTrace() {
  EngineHost& engine = m_parts.workspace.engine();
  const QString name = QFileInfo(engine.recording().path()).fileName();
  const std::size_t files = engine.recording().sessions();
  const QString problem = engine.finishRecording();
  if (!problem.isEmpty())
    m_parts.status.complain(problem);
  else if (files == 0)
    m_parts.status.say(tr("Nothing was recorded, because there was no run."));
  else if (files == 1)
    m_parts.status.say(tr("Recorded %1").arg(name));
  else
    m_parts.status.say(
        tr("Recorded %1 files, one per model or server: %2 and files with numbers in their names")
            .arg(files)
            .arg(name));
}

void TraceController::showState() {
  const SessionRecording& recording = m_parts.workspace.engine().recording();
  const bool isOn = recording.isOn();
  m_traceState->setVisible(isOn);
  if (!isOn) return;
  const QStringList files = recording.files();
  const QString name = files.isEmpty() ? QString() : QFileInfo(files.back()).fileName();
  const QString text = files.isEmpty()     ? tr("● Recording starts with the next run")
                       : files.size() == 1 ? tr("● Recording %1").arg(name)
                                           : tr("● Recording %1 and %2 more").arg(name).arg(files.size() - 1);
  QStringList shown;
  for (const QString& file : files) shown += QDir::toNativeSeparators(file);
  m_traceState->setText(text);
  m_traceState->setAccessibleName(text);
  m_traceState->setToolTip(
      shown.isEmpty()
          ? tr("The next run is recorded to a file next to %1. Click to stop the recording.")
                .arg(QDir::toNativeSeparators(recording.path()))
          : tr("Events are recorded to %1. Click to stop the recording.").arg(shown.join(tr(", "))));
}

void TraceController::toggleKeeping() {
  const bool keeps = !m_parts.workspace.traces().keepsRuns();
  if (keeps) {
    m_parts.workspace.traces().keepRuns(m_parts.autosaveDirectory + QLatin1String(kRunFolder));
    m_parts.status.say(tr("Runs are kept from now on: at most %1 MiB, oldest deleted first.")
                           .arg(RunArchive::kMostBytes >> 20));
  } else {
    m_parts.workspace.traces().forgetKeptRuns();
    m_parts.status.say(tr("Runs are no longer kept. Kept runs are deleted."));
  }
  m_parts.settings.setValue(QString::fromLatin1(kKeepRuns), keeps);
}

void TraceController::keepCutRecordings() {
  QStringList kept;
  for (const CutRecording& cut : findCutRecordings(m_parts.autosaveDirectory)) {
    const QString path = keepCutRecording(cut);
    if (!path.isEmpty()) kept.push_back(path);
  }
  if (kept.isEmpty()) return;
  QMessageBox box(
      QMessageBox::Information, tr("Recover"),
      kept.size() == 1
          ? tr("Spanscope ended during a recording. A file has the recorded events.")
          : tr("Spanscope ended during recordings. %1 files have the recorded events.").arg(kept.size()),
      QMessageBox::Close, &m_parts.window);
  QStringList shown;
  for (const QString& path : kept) shown.push_back(QDir::toNativeSeparators(path));
  box.setInformativeText(shown.join(QLatin1Char('\n')));
  const QPushButton* open = box.addButton(tr("Open recorded runs"), QMessageBox::AcceptRole);
  box.exec();
  if (box.clickedButton() == open) Q_EMIT openWanted(kept);
}

}  // namespace spanscope::ui
