// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QStringList>

class QToolButton;

namespace spanscope::ui {

/// Writes runs into files: saves a run, records all events into trace files, and keeps runs after the
/// program.
class TraceController : public QObject {
  Q_OBJECT
 public:
  explicit TraceController(const WindowParts& parts);

  /// Adds the commands of trace files.
  void addCommands(CommandHandlers& rows);
  /// Keeps runs from now on if the settings say so.
  void restore();
  /// Records the events of all runs from now on into a trace file. Returns whether it began; where it did
  /// not, the status line says why.
  bool recordTo(const QString& path);
  /// Keeps the recordings of a program that was killed while it recorded, and offers them.
  void keepCutRecordings();

 Q_SIGNALS:
  void commandsChanged();  ///< other commands can be carried out
  void openWanted(const QStringList& paths);

 private:
  void saveTrace();
  void toggleRecording();
  void endTrace();
  void showState();  ///< which files are written now
  void toggleKeeping();

  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  StatusLine& m_status;
  const QString& m_lastFolder;
  const QString& m_autosaveDirectory;
  QToolButton* m_traceState;  ///< in the status line; hidden while nothing is recorded
};

}  // namespace spanscope::ui
