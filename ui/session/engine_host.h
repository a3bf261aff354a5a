// SPDX-License-Identifier: GPL-3.0-or-later
// The embedded engine, as the window uses it. A tab submits and follows jobs, and the window gets the events
// of the open session. The engine has its own thread; engine and window never wait for each other. This file
// does not know the kinds of jobs.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backends.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/settings.h"
#include "ui/session/model_choices.h"
#include "ui/session/run_request.h"
#include "ui/session/session_recording.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

enum class EngineState {
  Idle,
  Loading,  ///< a model is being read
  Running,
};

/// A job, and the functions with which the window follows the job.
struct EngineJob {
  std::shared_ptr<workbench::Job> work;
  /// The tab of the job. A tab can have one measuring job and one other job. kProgram: the job belongs to no
  /// tab.
  std::uint32_t tab = kProgram;
  /// Describes what the job does now, for the user. Called after each progress; may be empty.
  std::function<QString()> activity{};
  /// Called at the start of the job, after each progress and at the end; may be empty. `problem` is the
  /// reason of a failure, for the user, and is empty otherwise.
  std::function<void(workbench::JobState state, const QString& problem)> changed{};
  /// Whether the job measures in steps. Runs can start between two steps. Such a job is an experiment of the
  /// program or a measurement of a tab.
  bool measures = false;
  /// Whether the user does not wait for the job. Another job stops such a job, unless the other job also
  /// gives way or runs on servers.
  bool givesWay = false;
  /// A job that gives way stops earlier jobs with the same number.
  std::uint32_t aside = 0;
  /// Whether servers do the job. Such a job has its own thread and waits for no other job.
  bool isRemote = false;
  /// Whether the tab shows the reason of a failure. EngineHost::jobEnded() then reports no problem.
  bool showsProblem = false;

  static constexpr std::uint32_t kProgram = 0;
};

/// Call all functions on the window's thread, unless a comment says otherwise. Callbacks run on the same
/// thread.
class EngineHost : public QObject {
  Q_OBJECT
 public:
  /// Models are loaded on `backends`.
  explicit EngineHost(compute::Backends backends, QObject* parent = nullptr);
  ~EngineHost() override;  ///< stops all jobs

  /// Queues a job. Runs of one session execute concurrently; other jobs wait for their turn. Returns false if
  /// the tab already has a job of this kind (measuring or not). A job that gives way is always accepted.
  bool submit(EngineJob job);
  /// Returns a function that submits jobs for the steps of another job. Any thread may call the returned
  /// function while that job is in progress.
  JobSubmitter submitter();
  /// The service that does the engine's jobs, for other clients such as a server. Clients must release the
  /// service before the host is destroyed. Any thread may use the service.
  workbench::JobService& service();
  /// Sets a listener that gets the recorder of every new session, before the first event of the session. The
  /// engine's thread calls the listener. An empty function removes the listener. After this call has
  /// returned, the previous listener is not running.
  void setSessionListener(std::function<void(const std::shared_ptr<trace::Recorder>& recorder)> listener);
  /// Stops the tab's job that does not measure, if there is one. A waiting job ends immediately.
  void stop(std::uint32_t tab);
  /// Stops the tab's job that measures, in the same way.
  void stopMeasuring(std::uint32_t tab);
  void stopAll();

  /// Whether the tab has a job that does not measure and has not ended. Loading its model is part of the job.
  bool isBusy(std::uint32_t tab) const;
  /// Whether the tab has a job that measures and has not ended.
  bool isMeasuring(std::uint32_t tab) const;
  /// Whether there is a job that has not ended and does not give way.
  bool isBusy() const;
  /// Describes the job of a tab: waiting, loading the model, or the job's own activity. Without such a job,
  /// describes the measuring job of the tab, else of the program. Empty: there is no job.
  QString activity(std::uint32_t tab) const;

  /// The state of the engine's thread, for the user.
  EngineState state() const { return m_state; }
  const LoadedModel& model() const { return m_model; }  ///< without a name if no model is loaded.
  /// Devices of all kinds, including unusable ones; null: not known yet.
  const std::shared_ptr<const std::vector<compute::Device>>& devices() const { return m_devices; }

  /// Loads a model before the first run, so that tokens can be counted.
  void prepare(const workbench::RunSettings& settings);
  /// Finds the devices; devicesFound() follows. Opening a GPU takes a while.
  void findDevices();
  /// Reads the tokenizer of a checkpoint, which does not have to be loaded. If this succeeds, tokenizerRead()
  /// follows.
  void readTokenizer(const std::string& directory);
  void clearCache();
  /// Starts a separate engine, with its own model in memory and an empty cache. This engine does the jobs
  /// that are submitted from now on. Earlier jobs continue in the usual engine, which keeps its cache. Call
  /// this function only while isSeparate() is false.
  void beginSeparate();
  /// Stops the jobs of the separate engine, and deletes this engine. The usual engine continues with its
  /// cache and its session. Returns false if the usual engine has begun another session in the meantime.
  bool endSeparate();
  bool isSeparate() const { return m_usual.has_value(); }
  /// Sets the last numbers of runs and requests. Sessions that begin later continue after these numbers.
  void countFrom(RunId lastRun, RequestId lastRequest);
  /// Keeps the index for retrieval in a file, from the next job on; empty: in memory.
  void setIndexFile(const QString& path);

  /// Appends the waiting events to `into`. Call this function 30 to 60 times a second.
  void drain(std::vector<trace::Event>& into);

  /// Records events into a file from now on, or from the start of the first session. Side files of the
  /// recording are written in `sideDirectory`. Returns the problem, or an empty text.
  QString startRecording(const QString& path, const QString& sideDirectory);
  QString finishRecording();
  SessionRecording& recording() { return m_recording; }

 Q_SIGNALS:
  /// Another session is about to begin. The waiting events of the previous session can still be drained.
  void sessionEnds();
  /// A new session begins. Events drained from now on belong to a new trace.
  void sessionStarted();
  void stateChanged();
  void recordingChanged();  ///< whether something is recorded
  void recordingFailed();   ///< a file cannot be written any more; finishRecording() returns the reason
  void modelChanged();
  void devicesFound();
  void tokenizerRead(const std::string& directory,
                     const std::shared_ptr<const spanscope::text::Tokenizer>& tokenizer);
  /// A job that does not give way has ended, and all of its events can be drained. `problem` is as in
  /// EngineJob::changed, but empty if EngineJob::showsProblem is set.
  void jobEnded(const QString& problem, std::uint32_t tab);
  /// A model could not be loaded before the first run.
  void preparingFailed(const QString& problem);
  /// The cache is emptied before any job that is submitted from now on.
  void cacheCleared();

 private:
  class Worker;
  struct Job;
  /// The state of the usual engine while a separate engine does the jobs.
  struct Usual {
    std::shared_ptr<trace::Recorder> recorder;
    LoadedModel model;
    bool hasOtherSession = false;  ///< the usual engine has begun another session
  };

  void changeJob(std::uint64_t id, workbench::JobState state, const QString& problem);
  Job* jobOf(std::uint32_t tab, bool measures) const;
  QString waitingText(const Job& job) const;
  /// Drains the events of this recorder from now on.
  void startSession(const std::shared_ptr<trace::Recorder>& recorder);
  void showLoading(bool isLoading, const QString& text);
  void showState();

  std::list<std::unique_ptr<Job>> m_jobs;  ///< jobs that have not ended, in the order of submission
  std::uint64_t m_lastJob = 0;
  std::shared_ptr<trace::Recorder> m_recorder;  ///< of the session whose events are drained
  EngineState m_state = EngineState::Idle;
  LoadedModel m_model;
  std::optional<Usual> m_usual;  ///< nothing: the usual engine does the jobs
  std::shared_ptr<const std::vector<compute::Device>> m_devices;
  bool m_isLoading = false;
  QString m_loading;  ///< progress of the loading model
  SessionRecording m_recording;
  QTimer m_flushRecording;           ///< runs while something is recorded
  std::unique_ptr<Worker> m_worker;  ///< ends first, because its thread posts to the other members
};

}  // namespace spanscope::ui
