// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/jobs/log_quality.h"
#include "ui/commands/command_table.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QStringList>

namespace spanscope::ui {

class DocumentController;

/// Opens logs of requests in the Diagnose layout, and their requests as documents.
class LogController : public QObject {
  Q_OBJECT
 public:
  /// `documents` must outlive this object.
  LogController(const WindowParts& parts, DocumentController& documents);

  /// Adds the commands of logs.
  void addCommands(CommandHandlers& rows);
  /// Diagnoses these files as one log.
  void open(const QStringList& paths);

 Q_SIGNALS:
  void commandsChanged();  ///< the available commands have changed

 private:
  void openDialog();
  /// Starts the measurement of a sample of the log.
  void measureQuality(const jobs::LogQualityRequest& request);
  /// `asSpans`: with spans for the parts that the user chooses.
  void openRequest(const QString& number, bool asSpans);

  const WindowParts m_parts;
  DocumentController& m_documents;
};

}  // namespace spanscope::ui
