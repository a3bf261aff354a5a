// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/log_controller.h"

#include "engine/base/error.h"
#include "engine/doctor/span_query.h"
#include "ui/window/dock_host.h"
#include "ui/window/document_controller.h"
#include "ui/window/engine_jobs.h"
#include "ui/window/spans_dialog.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMessageBox>
#include <QSettings>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr const char* kSettings = "log/settings";

std::optional<std::size_t> numberOf(const QString& text) {
  bool isNumber = false;
  const qulonglong number = text.toULongLong(&isNumber);
  return isNumber ? std::optional<std::size_t>(number) : std::nullopt;
}

}  // namespace

LogController::LogController(const WindowParts& parts, DocumentController& documents)
    : m_parts(parts), m_documents(documents) {
  connect(&m_documents, &DocumentController::logsWanted, this, &LogController::open);
  connect(&m_parts.workspace.log(), &LogDiagnosis::changed, this, &LogController::commandsChanged);
  connect(&m_parts.workspace.log(), &LogDiagnosis::samplingFailed, this,
          [this](const QString& problem) { m_parts.status.complain(problem); });
  connect(&m_parts.workspace.log(), &LogDiagnosis::sampled, this, &LogController::measureQuality);
  m_parts.workspace.log().setSettings(
      LogSettings::of(m_parts.settings.value(QString::fromLatin1(kSettings)).toString()));
}

void LogController::addCommands(CommandHandlers& rows) {
  rows.add("file.open-log", [this] { openDialog(); });
  rows.add(
      "file.stop-log", [this] { return m_parts.workspace.log().state()->isRunning(); },
      [this] { m_parts.workspace.log().stop(); });
  const auto hasLog = [this] { return !m_parts.workspace.log().state()->report->requests.empty(); };
  rows.addWithArgument("log.choose", hasLog, [this](const QString& number) {
    if (const auto request = numberOf(number)) m_parts.workspace.log().choose(*request);
  });
  rows.addWithArgument("log.document", hasLog, [this](const QString& number) { openRequest(number, false); });
  rows.addWithArgument("log.spans", hasLog, [this](const QString& number) { openRequest(number, true); });
  rows.addWithArgument("log.quality", hasLog, [this](const QString& request) {
    if (request == QLatin1String("stop")) {
      m_parts.workspace.log().stopSampling();
      m_parts.workspace.engine().stopMeasuring(EngineJob::kProgram);
    } else if (const auto most = numberOf(request)) {
      m_parts.status.clearMessage();
      m_parts.workspace.log().sample(std::max<std::size_t>(1, *most));
    }
  });
  rows.addWithArgument(
      "log.settings", [] { return true; },
      [this](const QString& text) {
        const LogSettings settings = LogSettings::of(text);
        m_parts.settings.setValue(QString::fromLatin1(kSettings), settings.text());
        m_parts.workspace.log().setSettings(settings);
      });
}

void LogController::measureQuality(const jobs::LogQualityRequest& request) {
  const QString problem =
      startJob(m_parts.workspace, jobs::callOf<jobs::LogQualityJob>(request.choice), {}, request.read);
  if (!problem.isEmpty()) m_parts.status.complain(problem);
}

void LogController::open(const QStringList& paths) {
  // Docks show nothing without a document.
  if (m_parts.workspace.current() == nullptr) m_documents.newDocument();
  m_parts.pages.showDocuments();
  m_parts.docks.setLayout(LayoutId::Diagnose);
  m_parts.docks.reveal(QStringLiteral("log-requests"));
  m_parts.workspace.log().open(paths);
  m_documents.remember(paths.front());
}

void LogController::openDialog() {
  QStringList paths = QFileDialog::getOpenFileNames(
      &m_parts.window, tr("Open log"), m_parts.lastFolder,
      tr("Request logs (*.jsonl *.ndjson *.json *.har *.log *.txt *.gz *.trace);;All files (*)"));
  if (!paths.isEmpty()) open(paths);
}

void LogController::openRequest(const QString& number, bool asSpans) {
  const std::optional<std::size_t> request = numberOf(number);
  if (!request) return;
  try {
    LogDiagnosis& log = m_parts.workspace.log();
    const doctor::LoggedRequest given = log.requestAt(*request);
    doctor::SpanQuery made;
    if (asSpans) {
      SpansDialog dialog(given, log.state()->files, m_parts.workspace.input(), &m_parts.window);
      if (dialog.exec() != QDialog::Accepted) return;
      made = dialog.query();
    } else {
      made = doctor::queryOf(given);
    }
    document::Document document = document::fromQuery(made.query);
    document.declarations = made.parameters;
    m_parts.workspace.useModelInUse(document.settings);
    auto model = std::make_unique<DocumentModel>(std::move(document));
    model->setTitle(asSpans ? tr("Request %1 as spans").arg(*request + 1)
                            : tr("Request %1").arg(*request + 1));
    m_documents.watch(m_parts.workspace.open(std::move(model)));
    m_parts.docks.setLayout(LayoutId::Author);
    m_parts.canvas.setFocus();
  } catch (const Failure& failure) {
    m_parts.status.complain(QString::fromUtf8(failure.what()));
  }
}

}  // namespace spanscope::ui
