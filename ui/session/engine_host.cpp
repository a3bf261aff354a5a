// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/engine_host.h"

#include "engine/base/error.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "ui/words/part_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace spanscope::ui {

using workbench::FunctionJob;
using workbench::JobContext;
using workbench::JobHandle;
using workbench::JobState;
using workbench::Passing;

namespace {

constexpr std::chrono::seconds kFlushTime{1};

}  // namespace

struct EngineHost::Job {
  std::uint64_t id = 0;
  EngineJob asked;
  JobHandle handle;
  JobState state = JobState::Waiting;
  QString activity;
  bool isSeparate = false;  ///< a job of the separate engine
};

/// Connects two threads: the window submits jobs to the service. The thread of the service does the jobs and
/// posts their events to the window.
class EngineHost::Worker final : private workbench::JobContextWatcher {
 public:
  Worker(EngineHost& host, compute::Backends backends)
      : m_host(host), m_backends(backends), m_service(std::move(backends), *this) {}

  JobHandle submit(std::shared_ptr<workbench::Job> work, std::uint64_t job, bool isRemote) {
    workbench::JobService* service = &present();
    if (isRemote) {
      const auto own =
          m_remote.emplace(job, std::make_unique<workbench::JobService>(m_backends, m_unwatched));
      service = own.first->second.get();
    }
    return service->submit(std::move(work),
                           {.changed = [this, job](JobState state, const std::string& problem) {
                             report([this, job, state, text = QString::fromStdString(problem)] {
                               m_host.changeJob(job, state, text);
                             });
                           }});
  }

  /// Ends the job's own thread, if it has one.
  void end(std::uint64_t job) { m_remote.erase(job); }

  /// The service that does the jobs now. A separate service exists until endSeparate().
  workbench::JobService& present() { return m_separate ? m_separate->service : m_service; }

  void beginSeparate() { m_separate = std::make_unique<Separate>(*this, ++m_separates, m_backends); }
  /// Waits for the end of the job in progress.
  void endSeparate() { m_separate.reset(); }

  /// Runs a function of the host on the engine's thread.
  void submit(FunctionJob::Function function, Passing passing = Passing::Passes,
              workbench::JobChanged changed = {}) {
    present().submit(std::make_shared<FunctionJob>(std::move(function), passing),
                     {.changed = std::move(changed)});
  }
  /// Runs a function of the host on the thread of the usual engine.
  void submitUsual(FunctionJob::Function function) {
    m_service.submit(std::make_shared<FunctionJob>(std::move(function), Passing::Passes));
  }

  void clearCache() { present().clearCache(); }

  workbench::JobService& service() { return m_service; }

  QString startRecording(const QString& path, const QString& sideDirectory) {
    const std::lock_guard lock(m_sessionMutex);
    return m_host.m_recording.start(path, sideDirectory, m_session);
  }

  void setSessionListener(std::function<void(const std::shared_ptr<trace::Recorder>&)> listener) {
    const std::lock_guard lock(m_sessionMutex);
    m_sessionListener = std::move(listener);
  }

  /// Calls a function on the window's thread. Does nothing if the window no longer exists by then.
  template <class Function>
  void report(Function function) {
    QMetaObject::invokeMethod(&m_host, std::move(function), Qt::QueuedConnection);
  }

 private:
  void loadingBegins() override {
    m_pause.end();
    report([this] { m_host.showLoading(true, {}); });
  }

  void loadingEnds() override {
    report([this] { m_host.showLoading(false, {}); });
  }

  void loading(const std::string& model, std::size_t read, std::size_t all) override {
    if (all == 0 || !m_pause.isOver()) return;
    const QString name = QString::fromStdString(std::filesystem::path(model).filename().string());
    const QString text = tr("Loading %1: %2 of %3 tensors (%4)")
                             .arg(name.isEmpty() ? tr("the model") : name)
                             .arg(read)
                             .arg(all)
                             .arg(shareText(static_cast<std::int64_t>(read), static_cast<std::int64_t>(all)));
    report([this, text] { m_host.showLoading(m_host.m_isLoading, text); });
  }

  void modelLoaded(const std::shared_ptr<workbench::ModelBundle>& bundle) override {
    report([this, model = loadedModelOf(bundle)] {
      if (m_host.m_usual) {
        m_host.m_usual->model = model;
        return;
      }
      m_host.m_model = model;
      m_host.showLoading(false, {});
      Q_EMIT m_host.modelChanged();
    });
  }

  void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) override {
    {
      const std::lock_guard lock(m_sessionMutex);
      if (m_sessionListener) m_sessionListener(recorder);
      m_host.m_recording.end(m_session);
      m_host.m_recording.add(recorder);
      m_session = recorder;
    }
    report([this, recorder] {
      if (m_host.m_usual) {
        m_host.m_usual->recorder = recorder;
        m_host.m_usual->hasOtherSession = true;
      } else {
        m_host.startSession(recorder);
      }
    });
  }

  /// A separate engine. The host ignores what this engine reports after its end. A recording of the user does
  /// not contain its sessions.
  struct Separate final : private workbench::JobContextWatcher {
    Separate(Worker& its, std::uint32_t no, compute::Backends backends)
        : worker(its), number(no), service(std::move(backends), *this) {}

    template <class Function>
    void report(Function function) {
      worker.report([&from = worker, no = number, function = std::move(function)] {
        if (from.m_separate && from.m_separate->number == no) function(from.m_host);
      });
    }
    void loadingBegins() override {
      report([](EngineHost& host) { host.showLoading(true, {}); });
    }
    void loadingEnds() override {
      report([](EngineHost& host) { host.showLoading(false, {}); });
    }
    void modelLoaded(const std::shared_ptr<workbench::ModelBundle>& bundle) override {
      report([model = loadedModelOf(bundle)](EngineHost& host) {
        host.m_model = model;
        host.showLoading(false, {});
        Q_EMIT host.modelChanged();
      });
    }
    void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) override {
      report([recorder](EngineHost& host) { host.startSession(recorder); });
    }

    Worker& worker;
    const std::uint32_t number;
    workbench::JobService service;  ///< ends before the members above, which its thread uses
  };

  EngineHost& m_host;
  workbench::ProgressPause m_pause;  ///< used by the service's thread alone
  compute::Backends m_backends;
  std::mutex m_sessionMutex;
  std::function<void(const std::shared_ptr<trace::Recorder>&)> m_sessionListener;
  std::shared_ptr<trace::Recorder> m_session;  ///< the newest
  workbench::JobContextWatcher m_unwatched;
  workbench::JobService m_service;  ///< ends before the members above, which its thread uses
  std::uint32_t m_separates = 0;    ///< number of separate engines so far
  std::unique_ptr<Separate> m_separate;
  /// The services of jobs on servers. These services end before m_service, because they submit jobs to
  /// m_service.
  std::map<std::uint64_t, std::unique_ptr<workbench::JobService>> m_remote;
};

EngineHost::EngineHost(compute::Backends backends, QObject* parent)
    : QObject(parent), m_worker(std::make_unique<Worker>(*this, std::move(backends))) {
  m_flushRecording.setInterval(kFlushTime);
  connect(&m_flushRecording, &QTimer::timeout, this, [this] {
    if (!m_recording.flush()) Q_EMIT recordingFailed();
  });
}

EngineHost::~EngineHost() {
  stopAll();
}

bool EngineHost::submit(EngineJob asked) {
  if (!asked.givesWay && jobOf(asked.tab, asked.measures) != nullptr) return false;
  for (const auto& job : m_jobs) {
    if (asked.isRemote) break;
    if (job->asked.givesWay && (!asked.givesWay || job->asked.aside == asked.aside)) job->handle.stop();
  }
  auto job = std::make_unique<Job>();
  job->id = ++m_lastJob;
  job->isSeparate = isSeparate();
  job->asked = std::move(asked);
  job->handle = m_worker->submit(job->asked.work, job->id, job->asked.isRemote);
  m_jobs.push_back(std::move(job));
  showState();
  return true;
}

JobSubmitter EngineHost::submitter() {
  return [service = &m_worker->present()](std::shared_ptr<workbench::Job> work) {
    return service->submit(std::move(work));
  };
}

workbench::JobService& EngineHost::service() {
  return m_worker->service();
}

void EngineHost::setSessionListener(
    std::function<void(const std::shared_ptr<trace::Recorder>& recorder)> listener) {
  m_worker->setSessionListener(std::move(listener));
}

void EngineHost::stop(std::uint32_t tab) {
  if (Job* const job = jobOf(tab, false)) job->handle.stop();
}

void EngineHost::stopMeasuring(std::uint32_t tab) {
  if (Job* const job = jobOf(tab, true)) job->handle.stop();
}

void EngineHost::stopAll() {
  for (const auto& job : m_jobs) job->handle.stop();
}

EngineHost::Job* EngineHost::jobOf(std::uint32_t tab, bool measures) const {
  const auto found = std::find_if(m_jobs.begin(), m_jobs.end(), [tab, measures](const auto& job) {
    return job->asked.tab == tab && job->asked.measures == measures && !job->asked.givesWay;
  });
  return found == m_jobs.end() ? nullptr : found->get();
}

bool EngineHost::isBusy(std::uint32_t tab) const {
  return jobOf(tab, false) != nullptr;
}

bool EngineHost::isMeasuring(std::uint32_t tab) const {
  return jobOf(tab, true) != nullptr;
}

bool EngineHost::isBusy() const {
  return std::any_of(m_jobs.begin(), m_jobs.end(), [](const auto& job) { return !job->asked.givesWay; });
}

QString EngineHost::activity(std::uint32_t tab) const {
  const Job* job = jobOf(tab, false);
  if (job == nullptr) job = jobOf(tab, true);
  if (job == nullptr) job = jobOf(EngineJob::kProgram, true);
  if (job == nullptr) return isBusy() ? QString() : m_loading;
  if (job->state != JobState::Waiting) return m_loading.isEmpty() ? job->activity : m_loading;
  return waitingText(*job);
}

QString EngineHost::waitingText(const Job& job) const {
  const Job* measuring = nullptr;
  bool isAlone = true;
  for (const auto& other : m_jobs) {
    if (other.get() == &job || other->asked.givesWay || other->asked.isRemote) continue;
    isAlone = false;
    if (other->asked.measures && other->state == JobState::Working) measuring = other.get();
  }
  if (isAlone) return m_loading;
  if (measuring == nullptr || !job.asked.work->canPass())
    return tr(/*id:waiting-until-other*/ "Waiting for other jobs");
  return measuring->asked.tab == EngineJob::kProgram
             ? tr(/*id:waits-experiment-step*/ "Waiting for the next step of the experiment")
             : tr(/*id:waits-next-step*/ "Waiting for the next step of a measurement");
}

void EngineHost::changeJob(std::uint64_t id, JobState state, const QString& problem) {
  const auto found =
      std::find_if(m_jobs.begin(), m_jobs.end(), [id](const auto& job) { return job->id == id; });
  if (found == m_jobs.end()) return;
  Job& job = **found;
  job.state = state;
  // The engine marks its texts about jobs for translation in this context.
  const QString text =
      problem.isEmpty() ? problem : QCoreApplication::translate("Jobs", problem.toUtf8().constData());
  if (!workbench::hasEnded(state)) {
    // The model that was loaded besides the job is now in memory.
    if (!m_isLoading) m_loading.clear();
    if (job.asked.activity) job.activity = job.asked.activity();
    Q_EMIT stateChanged();
    if (job.asked.changed) job.asked.changed(state, {});
    return;
  }
  const std::unique_ptr<Job> ended = std::move(*found);
  m_jobs.erase(found);
  if (ended->asked.isRemote) m_worker->end(id);
  if (!isBusy() && !m_isLoading) m_loading.clear();
  showState();
  Q_EMIT stateChanged();
  if (ended->asked.changed) ended->asked.changed(state, text);
  if (!ended->asked.givesWay) Q_EMIT jobEnded(ended->asked.showsProblem ? QString() : text, ended->asked.tab);
}

void EngineHost::showLoading(bool isLoading, const QString& text) {
  m_isLoading = isLoading;
  if (text != m_loading) {
    m_loading = text;
    Q_EMIT stateChanged();
  }
  showState();
}

void EngineHost::showState() {
  const EngineState now = m_isLoading ? EngineState::Loading
                          : isBusy()  ? EngineState::Running
                                      : EngineState::Idle;
  if (now == m_state) return;
  m_state = now;
  Q_EMIT stateChanged();
}

void EngineHost::prepare(const workbench::RunSettings& settings) {
  m_worker->submit(
      [settings](JobContext& place, const std::stop_token& stop) { place.modelFor(settings, stop); },
      Passing::Waits,
      [this](JobState state, const std::string& problem) {
        if (state != JobState::Failed) return;
        m_worker->report([this, text = QString::fromStdString(problem)] { Q_EMIT preparingFailed(text); });
      });
}

void EngineHost::findDevices() {
  m_worker->submitUsual([this](JobContext& place, const std::stop_token&) {
    auto found = std::make_shared<const std::vector<compute::Device>>(place.backends().devices());
    m_worker->report([this, found = std::move(found)] {
      m_devices = found;
      Q_EMIT devicesFound();
    });
  });
}

void EngineHost::readTokenizer(const std::string& directory) {
  m_worker->submitUsual([this, directory](JobContext&, const std::stop_token&) {
    // If reading fails, a run reports the error of the checkpoint.
    const std::shared_ptr<const text::Tokenizer> tokenizer = text::loadTokenizer(directory);
    m_worker->report([this, directory, tokenizer] { Q_EMIT tokenizerRead(directory, tokenizer); });
  });
}

void EngineHost::setIndexFile(const QString& path) {
  m_worker->submitUsual([path = path.toStdString()](JobContext& place, const std::stop_token&) {
    place.retrieval().setIndexFile(path);
  });
}

void EngineHost::clearCache() {
  m_worker->clearCache();
  Q_EMIT cacheCleared();
}

void EngineHost::startSession(const std::shared_ptr<trace::Recorder>& recorder) {
  if (m_recorder) Q_EMIT sessionEnds();
  m_recorder = recorder;
  Q_EMIT sessionStarted();
}

void EngineHost::beginSeparate() {
  m_usual = Usual{.recorder = std::move(m_recorder), .model = m_model, .hasOtherSession = false};
  m_recorder = nullptr;
  m_worker->beginSeparate();
}

bool EngineHost::endSeparate() {
  for (const auto& job : m_jobs) {
    if (!job->isSeparate) continue;
    job->handle.stop();
    // The thread of a job on servers may still submit jobs to the separate engine.
    if (job->asked.isRemote) m_worker->end(job->id);
  }
  m_worker->endSeparate();
  const Usual usual = *std::exchange(m_usual, std::nullopt);
  m_recorder = usual.recorder;
  m_model = usual.model;
  showLoading(false, {});
  Q_EMIT modelChanged();
  return !usual.hasOtherSession;
}

void EngineHost::countFrom(RunId lastRun, RequestId lastRequest) {
  m_worker->submitUsual([lastRun, lastRequest](JobContext& place, const std::stop_token&) {
    place.countFrom(lastRun, lastRequest);
  });
}

void EngineHost::drain(std::vector<trace::Event>& into) {
  if (m_recorder) m_recorder->drain(into);
}

QString EngineHost::startRecording(const QString& path, const QString& sideDirectory) {
  const QString problem = m_worker->startRecording(path, sideDirectory);
  if (problem.isEmpty()) m_flushRecording.start();
  Q_EMIT recordingChanged();
  return problem;
}

QString EngineHost::finishRecording() {
  m_flushRecording.stop();
  const QString problem = m_recording.finish();
  Q_EMIT recordingChanged();
  return problem;
}

}  // namespace spanscope::ui
