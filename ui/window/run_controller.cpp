// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/run_controller.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/jobs/experiment.h"
#include "engine/jobs/fidelity.h"
#include "engine/jobs/probe.h"
#include "engine/workbench/model_names.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/measure_requests.h"
#include "ui/session/model_choices.h"
#include "ui/views/view.h"
#include "ui/window/dialogs.h"
#include "ui/window/dock_host.h"
#include "ui/window/engine_jobs.h"
#include "ui/window/get_model_dialog.h"
#include "ui/window/lesson_recording.h"
#include "ui/window/servers_dialog.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"

#include <QInputDialog>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr QSize kQuestionSize(440, 200);
constexpr const char* kComparedPolicies = "measured/policies";  ///< names of the compared policies

}  // namespace

RunController::RunController(const WindowParts& parts, LessonRecording& recording)
    : m_window(parts.window),
      m_settings(parts.settings),
      m_workspace(parts.workspace),
      m_docks(parts.docks),
      m_status(parts.status),
      m_recording(recording) {
  m_workspace.runs().setServerConsent([this](const QString& endpoint) { return consentTo(endpoint); });
  const QVariant compared = m_settings.value(QString::fromLatin1(kComparedPolicies));
  m_workspace.choose(
      policyChoice(compared.isValid() ? knownPolicies(compared.toStringList()) : usualPolicies()));
  connect(&m_workspace, &Workspace::jobChosen, this, [this] {
    QStringList names;
    for (const std::string& name : chosenPolicies(m_workspace.input().measured))
      names += QString::fromStdString(name);
    m_settings.setValue(QString::fromLatin1(kComparedPolicies), names);
  });
}

RunController::~RunController() {
  m_workspace.runs().setServerConsent({});
}

void RunController::addCommands(CommandHandlers& rows) {
  const auto tab = [this] {
    return m_workspace.current() == nullptr ? EngineJob::kProgram : m_workspace.current()->id;
  };
  const auto complainIf = [this](const QString& problem) {
    if (!problem.isEmpty()) m_status.complain(problem);
  };
  const auto isIdle = [this, tab] { return !m_workspace.engine().isBusy(tab()); };
  rows.add("run.run", isIdle, [this] { run(false); });
  rows.add("run.run-selected", isIdle, [this] { run(true); });
  const auto canStop = [this, tab] {
    const EngineHost& engine = m_workspace.engine();
    return engine.isBusy(tab()) || engine.isMeasuring(tab()) || engine.isMeasuring(EngineJob::kProgram);
  };
  rows.addWithArgument("run.stop", canStop, [this, tab](const QString& what) {
    EngineHost& engine = m_workspace.engine();
    if (what == QLatin1String("experiment"))
      engine.stopMeasuring(EngineJob::kProgram);
    else if (what == QLatin1String("measurement"))
      engine.stopMeasuring(tab());
    else if (engine.isBusy(tab()))
      engine.stop(tab());
    else
      engine.stopMeasuring(engine.isMeasuring(tab()) ? tab() : EngineJob::kProgram);
  });
  rows.addWithArgument(
      "run.fidelity", [this, isIdle] { return isIdle() && m_workspace.shownRun() != 0; },
      [this, complainIf](const QString& request) {
        // Measures one answer, or all answers of the shown run.
        const std::vector<RequestId> wanted =
            request.isEmpty() ? measurableRequests(m_workspace.input(), m_workspace.shownRun())
                              : std::vector<RequestId>{request.toUInt()};
        complainIf(startJob(m_workspace, jobs::callOf<jobs::FidelityJob>({wanted})));
      });
  rows.addWithArgument(
      "run.benchmark", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& request) { benchmark(request); });
  rows.addWithArgument(
      "run.policies", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& request) { comparePolicies(request); });
  rows.addWithArgument(
      "run.probe", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& request) { probe(request); });
  rows.addWithArgument(
      "run.experiment", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& request) { experiment(request); });
  rows.add(
      "run.use-adapter", [this] { return !m_workspace.offeredAdapter().empty(); },
      [this] { chooseAdapter(*m_workspace.model(), m_workspace.offeredAdapter()); });
  rows.add(
      "run.choose-template", [this] { return m_workspace.model() != nullptr; }, [this] { chooseTemplate(); });
  rows.add("run.get-model", [this] { getModel(); });
  rows.add("run.servers", [this] { openServers(); });
  rows.add("run.clear-cache", [this] { m_workspace.engine().clearCache(); });
  rows.add("run.step-back", [this] { step(-1); });
  rows.add("run.step-forward", [this] { step(1); });
  rows.addWithArgument(
      "run.show", [this] { return m_workspace.current() != nullptr; },
      [this](const QString& run) { m_workspace.showRun(run.toUInt()); });
  rows.add(
      "run.remove-predicted", [this] { return m_workspace.traces().isPredicted(m_workspace.shownRun()); },
      [this] { m_workspace.traces().removePredicted(m_workspace.shownRun()); });
  rows.add("run.older", [this] { m_workspace.showRun(m_workspace.runBeside(-1)); });
  rows.add("run.newer", [this] { m_workspace.showRun(m_workspace.runBeside(1)); });
  rows.add("run.to-end", [this] { m_workspace.setPosition(m_workspace.input().trace->size()); });
}

void RunController::run(bool selectedOnly) {
  OpenDocument* current = m_workspace.current();
  if (current == nullptr) return;
  current->model->endMerge();
  const document::NodeId top = selectedOnly ? current->selection.currentNode() : document::kNoNode;
  if (selectedOnly && top == document::kNoNode) {
    m_status.say(tr("Select the branch to run."));
    return;
  }
  m_status.clearMessage();
  m_recording.noteStart(selectedOnly);
  const QString problem =
      m_workspace.runs().start(top, [this](const QString& question) { return answerTo(question); });
  if (problem.isEmpty()) {
    m_docks.offer(QStringLiteral("output"));
    return;
  }
  m_status.complain(problem);
  current->failure = problem;
  m_docks.reveal(QStringLiteral("problems"));
}

void RunController::experiment(const QString& request) {
  m_docks.reveal(QStringLiteral("experiments"));
  const std::optional<experiment::ExperimentRequest> wanted = readExperimentRequest(request);
  if (!wanted) {
    // The menu or palette restores the focus when it closes, so the page gets the focus later.
    View* page = m_docks.dock(QStringLiteral("experiments"))->openView();
    QMetaObject::invokeMethod(
        page, [page] { page->setFocus(Qt::OtherFocusReason); }, Qt::QueuedConnection);
    return;
  }
  // The page shows the running experiment, even if another place started it.
  try {
    m_docks.dock(QStringLiteral("experiments"))
        ->openView()
        ->perform(QStringLiteral("run.experiment:") + request);
    if (LessonRecorder* recorder = m_recording.recorder())
      recorder->noteExperiment(QString::fromStdString(wanted->experiment));
  } catch (const Failure&) {
    // measure() reports the problem.
  }
  measure([&] { return jobs::callOf<jobs::ExperimentJob>(*wanted); });
}

void RunController::benchmark(const QString& request) {
  m_docks.reveal(QStringLiteral("benchmark"));
  m_docks.dock(QStringLiteral("benchmark"))->openView()->setFocus(Qt::OtherFocusReason);
  const std::optional<BenchmarkChoice> wanted = readBenchmarkRequest(request);
  if (wanted) measure([&] { return benchmarkCall(m_workspace.model()->document(), *wanted); });
}

void RunController::measure(const std::function<jobs::JobCall()>& call) {
  // Typed text becomes part of the measured document.
  m_workspace.current()->model->endMerge();
  m_status.clearMessage();
  const QString problem =
      startJob(m_workspace, call(), [this](const QString& question) { return answerTo(question); });
  if (!problem.isEmpty()) m_status.complain(problem);
}

void RunController::chooseTemplate() {
  const document::RunSettings& settings = m_workspace.model()->document().settings;
  TemplateDialog dialog(m_workspace.runsOn(*m_workspace.current()),
                        QString::fromStdString(workbench::modelNameOf(settings)), settings.chatTemplate,
                        m_workspace.input().theme, &m_window);
  if (dialog.exec() != QDialog::Accepted) return;
  m_workspace.model()->change(tr("Chat template"), [chosen = dialog.chosen()](document::Document& document) {
    document.settings.chatTemplate = chosen;
  });
}

void RunController::comparePolicies(const QString& request) {
  m_docks.reveal(QStringLiteral("policies"));
  m_docks.dock(QStringLiteral("policies"))->openView()->setFocus(Qt::OtherFocusReason);
  if (request != QLatin1String("run")) return;
  measure([this] {
    return comparisonCall(m_workspace.model()->document(), chosenPolicies(m_workspace.input().measured));
  });
}

void RunController::probe(const QString& request) {
  m_docks.reveal(QStringLiteral("probe"));
  m_docks.dock(QStringLiteral("probe"))->openView()->setFocus(Qt::OtherFocusReason);
  const bool asksOwn = request == QLatin1String("own");
  if (asksOwn || request == QLatin1String("run"))
    measure([asksOwn] { return jobs::callOf<jobs::ProbeJob>({.asksOwn = asksOwn}); });
}

std::optional<QString> RunController::answerTo(const QString& question) {
  QInputDialog dialog(&m_window);
  dialog.setWindowTitle(tr("The query asks"));
  dialog.setOption(QInputDialog::UsePlainTextEditForTextInput);
  dialog.setLabelText(question);
  dialog.setTextValue(m_answers.value(question));
  dialog.setOkButtonText(tr("Answer"));
  dialog.resize(kQuestionSize);
  if (dialog.exec() != QDialog::Accepted) return std::nullopt;
  const QString answer = dialog.textValue();
  m_answers.insert(question, answer);
  return answer;
}

void RunController::getModel() {
  if (m_getModel == nullptr || !m_getModel->isBusy()) {
    delete m_getModel;
    const DocumentModel* model = m_workspace.model();
    const std::string wanted =
        model == nullptr ? std::string(compute::kAutoDevice) : model->document().settings.device;
    GetModelDialog::ForDevice device;
    if (const auto devices = m_workspace.input().devices) {
      const auto usable = std::find_if(devices->begin(), devices->end(), [&wanted](const auto& each) {
        return each.isUsable() && (wanted == compute::kAutoDevice || each.name == wanted);
      });
      if (usable != devices->end())
        device = {.name = QString::fromStdString(usable->name), .memory = usable->memoryBytes};
    }
    m_getModel = new GetModelDialog(device, m_workspace.input().theme, &m_window);
    connect(m_getModel, &GetModelDialog::began, this,
            [this] { m_getModelTab = m_workspace.current() == nullptr ? 0 : m_workspace.current()->id; });
    connect(m_getModel, &GetModelDialog::got, this, [this](const QString& path) {
      m_workspace.searchModels();
      OpenDocument* document = m_workspace.find(m_getModelTab);
      if (document != nullptr) chooseModel(*document->model, path);
      const QString name = QString::fromStdString(checkpoint::Checkpoint(path.toStdString()).name());
      m_status.say(document == nullptr ? tr("The model %1 is on this machine").arg(name)
                                       : tr("The query now uses the model %1").arg(name));
    });
  }
  m_getModel->show();
  m_getModel->raise();
  m_getModel->activateWindow();
}

void RunController::openServers() {
  const DocumentModel* model = m_workspace.model();
  ServersDialog dialog(m_workspace.serverRuns().servers(), m_workspace.serverRuns().serverFacts(),
                       model == nullptr ? std::string() : model->document().settings.server,
                       m_workspace.input().theme, &m_window);
  connect(&dialog, &ServersDialog::answered, this,
          [this](const std::string& name, const remote::ServerFacts& facts) {
            m_workspace.serverRuns().noteServerFacts(name, facts);
          });
  dialog.exec();
  m_workspace.serverRuns().readServers();
  Q_EMIT changed();
}

bool RunController::consentTo(const QString& endpoint) {
  const QString key = QStringLiteral("retrieval/servers");
  QStringList known = m_settings.value(key).toStringList();
  if (known.contains(endpoint)) return true;
  QMessageBox box(QMessageBox::Question, tr("Embeddings from a server"),
                  tr("Send texts to %1?").arg(endpoint), QMessageBox::Cancel, &m_window);
  box.setInformativeText(
      tr("This query gets the vectors of its passages from this server. Spanscope sends the texts of the "
         "searched documents and the questions of the query. If SPANSCOPE_EMBEDDINGS_KEY has a key, "
         "Spanscope also sends the key. Spanscope asks you only once."));
  const QPushButton* send = box.addButton(tr("Send texts"), QMessageBox::AcceptRole);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  if (box.clickedButton() != send) return false;
  m_settings.setValue(key, known << endpoint);
  return true;
}

void RunController::step(int events) {
  const ViewInput& input = m_workspace.input();
  const auto size = static_cast<std::ptrdiff_t>(input.trace->size());
  const auto wanted =
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(input.position) + events, 0, size);
  m_workspace.setPosition(static_cast<std::size_t>(wanted));
}

}  // namespace spanscope::ui
