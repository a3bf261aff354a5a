// SPDX-License-Identifier: GPL-3.0-or-later
// The embedded engine as the window has it: works are submitted and followed by their tab, and the events of
// the session that is open are handed over. The engine, on a thread of its own, never waits for the window,
// nor the window for the engine. What kinds of work there are is not known here.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backends.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/settings.h"
#include "ui/session/job_submitter.h"
#include "ui/session/loaded_model.h"
#include "ui/session/session_recording.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::ui {

enum class EngineState {
  Idle,
  Loading,  ///< a model is being read
  Running,
};

/// A work, and how the window follows it.
struct EngineJob {
  std::shared_ptr<workbench::Job> work;
  /// The tab that asks for it; a tab has one job at a time, and one that measures beside it. kProgram: it
  /// belongs to no tab.
  std::uint32_t tab = kProgram;
  /// What the work does now, in words for people. Asked whenever it is further; may be empty.
  std::function<QString()> activity{};
  /// Called when the work begins, whenever it is further, and when it has ended; `problem` says why it
  /// failed, in words for people, and is empty otherwise: who stops it knows why there is no result. May be
  /// empty.
  std::function<void(workbench::JobState state, const QString& problem)> changed{};
  /// It measures in pieces, and runs pass between two of them: an experiment, which is the program's, or a
  /// measurement of a tab.
  bool measures = false;
  /// It is nothing that a person waits for: it is stopped when any other job is submitted.
  bool givesWay = false;
  /// Of jobs that give way, a new one takes the place of those with the same number.
  std::uint32_t aside = 0;
  /// Servers do it: it is done on a thread of its own, beside all others, and waits for none.
  bool isRemote = false;
  /// Who asks for it shows why it failed, and nobody else need be told.
  bool showsProblem = false;

  static constexpr std::uint32_t kProgram = 0;
};

/// Everything is called on the window's thread, and so is what it calls.
class EngineHost : public QObject {
  Q_OBJECT
 public:
  /// `backends`: those that models are loaded on.
  explicit EngineHost(compute::Backends backends, QObject* parent = nullptr);
  ~EngineHost() override;  ///< stops all works

  /// Has a work done, beside others where they are runs in the same session, else when its turn comes. False,
  /// and it is not: its tab has such a job that has not ended.
  bool submit(EngineJob job);
  /// Has works done by the engine that belong to jobs: what a step of theirs needs. Works on any thread, as
  /// long as such a job goes on.
  JobSubmitter submitter();
  /// The service that does the engine's works, for clients of their own, such as a server; they must let go
  /// of it before the host ends. Any thread may use it.
  workbench::JobService& service();
  /// Has `listener` called on the engine's thread for the recorder of every session that opens, before its
  /// first event; an empty one listens no more, and is not being called when this returns.
  void setSessionListener(std::function<void(const std::shared_ptr<trace::Recorder>& recorder)> listener);
  /// Ends the job of a tab that does not measure, if it has one: at once where it waits.
  void stop(std::uint32_t tab);
  /// The same of the job that measures.
  void stopMeasuring(std::uint32_t tab);
  void stopAll();

  /// Whether a job of the tab that does not measure has not ended, a model that is loaded for it included.
  bool isBusy(std::uint32_t tab) const;
  /// The same of a job that measures.
  bool isMeasuring(std::uint32_t tab) const;
  /// Whether any job that a person asked for has not ended.
  bool isBusy() const;
  /// What the job of a tab is busy with: that it waits, what is loaded for it, or what it says itself; where
  /// the tab has none, the same of its job that measures, or else of the program's. Empty: there is nothing
  /// to say.
  QString activity(std::uint32_t tab) const;

  /// What the engine's thread does, for people to see.
  EngineState state() const { return m_state; }
  const LoadedModel& model() const { return m_model; }  ///< no name: none is loaded
  /// Of all kinds, those that cannot be used included; null: they were not found yet.
  const std::shared_ptr<const std::vector<compute::Device>>& devices() const { return m_devices; }

  /// Loads a model ahead of the first run, so that tokens can be counted.
  void prepare(const workbench::RunSettings& settings);
  /// Looks which devices there are; devicesFound() answers. A card takes a while to open.
  void findDevices();
  /// Reads the tokenizer of a checkpoint that need not be loaded; tokenizerRead() answers, unless there is
  /// none.
  void readTokenizer(const std::string& directory);
  void clearCache();
  /// In sessions that begin from now on, the numbers of runs and requests go on from these.
  void countFrom(RunId lastRun, RequestId lastRequest);
  /// Keeps what is indexed for retrieval in a file from the next work on; empty: in memory.
  void setIndexFile(const QString& path);

  /// Appends the events that have waited to `into`. To be called 30 to 60 times a second.
  void drain(std::vector<trace::Event>& into);

  /// Records events into a file from here on, or from the first run on. Side files of the recording are
  /// written in `sideDirectory`. Returns what was wrong, or an empty text.
  QString startRecording(const QString& path, const QString& sideDirectory);
  QString finishRecording();
  SessionRecording& recording() { return m_recording; }

 Q_SIGNALS:
  /// Another session is about to begin: what waits of the one before can still be drained.
  void sessionEnds();
  /// A new session begins: events drained from now on are those of a new trace.
  void sessionStarted();
  void stateChanged();
  void recordingChanged();  ///< whether something is recorded
  void recordingFailed();   ///< a file cannot be written any more; finishRecording() says why
  void modelChanged();
  void devicesFound();
  void tokenizerRead(const std::string& directory,
                     const std::shared_ptr<const spanscope::text::Tokenizer>& tokenizer);
  /// A job that a person asked for has ended; all of its events can be drained. `problem`: as in EngineJob,
  /// but empty where the job shows it.
  void jobEnded(const QString& problem, std::uint32_t tab);
  /// A model could not be loaded ahead.
  void preparingFailed(const QString& problem);
  /// The cache will have been emptied before anything that is submitted from now on.
  void cacheCleared();

 private:
  class Worker;
  struct Job;

  void changeJob(std::uint64_t id, workbench::JobState state, const QString& problem);
  Job* jobOf(std::uint32_t tab, bool measures) const;
  QString waitingText(const Job& job) const;
  void showLoading(bool isLoading, const QString& text);
  void showState();

  std::list<std::unique_ptr<Job>> m_jobs;  ///< that have not ended, in the order in which they came
  std::uint64_t m_lastJob = 0;
  std::shared_ptr<trace::Recorder> m_recorder;  ///< of the session whose events are drained
  EngineState m_state = EngineState::Idle;
  LoadedModel m_model;
  std::shared_ptr<const std::vector<compute::Device>> m_devices;
  bool m_isLoading = false;
  QString m_loading;  ///< how far the model is that is being loaded
  SessionRecording m_recording;
  QTimer m_flushRecording;           ///< runs while something is recorded
  std::unique_ptr<Worker> m_worker;  ///< ends first: its thread posts to the rest
};

}  // namespace spanscope::ui
