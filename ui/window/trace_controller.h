// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_table.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QStringList>

class QToolButton;

namespace spanscope::ui {

/// Writes runs to files: saves a run, records all events to trace files, and keeps runs for the next start.
class TraceController : public QObject {
  Q_OBJECT
 public:
  explicit TraceController(const WindowParts& parts);

  /// Adds the commands of trace files.
  void addCommands(CommandHandlers& rows);
  /// Keeps runs from now on if the settings require this.
  void restore();
  /// Records the events of all runs from now on to a trace file. Returns whether the recording has started.
  /// If not, the status line shows the reason.
  bool recordTo(const QString& path);
  /// Finds the recordings of programs that were killed while recording, and offers to open them.
  void keepCutRecordings();

 Q_SIGNALS:
  void commandsChanged();  ///< the available commands have changed
  void openWanted(const QStringList& paths);

 private:
  void saveTrace();
  void toggleRecording();
  void endTrace();
  void showState();  ///< shows the files of the recording
  void toggleKeeping();

  const WindowParts m_parts;
  QToolButton* m_traceState;  ///< in the status line; hidden while nothing is recorded
};

}  // namespace spanscope::ui
