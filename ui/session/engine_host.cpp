// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/engine_host.h"

#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/run/finished_reply.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/run/session_config.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/retrieval_report.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/work.h"
#include "engine/workbench/service/work_service.h"
#include "engine/workbench/service/workplace.h"
#include "engine/workbench/setting_values.h"
#include "ui/session/attention_replay.h"
#include "ui/session/benchmarker.h"
#include "ui/session/experiment_run.h"
#include "ui/session/run_plan.h"

#include <QCoreApplication>
#include <QDateTime>

#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

/// How often the window is told how far an index is, at most.
constexpr std::chrono::milliseconds kProgressPause{50};

/// What a person asked for could not be done, in words for them.
class Obstacle final : public std::runtime_error {
 public:
  explicit Obstacle(const QString& text) : std::runtime_error(text.toStdString()) {}
};

using workbench::FunctionWork;
using workbench::RunWork;
using workbench::WorkHandle;
using workbench::Workplace;
using workbench::WorkState;

}  // namespace

/// Lives on both sides: the window submits works to the service, whose thread does them and posts back.
class EngineHost::Worker final : private workbench::WorkplaceWatcher {
 public:
  Worker(EngineHost& host, compute::Backends backends)
      : m_host(host), m_retrieval(backends), m_service(std::move(backends), *this) {}

  void prepare(const document::RunSettings& settings) {
    const auto load = [settings](Workplace& place, const std::stop_token& stop) {
      place.modelFor(settings, stop);
    };
    submit(load, [this](WorkState state, const std::string& problem) {
      if (state != WorkState::Failed) return;
      tell([this, text = QString::fromStdString(problem)] {
        m_host.endLoading();
        Q_EMIT m_host.runEnded(text);
      });
    });
  }

  void findDevices() {
    submit([this](Workplace& place, const std::stop_token&) {
      auto found = std::make_shared<const std::vector<compute::Device>>(place.backends().devices());
      tell([this, found = std::move(found)] {
        m_host.m_devices = found;
        Q_EMIT m_host.devicesFound();
      });
    });
  }

  void run(RunRequest asked) {
    const document::RunSettings settings = asked.settings;
    const RunId lastRun = asked.lastRun;
    const RequestId lastRequest = asked.lastRequest;
    const auto request = std::make_shared<RunRequest>(std::move(asked));
    RunWork::Preparation preparation{
        .prepare = [this, request](Workplace& place,
                                   const std::stop_token& stop) { return prepareRun(*request, place, stop); },
        .takesLong = request->retrieval.has_value()};
    begin(std::make_shared<RunWork>(settings, std::move(preparation), lastRun, lastRequest),
          [this](const QString& error) { Q_EMIT m_host.runEnded(error); });
  }

  void replayAttention(run::AttentionReplayRequest request) {
    beginInSession(
        [this, request = std::move(request)](run::Session& session, Workplace&, const std::stop_token& stop) {
          tell([this, name = layerAndHead(request.layer, request.head)] {
            m_host.setActivity(tr("Computing the attention of %1 again").arg(name));
          });
          session.replayAttention(request, stop);
        },
        [this](const QString& error) { Q_EMIT m_host.attentionReplayed(error); });
  }

  void measureFidelity(std::vector<run::FinishedReply> replies) {
    beginInSession([this, replies = std::move(replies)](
                       run::Session& session, Workplace& place,
                       const std::stop_token& stop) { measureHere(replies, session, place, stop); },
                   [this](const QString& error) { Q_EMIT m_host.fidelityMeasured(error); });
  }

  void benchmark(BenchmarkRequest asked) {
    const auto request = std::make_shared<BenchmarkRequest>(std::move(asked));
    const auto benchmark = std::make_shared<Benchmark>(beginBenchmark(*request));
    begin(std::make_shared<FunctionWork>(
              [this, request, benchmark](Workplace& place, const std::stop_token& stop) {
                tellBenchmark(*benchmark);
                benchmarkHere(*request, *benchmark, place, stop);
              }),
          [this, benchmark](WorkState state, const QString& problem) {
            // It may know already how it ended.
            if (benchmark->state == BenchmarkState::Running && state != WorkState::Finished) {
              benchmark->state =
                  state == WorkState::Stopped ? BenchmarkState::Stopped : BenchmarkState::Failed;
              benchmark->problem = problem;
            }
            tellBenchmark(*benchmark);
          });
  }

  void experiment(ExperimentRequest request) {
    const auto run = std::make_shared<ExperimentRun>();
    run->result.wish = request.wish;
    begin(std::make_shared<FunctionWork>(
              [this, request = std::move(request), run](Workplace& place, const std::stop_token& stop) {
                tellExperiment(*run);
                experimentHere(request, *run, place, stop);
              }),
          [this, run](WorkState state, const QString& problem) {
            run->state = state == WorkState::Finished  ? ExperimentState::Finished
                         : state == WorkState::Stopped ? ExperimentState::Stopped
                                                       : ExperimentState::Failed;
            run->problem = problem;
            tellExperiment(*run);
          });
  }

  void carryOut(std::shared_ptr<workbench::Work> work, std::function<void(const QString& error)> answer) {
    begin(std::move(work), std::move(answer));
  }

  void stop() { m_asked.stop(); }

  void forecast(ForecastRequest request) {
    m_forecast.stop();
    m_forecast = submit([this, request = std::move(request)](Workplace& place, const std::stop_token& stop) {
      std::optional<Forecast> made =
          m_forecaster.forecast(request, place.openSessionFor(request.settings), place.model().get(), stop);
      if (!made) return;
      tell([this, forecast = std::make_shared<const Forecast>(std::move(*made))] {
        Q_EMIT m_host.forecastMade(forecast);
      });
    });
  }

  void dropForecast() { m_forecast.stop(); }

  void setIndexFile(const QString& path) {
    submit([this, path = path.toStdString()](Workplace&, const std::stop_token&) {
      m_retrieval.setIndexFile(path);
    });
  }

  void countFrom(RunId lastRun, RequestId lastRequest) {
    submit([lastRun, lastRequest](Workplace& place, const std::stop_token&) {
      place.countFrom(lastRun, lastRequest);
    });
  }

  void readTokenizer(const std::string& directory) {
    submit([this, directory](Workplace&, const std::stop_token&) {
      // Where it fails, a run says what is wrong with the checkpoint.
      const std::shared_ptr<const text::Tokenizer> tokenizer = text::loadTokenizer(directory);
      tell([this, directory, tokenizer] { Q_EMIT m_host.tokenizerRead(directory, tokenizer); });
    });
  }

  void clearCache() { m_service.clearCache(); }

 private:
  using Ended = std::function<void(WorkState, const std::string&)>;

  WorkHandle submit(FunctionWork::Function function, Ended ended = {}) {
    return m_service.submit(std::make_shared<FunctionWork>(std::move(function)), {.ended = std::move(ended)});
  }

  /// Has the service do what a person asked for and can stop; what is forecast gives way to it. `answer` is
  /// called on the service's thread, when the window has been told to be idle.
  void begin(std::shared_ptr<workbench::Work> work, std::function<void(WorkState, const QString&)> answer) {
    m_forecast.stop();
    m_asked = m_service.submit(std::move(work), {.ended = [this, answer = std::move(answer)](
                                                              WorkState state, const std::string& problem) {
                                 tell([this] { m_host.endWork(); });
                                 answer(state, QString::fromStdString(problem));
                               }});
  }

  /// `answer` is called on the window's thread with why it failed; empty where it was stopped: who stops it
  /// knows why there is no answer.
  void begin(std::shared_ptr<workbench::Work> work, std::function<void(const QString& error)> answer) {
    begin(std::move(work), [this, answer = std::move(answer)](WorkState, const QString& problem) {
      tell([answer, problem] { answer(problem); });
    });
  }

  template <class Function>
  void beginInSession(Function function, std::function<void(const QString& error)> answer) {
    begin(std::make_shared<FunctionWork>(
              [function = std::move(function)](Workplace& place, const std::stop_token& stop) {
                if (!place.hasSession())
                  throw Obstacle(EngineHost::tr("The session that gave this answer has ended."));
                function(place.openSession(), place, stop);
              }),
          std::move(answer));
  }

  /// Carries something out on the window's thread; not at all if the window has gone by then.
  template <class Function>
  void tell(Function function) {
    QMetaObject::invokeMethod(&m_host, std::move(function), Qt::QueuedConnection);
  }

  // ---- what happens at the workplace

  void loadingBegins() override {
    m_lastProgress = {};
    tell([this] { m_host.setState(EngineState::Loading); });
  }

  void loadingEnds() override {
    tell([this] { m_host.setActivity({}); });
  }

  void loading(const std::string& model, std::size_t read, std::size_t all) override {
    if (all == 0 || !isTimeToTell()) return;
    const QString name = QString::fromStdString(std::filesystem::path(model).filename().string());
    const QString text = tr("Loading %1: %2 of %3 tensors (%4 %)")
                             .arg(name.isEmpty() ? tr("the model") : name)
                             .arg(read)
                             .arg(all)
                             .arg(100 * read / all);
    tell([this, text] { m_host.setActivity(text); });
  }

  void modelLoaded(const std::shared_ptr<workbench::ModelBundle>& bundle) override {
    tell([this, model = loadedModelOf(bundle)] {
      m_host.m_model = model;
      m_host.endLoading();
      Q_EMIT m_host.modelChanged();
    });
  }

  void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) override {
    tell([this, recorder] {
      m_host.m_recorder = recorder;
      m_host.m_recording = false;
      Q_EMIT m_host.sessionStarted();
    });
  }

  /// Once in a while.
  bool isTimeToTell() {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_lastProgress < kProgressPause) return false;
    m_lastProgress = now;
    return true;
  }

  /// Tells the window now and then how far an index is.
  retrieve::Watch watch(const std::stop_token& stop) {
    m_lastProgress = {};
    return {.progress =
                [this](const retrieve::IndexProgress& now) {
                  if (isTimeToTell()) tell([this, text = progressText(now)] { m_host.setActivity(text); });
                },
            .stop = stop};
  }

  // ---- the works

  RunWork::Prepared prepareRun(RunRequest& request, Workplace& place, const std::stop_token& stop) {
    tell([this] { m_host.setState(EngineState::Running); });
    run::RunOptions options = workbench::runOptionsOf(request.settings);
    if (request.retrieval) retrieveFor(request, options, place, stop);
    options.queryJson = request.queryJson;
    options.explain = request.explain;
    options.attentionDetail = workbench::attentionDetailOf(request.settings.attention);
    options.observeRows = request.settings.observeRows;
    options.attentionBytes = std::uint64_t(request.settings.attentionMebibytes) << 20;
    if (request.settings.observe) options.observedLayers = observedLayers(request.settings, *place.model());
    return {.plan = std::make_shared<const plan::Plan>(std::move(request.plan)),
            .options = std::move(options)};
  }

  /// Makes the plan of a request that retrieves.
  void retrieveFor(RunRequest& request, run::RunOptions& options, Workplace& place,
                   const std::stop_token& stop) {
    RunPlan planned = planRun(m_retrieval.input(*request.retrieval, place.model(), watch(stop)));
    tell([this] { m_host.setActivity({}); });
    if (!planned.plan) throw Obstacle(planned.problem);
    request.plan = std::move(*planned.plan);
    request.explain = std::move(planned.explain);
    request.queryJson = std::move(planned.queryJson);
    options.retrieved = workbench::retrievalReports(planned.made.retrieved, planned.made.diagnostics);
  }

  static std::vector<std::int32_t> observedLayers(const document::RunSettings& settings,
                                                  const workbench::ModelBundle& model) {
    std::vector<std::int32_t> layers;
    for (const std::int32_t layer : settings.layers) {
      if (layer >= 0 && layer < model.config.layers) layers.push_back(layer);
    }
    if (settings.layers.empty()) {
      layers.resize(static_cast<std::size_t>(model.config.layers));
      std::iota(layers.begin(), layers.end(), 0);
    }
    return layers;
  }

  void measureHere(const std::vector<run::FinishedReply>& replies, run::Session& session, Workplace& place,
                   const std::stop_token& stop) {
    const workbench::ModelBundle& bundle = *place.model();
    const experiment::FidelityModel model{
        .decoder = *bundle.decoder, .backend = *bundle.backend, .tokenizer = bundle.tokenizer.get()};
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const QString activity = replies.size() == 1
                                   ? tr("Measuring fidelity against a full prefill")
                                   : tr("Measuring fidelity: answer %1 of %2").arg(i + 1).arg(replies.size());
      tell([this, activity] { m_host.setActivity(activity); });
      const run::FinishedReply& reply = replies[i];
      place.recorder()->send(reply.run, reply.request, reply.node,
                             experiment::measureFidelity(session, model, reply, stop));
    }
  }

  void experimentHere(const ExperimentRequest& request, ExperimentRun& run, Workplace& place,
                      const std::stop_token& stop) {
    workbench::ModelBundle& own = place.modelFor(request.settings, stop);
    tell([this] { m_host.setState(EngineState::Running); });
    const std::vector<std::string> further = experiment::furtherModels(request.wish);
    // The window's model and its cache stay while others are measured.
    std::optional<workbench::ModelBundle> other;
    const auto modelOf = [&](std::size_t index) {
      document::RunSettings settings = request.settings;
      if (index > 0) {
        settings.model = further[index - 1];
        other.reset();
        other.emplace(place.loadBeside(settings, stop));
      }
      return workbench::experimentModelOf(index == 0 ? own : *other, workbench::sessionConfigOf(settings));
    };
    m_lastProgress = {};
    experiment::runOnModels(
        run.result, 1 + further.size(), modelOf,
        [&](const experiment::ExperimentResult&) {
          if (isTimeToTell()) tellExperiment(run);
        },
        stop);
  }

  void benchmarkHere(BenchmarkRequest& request, Benchmark& benchmark, Workplace& place,
                     const std::stop_token& stop) {
    workbench::ModelBundle& model = place.modelFor(request.settings, stop);
    tell([this] { m_host.setState(EngineState::Running); });
    if (request.retrieval) {
      workbench::PipelineResult found = workbench::runPipeline(
          m_retrieval.input(*request.retrieval, place.model(), watch(stop)), workbench::Stage::Retrieve);
      if (!found.isReached()) throw Obstacle(firstProblem(found));
      request.query = found.takeQuery();
    }
    runBenchmark(
        benchmark, request, model, [this](const Benchmark& now) { tellBenchmark(now); }, stop);
  }

  void tellBenchmark(const Benchmark& benchmark) {
    tell([this, now = std::make_shared<const Benchmark>(benchmark)] {
      if (now->state == BenchmarkState::Running) m_host.setActivity(progressText(*now));
      Q_EMIT m_host.benchmarkChanged(now);
    });
  }

  void tellExperiment(const ExperimentRun& run) {
    tell([this, now = std::make_shared<const ExperimentRun>(run)] {
      if (now->state == ExperimentState::Running)
        m_host.setActivity(tr("Experiment: %1 %").arg(static_cast<int>(100 * now->result.progress())));
      Q_EMIT m_host.experimentChanged(now);
    });
  }

  EngineHost& m_host;
  WorkHandle m_asked;     ///< what a person asked for last; of the window's thread
  WorkHandle m_forecast;  ///< the newest; of the window's thread
  // Of the service's thread alone:
  Forecaster m_forecaster;
  RequestRetrieval m_retrieval;
  std::chrono::steady_clock::time_point m_lastProgress;
  workbench::WorkService m_service;  ///< ends first: its works use everything above
};

EngineHost::EngineHost(compute::Backends backends, QObject* parent)
    : QObject(parent), m_worker(std::make_unique<Worker>(*this, std::move(backends))) {}

EngineHost::~EngineHost() {
  m_worker->stop();
  m_worker->dropForecast();
}

void EngineHost::findDevices() {
  m_worker->findDevices();
}

void EngineHost::prepare(const document::RunSettings& settings) {
  m_worker->prepare(settings);
}

bool EngineHost::run(RunRequest request) {
  if (!beginWork()) return false;
  m_worker->run(std::move(request));
  return true;
}

bool EngineHost::replayAttention(run::AttentionReplayRequest request) {
  if (!beginWork()) return false;
  m_worker->replayAttention(std::move(request));
  return true;
}

bool EngineHost::measureFidelity(std::vector<run::FinishedReply> replies) {
  if (!beginWork()) return false;
  m_worker->measureFidelity(std::move(replies));
  return true;
}

bool EngineHost::benchmark(BenchmarkRequest request) {
  if (!beginWork()) return false;
  m_worker->benchmark(std::move(request));
  return true;
}

bool EngineHost::experiment(ExperimentRequest request) {
  if (!beginWork()) return false;
  m_worker->experiment(std::move(request));
  return true;
}

bool EngineHost::carryOut(std::shared_ptr<workbench::Work> work,
                          std::function<void(const QString& error)> answer) {
  if (!beginWork()) return false;
  m_worker->carryOut(std::move(work), std::move(answer));
  return true;
}

void EngineHost::stop() {
  m_worker->stop();
}

void EngineHost::setIndexFile(const QString& path) {
  m_worker->setIndexFile(path);
}

void EngineHost::clearCache() {
  m_worker->clearCache();
  Q_EMIT cacheCleared();
}

void EngineHost::countFrom(RunId lastRun, RequestId lastRequest) {
  m_worker->countFrom(lastRun, lastRequest);
}

void EngineHost::readTokenizer(const std::string& directory) {
  m_worker->readTokenizer(directory);
}

void EngineHost::forecast(ForecastRequest request) {
  m_worker->forecast(std::move(request));
}

void EngineHost::drain(std::vector<trace::Event>& into) {
  if (m_recorder) m_recorder->drain(into);
}

QString EngineHost::startRecording(const QString& path) {
  if (!m_recorder) return tr("Nothing has run yet: there is no session to record.");
  try {
    m_recorder->startFile(path.toStdString(),
                          {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                           .createdAt = QDateTime::currentMSecsSinceEpoch()});
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  m_recording = true;
  Q_EMIT stateChanged();
  return {};
}

QString EngineHost::finishRecording() {
  m_recording = false;
  Q_EMIT stateChanged();
  if (!m_recorder) return {};
  const std::optional<Error> error = m_recorder->finishFile();
  return error ? QString::fromStdString(error->message()) : QString();
}

void EngineHost::setActivity(const QString& activity) {
  if (activity == m_activity) return;
  m_activity = activity;
  Q_EMIT stateChanged();
}

/// False: something goes on already.
bool EngineHost::beginWork() {
  if (m_isBusy) return false;
  m_isBusy = true;
  setState(EngineState::Running);
  return true;
}

void EngineHost::endWork() {
  m_isBusy = false;
  setActivity({});
  setState(EngineState::Idle);
}

void EngineHost::endLoading() {
  setState(m_isBusy ? EngineState::Running : EngineState::Idle);
}

void EngineHost::setState(EngineState state) {
  if (state == m_state) return;
  m_state = state;
  Q_EMIT stateChanged();
}

}  // namespace spanscope::ui
