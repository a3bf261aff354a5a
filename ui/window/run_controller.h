// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/jobs/job_call.h"
#include "ui/commands/command_table.h"
#include "ui/window/window_parts.h"

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QString>

#include <cstdint>
#include <functional>
#include <optional>

namespace spanscope::ui {

class GetModelDialog;
class LessonRecording;

/// Starts runs, measurements and experiments, and steps through their events. Shows the dialogs for questions
/// of a query, for chat templates and for servers.
class RunController : public QObject {
  Q_OBJECT
 public:
  RunController(const WindowParts& parts, LessonRecording& recording);
  ~RunController() override;

  /// Adds the commands of runs.
  void addCommands(CommandHandlers& rows);

 Q_SIGNALS:
  void changed();  ///< the state of the window's controls has changed

 private:
  void run(bool selectedOnly);
  /// Runs a benchmark. `request` is a text of benchmarkRequest(). If `request` is empty, shows the page of
  /// benchmarks instead.
  void benchmark(const QString& request);
  /// Shows the page of the probe. `request`: "run" probes the model, "own" also measures the query's
  /// documents.
  void probe(const QString& request);
  /// Shows the page where the user chooses policies. If `request` is "run", compares the chosen policies.
  void comparePolicies(const QString& request);
  /// Starts a measuring job. Calls `call` after the typed text has become part of the document.
  void measure(const std::function<jobs::JobCall()>& call);
  /// Shows the model's chat template and lets the user choose another.
  void chooseTemplate();
  /// Shows the window that downloads models. The document that is current at the start of a download gets the
  /// model.
  void getModel();
  /// Opens the dialog for the servers on which queries can run.
  void openServers();
  /// Shows the page of experiments. If `request` is not empty, runs this experiment.
  void experiment(const QString& request);
  /// Asks the user a question, and offers the last answer to the same question. Returns nothing if
  /// the user declines.
  std::optional<QString> answerTo(const QString& question);
  /// Asks whether texts may be sent to a server. A user who has agreed is not asked again.
  bool consentTo(const QString& endpoint);
  void step(int events);

  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  DockHost& m_docks;
  StatusLine& m_status;
  LessonRecording& m_recording;
  QPointer<GetModelDialog> m_getModel;
  std::uint32_t m_getModelTab = 0;    ///< the tab that gets the model; 0: none
  QHash<QString, QString> m_answers;  ///< last answers to the questions of queries
};

}  // namespace spanscope::ui
