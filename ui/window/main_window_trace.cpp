// SPDX-License-Identifier: GPL-3.0-or-later
// What of the window has to do with trace files: saving a run, recording, and what a killed program recorded.
#include "ui/window/main_window.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QStatusBar>
#include <QToolButton>

namespace spanscope::ui {

void MainWindow::saveTrace() {
  if (m_workspace.runToSave() == 0 && m_workspace.current()->source->takesRuns()) {
    say(tr("This document has no run to save: run it first."));
    return;
  }
  const QString path = chosenSavePath(this, tr("Save run"), m_lastFolder, tr("Recorded runs (*.trace)"));
  if (path.isEmpty()) return;
  const QString problem = m_workspace.saveTrace(path);
  say(problem.isEmpty() ? tr("Saved %1").arg(QFileInfo(path).fileName()) : problem);
}

void MainWindow::toggleRecording() {
  if (m_workspace.engine().recording().isOn()) return endTrace();
  const QString path = chosenSavePath(this, tr("Record"), m_lastFolder, tr("Recorded runs (*.trace)"));
  if (!path.isEmpty()) recordTo(path);
}

bool MainWindow::recordTo(const QString& path) {
  EngineHost& engine = m_workspace.engine();
  const QString problem = engine.startRecording(path, m_autosaveDirectory);
  const QString name = QFileInfo(path).fileName();
  if (!problem.isEmpty())
    complain(problem);
  else if (engine.recording().sessions() == 0)
    say(tr("%1 will hold what runs from now on.").arg(name));
  else
    say(tr("%1 holds what happens from now on.").arg(name));
  return problem.isEmpty();
}

void MainWindow::endTrace() {
  EngineHost& engine = m_workspace.engine();
  const QString name = QFileInfo(engine.recording().path()).fileName();
  const std::size_t files = engine.recording().sessions();
  const QString problem = engine.finishRecording();
  if (!problem.isEmpty())
    complain(problem);
  else if (files == 0)
    say(tr("Nothing ran, so nothing was recorded."));
  else if (files == 1)
    say(tr("Recorded %1").arg(name));
  else
    say(tr("Recorded %1 files, one for each model or server: %2 and those with numbers")
            .arg(files)
            .arg(name));
}

void MainWindow::makeTraceState() {
  m_traceState = new QToolButton;
  m_traceState->setObjectName(QStringLiteral("traceState"));
  m_traceState->setAutoRaise(true);
  m_traceState->setFocusPolicy(Qt::TabFocus);
  m_traceState->hide();
  connect(m_traceState, &QToolButton::clicked, this, &MainWindow::endTrace);
  connect(&m_workspace.engine(), &EngineHost::recordingFailed, this, [this] {
    const QString name = QFileInfo(m_workspace.engine().recording().path()).fileName();
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Record"),
                                tr("The recording %1 has ended.").arg(name), QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(m_workspace.engine().finishRecording());
    box->open();
  });
  connect(&m_workspace.engine(), &EngineHost::recordingChanged, this, [this] {
    const QString path = m_workspace.engine().recording().path();
    const QString text = path.isEmpty() ? QString() : tr("● Recording %1").arg(QFileInfo(path).fileName());
    m_traceState->setText(text);
    m_traceState->setAccessibleName(text);
    m_traceState->setToolTip(
        tr("All events go into %1. Select this to stop recording.").arg(QDir::toNativeSeparators(path)));
    m_traceState->setVisible(!text.isEmpty());
    refreshCommands();
  });
  statusBar()->insertPermanentWidget(1, m_traceState);
}

void MainWindow::keepCutRecordings() {
  QStringList kept;
  for (const CutRecording& cut : findCutRecordings(m_autosaveDirectory)) {
    const QString path = keepCutRecording(cut);
    if (!path.isEmpty()) kept.push_back(path);
  }
  if (kept.isEmpty()) return;
  QMessageBox box(
      QMessageBox::Information, tr("Recover"),
      kept.size() == 1
          ? tr("A recording was going on when Spanscope ended. Its events are kept in a file.")
          : tr("Recordings were going on when Spanscope ended. Their events are kept in %1 files.")
                .arg(kept.size()),
      QMessageBox::Close, this);
  QStringList shown;
  for (const QString& path : kept) shown.push_back(QDir::toNativeSeparators(path));
  box.setInformativeText(shown.join(QLatin1Char('\n')));
  const QPushButton* open = box.addButton(tr("Open"), QMessageBox::AcceptRole);
  box.exec();
  if (box.clickedButton() == open) openFiles(kept);
}

}  // namespace spanscope::ui
