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
#include "engine/workbench/setting_values.h"
#include "ui/session/attention_replay.h"
#include "ui/session/benchmarker.h"
#include "ui/session/experiment_run.h"
#include "ui/session/run_plan.h"
#include "ui/session/task_thread.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

/// How often the window is told how far an index is, at most.
constexpr std::chrono::milliseconds kProgressPause{50};

}  // namespace

/// Lives on both sides: the window posts tasks, the thread carries them out one by one and posts back.
class EngineHost::Worker {
 public:
  Worker(EngineHost& host, compute::Backends backends) : m_host(host), m_backends(std::move(backends)) {}

  void prepare(const document::RunSettings& settings) {
    m_thread.post([this, settings] {
      try {
        load(settings);
      } catch (const std::exception& failure) {
        tell([this, text = QString::fromUtf8(failure.what())] {
          m_host.setState(EngineState::Idle);
          Q_EMIT m_host.runEnded(text);
        });
      }
    });
  }

  void findDevices() {
    m_thread.post([this] {
      auto found = std::make_shared<const std::vector<compute::Device>>(m_backends.devices());
      tell([this, found = std::move(found)] {
        m_host.m_devices = found;
        Q_EMIT m_host.devicesFound();
      });
    });
  }

  void run(RunRequest request) {
    begin([this, request = std::move(request)]() mutable {
      const QString error = attempt([&] { return runHere(request); });
      end([this, error] { Q_EMIT m_host.runEnded(error); });
      keepRest();
    });
  }

  void replayAttention(run::AttentionReplayRequest request) {
    begin([this, request = std::move(request)] {
      tell([this, name = layerAndHead(request.layer, request.head)] {
        m_host.setActivity(tr("Computing the attention of %1 again").arg(name));
      });
      const QString error = attemptInSession([&] { m_session->replayAttention(request, stopToken()); });
      end([this, error] { Q_EMIT m_host.attentionReplayed(error); });
    });
  }

  void measureFidelity(std::vector<run::FinishedReply> replies) {
    begin([this, replies = std::move(replies)] {
      const QString error = attemptInSession([&] { measureHere(replies); });
      end([this, error] { Q_EMIT m_host.fidelityMeasured(error); });
    });
  }

  void benchmark(BenchmarkRequest request) {
    begin([this, request = std::move(request)]() mutable {
      Benchmark benchmark = beginBenchmark(request);
      tellBenchmark(benchmark);
      try {
        benchmarkHere(request, benchmark);
      } catch (const std::exception& failure) {
        const bool isStopped = stopToken().stop_requested();
        benchmark.state = isStopped ? BenchmarkState::Stopped : BenchmarkState::Failed;
        if (!isStopped) benchmark.problem = QString::fromUtf8(failure.what());
      }
      end();
      tellBenchmark(benchmark);
    });
  }

  void experiment(ExperimentRequest request) {
    begin([this, request = std::move(request)] {
      ExperimentRun run;
      run.result.wish = request.wish;
      tellExperiment(run);
      try {
        experimentHere(request, run);
        run.state = ExperimentState::Finished;
      } catch (const std::exception& failure) {
        const bool isStopped = stopToken().stop_requested();
        run.state = isStopped ? ExperimentState::Stopped : ExperimentState::Failed;
        if (!isStopped) run.problem = QString::fromUtf8(failure.what());
      }
      end();
      tellExperiment(run);
    });
  }

  void stop() {
    const std::lock_guard lock(m_stopMutex);
    m_stop.request_stop();
  }

  void forecast(ForecastRequest request) {
    m_forecastStop.request_stop();
    m_forecastStop = std::stop_source();
    m_thread.post([this, request = std::move(request), stop = m_forecastStop.get_token()] {
      std::optional<Forecast> made =
          m_forecaster.forecast(request, sessionFor(request.settings), m_bundle.get(), stop);
      if (!made) return;
      tell([this, forecast = std::make_shared<const Forecast>(std::move(*made))] {
        Q_EMIT m_host.forecastMade(forecast);
      });
    });
  }

  void dropForecast() { m_forecastStop.request_stop(); }

  void setIndexFile(const QString& path) {
    m_thread.post([this, path = path.toStdString()] { m_retrieval.setIndexFile(path); });
  }

  void countFrom(RunId lastRun, RequestId lastRequest) {
    m_thread.post([this, lastRun, lastRequest] {
      m_lastRun = std::max(m_lastRun, lastRun);
      m_lastRequest = std::max(m_lastRequest, lastRequest);
    });
  }

  void readTokenizer(const std::string& directory) {
    m_thread.post([this, directory] {
      std::shared_ptr<const text::Tokenizer> tokenizer;
      try {
        tokenizer = text::loadTokenizer(directory);
      } catch (const Failure&) {
        return;  // a run says what is wrong with the checkpoint
      }
      tell([this, directory, tokenizer] { Q_EMIT m_host.tokenizerRead(directory, tokenizer); });
    });
  }

  void clearCache() {
    // A run in progress does it before its next pass; else it is this task's turn.
    m_clearAsked = true;
    m_thread.post([this] {
      if (m_clearAsked.exchange(false) && m_session) m_session->clearCache();
    });
  }

 private:
  /// Has the thread do what a person asked for and can stop; what is forecast gives way to it.
  void begin(std::function<void()> work) {
    {
      const std::lock_guard lock(m_stopMutex);
      m_stop = std::stop_source();
    }
    m_forecastStop.request_stop();
    m_thread.post(std::move(work));
  }

  /// Tells the window that it is done.
  void end(std::function<void()> answer = {}) {
    tell([this, answer = std::move(answer)] {
      m_host.setActivity({});
      m_host.setState(EngineState::Idle);
      if (answer) answer();
    });
  }

  /// What `work` returns, or why it failed; empty where it was stopped: who stops it knows why there is no
  /// answer.
  template <class Work>
  QString attempt(const Work& work) {
    try {
      return work();
    } catch (const std::exception& failure) {
      return stopToken().stop_requested() ? QString() : QString::fromUtf8(failure.what());
    }
  }

  template <class Work>
  QString attemptInSession(const Work& work) {
    return attempt([&] {
      if (!m_session) return EngineHost::tr("The session that gave this answer has ended.");
      work();
      return QString();
    });
  }

  /// Carries something out on the window's thread; not at all if the window has gone by then.
  template <class Function>
  void tell(Function function) {
    QMetaObject::invokeMethod(&m_host, std::move(function), Qt::QueuedConnection);
  }

  void load(const document::RunSettings& settings, const std::stop_token& stop = {}) {
    document::RunSettings identity = workbench::modelIdentityOf(settings);
    if (m_bundle && m_loaded == identity) return;
    tell([this] { m_host.setState(EngineState::Loading); });
    const std::shared_ptr<void> atEnd(nullptr, [this](void*) { tell([this] { m_host.setActivity({}); }); });
    // The old one goes only when the new one is there.
    auto bundle = std::make_shared<workbench::ModelBundle>(loadBundle(settings, stop));
    closeSession();
    m_bundle = std::move(bundle);
    m_loaded = std::move(identity);

    LoadedModel model = loadedModelOf(m_bundle);
    tell([this, model = std::move(model)] {
      m_host.m_model = model;
      m_host.setState(EngineState::Idle);
      Q_EMIT m_host.modelChanged();
    });
  }

  workbench::ModelBundle loadBundle(const document::RunSettings& settings, const std::stop_token& stop) {
    const document::RunSettings identity = workbench::modelIdentityOf(settings);
    return workbench::loadModelBundle(identity.model, m_backends,
                                      {.threads = identity.threads,
                                       .device = identity.device,
                                       .exact = identity.exact,
                                       .session = workbench::sessionConfigOf(settings),
                                       .stop = stop,
                                       .progress = loadingProgress(identity.model)});
  }

  /// Tells the window now and then how much of a model has been read.
  std::function<void(std::size_t, std::size_t)> loadingProgress(const std::string& model) {
    const QString name = QString::fromStdString(std::filesystem::path(model).filename().string());
    auto last = std::chrono::steady_clock::time_point();
    return [this, name, last](std::size_t read, std::size_t all) mutable {
      const auto time = std::chrono::steady_clock::now();
      if (all == 0 || time - last < kProgressPause) return;
      last = time;
      const QString text = tr("Loading %1: %2 of %3 tensors (%4 %)")
                               .arg(name.isEmpty() ? tr("the model") : name)
                               .arg(read)
                               .arg(all)
                               .arg(100 * read / all);
      tell([this, text] { m_host.setActivity(text); });
    };
  }

  /// The session that a run with these settings goes on with; nullptr: it starts another.
  const run::Session* sessionFor(const document::RunSettings& settings) const {
    if (!m_session) return nullptr;
    try {
      return m_identity == workbench::sessionIdentityOf(settings) ? m_session.get() : nullptr;
    } catch (const Failure&) {
      return nullptr;
    }
  }

  void openSession(const document::RunSettings& settings) {
    load(settings, stopToken());
    document::RunSettings identity = workbench::sessionIdentityOf(settings);
    if (m_session && m_identity == identity) return;
    closeSession();
    m_identity = std::move(identity);
    m_recorder =
        std::make_shared<trace::Recorder>(trace::RecorderOptions{.session = ++m_sessions, .clock = {}});
    tell([this, recorder = m_recorder] {
      m_host.m_recorder = recorder;
      m_host.m_recording = false;
      Q_EMIT m_host.sessionStarted();
    });
    run::SessionConfig config = workbench::sessionConfigOf(settings);
    config.lastRun = m_lastRun;
    config.lastRequest = m_lastRequest;
    m_session = workbench::makeSession(*m_bundle, config, *m_recorder);
  }

  /// Has what a run left go to the span store, in turns with whatever else the thread is asked to do.
  void keepRest() {
    constexpr std::chrono::milliseconds kTurn{20};
    m_thread.post([this] {
      if (m_session && !m_session->keepFor(kTurn)) keepRest();
    });
  }

  void closeSession() {
    if (!m_session) return;
    m_session->finishKeeping(stopToken());
    m_lastRun = m_session->lastRun();
    m_lastRequest = m_session->lastRequest();
    m_session.reset();
  }

  std::stop_token stopToken() {
    const std::lock_guard lock(m_stopMutex);
    return m_stop.get_token();
  }

  /// Tells the window now and then how far an index is.
  retrieve::Watch watch() {
    auto last = std::chrono::steady_clock::time_point();
    return {.progress =
                [this, last](const retrieve::IndexProgress& now) mutable {
                  const auto time = std::chrono::steady_clock::now();
                  if (time - last < kProgressPause) return;
                  last = time;
                  tell([this, text = progressText(now)] { m_host.setActivity(text); });
                },
            .stop = stopToken()};
  }

  void measureHere(const std::vector<run::FinishedReply>& replies) {
    const experiment::FidelityModel model{
        .decoder = *m_bundle->decoder, .backend = *m_bundle->backend, .tokenizer = m_bundle->tokenizer.get()};
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const QString activity = replies.size() == 1
                                   ? tr("Measuring fidelity against a full prefill")
                                   : tr("Measuring fidelity: answer %1 of %2").arg(i + 1).arg(replies.size());
      tell([this, activity] { m_host.setActivity(activity); });
      const run::FinishedReply& reply = replies[i];
      m_recorder->send(reply.run, reply.request, reply.node,
                       experiment::measureFidelity(*m_session, model, reply, stopToken()));
    }
  }

  void experimentHere(const ExperimentRequest& request, ExperimentRun& run) {
    load(request.settings, stopToken());
    tell([this] { m_host.setState(EngineState::Running); });
    auto last = std::chrono::steady_clock::time_point();
    const std::vector<std::string> further = experiment::furtherModels(request.wish);
    // The window's model and its cache stay while others are measured.
    std::optional<workbench::ModelBundle> other;
    const auto modelOf = [&](std::size_t index) {
      document::RunSettings settings = request.settings;
      if (index > 0) {
        settings.model = further[index - 1];
        other.reset();
        other.emplace(loadBundle(settings, stopToken()));
      }
      return workbench::experimentModelOf(index == 0 ? *m_bundle : *other,
                                          workbench::sessionConfigOf(settings));
    };
    experiment::runOnModels(
        run.result, 1 + further.size(), modelOf,
        [&](const experiment::ExperimentResult&) {
          const auto now = std::chrono::steady_clock::now();
          if (now - last < kProgressPause) return;
          last = now;
          tellExperiment(run);
        },
        stopToken());
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

  void benchmarkHere(BenchmarkRequest& request, Benchmark& benchmark) {
    load(request.settings, stopToken());
    tell([this] { m_host.setState(EngineState::Running); });
    if (request.retrieval) {
      workbench::PipelineResult found = workbench::runPipeline(
          m_retrieval.input(*request.retrieval, m_bundle, watch()), workbench::Stage::Retrieve);
      if (!found.isReached()) {
        const bool isStopped = found.end == workbench::PipelineEnd::Stopped;
        benchmark.state = isStopped ? BenchmarkState::Stopped : BenchmarkState::Failed;
        benchmark.problem = firstProblem(found);
        return;
      }
      request.query = found.takeQuery();
    }
    runBenchmark(
        benchmark, request, *m_bundle, [this](const Benchmark& now) { tellBenchmark(now); }, stopToken());
  }

  /// Makes the plan of a request that retrieves. False if it was stopped; `error` says what was wrong.
  bool retrieveFor(RunRequest& request, run::RunOptions& options, QString& error) {
    RunPlan planned = planRun(m_retrieval.input(*request.retrieval, m_bundle, watch()));
    tell([this] { m_host.setActivity({}); });
    if (!planned.plan) {
      error = planned.problem;
      return false;
    }
    request.plan = std::move(*planned.plan);
    request.explain = std::move(planned.explain);
    request.queryJson = std::move(planned.queryJson);
    options.retrieved = workbench::retrievalReports(planned.made.retrieved, planned.made.diagnostics);
    return true;
  }

  QString runHere(RunRequest& request) {
    openSession(request.settings);
    m_session->countFrom(request.lastRun, request.lastRequest);
    tell([this] { m_host.setState(EngineState::Running); });
    run::RunOptions options = workbench::runOptionsOf(request.settings);
    QString problem;
    if (request.retrieval && !retrieveFor(request, options, problem)) return problem;
    options.emptyCache = [this] { return m_clearAsked.exchange(false); };
    options.queryJson = request.queryJson;
    options.explain = request.explain;
    options.attentionDetail = workbench::attentionDetailOf(request.settings.attention);
    options.observeRows = request.settings.observeRows;
    options.attentionBytes = std::uint64_t(request.settings.attentionMebibytes) << 20;
    if (request.settings.observe) options.observedLayers = observedLayers(request.settings);
    const run::RunResult result = m_session->run(request.plan, options, stopToken());
    return result.error ? QString::fromStdString(result.error->message()) : QString();
  }

  std::vector<std::int32_t> observedLayers(const document::RunSettings& settings) const {
    std::vector<std::int32_t> layers;
    for (const std::int32_t layer : settings.layers) {
      if (layer >= 0 && layer < m_bundle->config.layers) layers.push_back(layer);
    }
    if (settings.layers.empty()) {
      layers.resize(static_cast<std::size_t>(m_bundle->config.layers));
      std::iota(layers.begin(), layers.end(), 0);
    }
    return layers;
  }

  EngineHost& m_host;
  // Of the thread alone:
  std::shared_ptr<workbench::ModelBundle> m_bundle;
  document::RunSettings m_loaded;  ///< with which the bundle was loaded
  std::shared_ptr<trace::Recorder> m_recorder;
  std::unique_ptr<run::Session> m_session;
  document::RunSettings m_identity;  ///< of the session
  std::uint32_t m_sessions = 0;
  RunId m_lastRun = 0;  ///< of the sessions that have ended
  RequestId m_lastRequest = 0;
  Forecaster m_forecaster;
  const compute::Backends m_backends;
  RequestRetrieval m_retrieval{m_backends};

  std::stop_source m_forecastStop;  ///< of the window's thread
  std::atomic<bool> m_clearAsked = false;
  std::mutex m_stopMutex;
  std::stop_source m_stop;
  TaskThread m_thread;  ///< ends first: its tasks use everything above
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
  if (m_state == EngineState::Running) return false;
  setState(EngineState::Running);
  m_worker->run(std::move(request));
  return true;
}

bool EngineHost::replayAttention(run::AttentionReplayRequest request) {
  if (m_state == EngineState::Running) return false;
  setState(EngineState::Running);
  m_worker->replayAttention(std::move(request));
  return true;
}

bool EngineHost::measureFidelity(std::vector<run::FinishedReply> replies) {
  if (m_state == EngineState::Running) return false;
  setState(EngineState::Running);
  m_worker->measureFidelity(std::move(replies));
  return true;
}

bool EngineHost::benchmark(BenchmarkRequest request) {
  if (m_state == EngineState::Running) return false;
  setState(EngineState::Running);
  m_worker->benchmark(std::move(request));
  return true;
}

bool EngineHost::experiment(ExperimentRequest request) {
  if (m_state == EngineState::Running) return false;
  setState(EngineState::Running);
  m_worker->experiment(std::move(request));
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

void EngineHost::setState(EngineState state) {
  if (state == m_state) return;
  m_state = state;
  Q_EMIT stateChanged();
}

}  // namespace spanscope::ui
