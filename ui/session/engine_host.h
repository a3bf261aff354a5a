// SPDX-License-Identifier: GPL-3.0-or-later
// The embedded engine on a thread of its own: loads models, keeps one session with its cache from run to run,
// and hands its events over. The engine never waits for the window, nor the window for the engine.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backends.h"
#include "engine/plan/plan.h"
#include "engine/run/finished_reply.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/document/document.h"
#include "ui/session/forecaster.h"
#include "ui/session/loaded_model.h"
#include "ui/session/request_retrieval.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {
struct AttentionReplayRequest;
struct FinishedReply;
}  // namespace spanscope::run

namespace spanscope::workbench {
class Work;
}

namespace spanscope::ui {

struct Benchmark;
struct BenchmarkRequest;
struct ExperimentRequest;
struct ExperimentRun;

/// Everything a run needs, as values.
struct RunRequest {
  document::RunSettings settings;
  /// Where there is one, plan, queryJson and explain are made from it on the engine's thread.
  std::optional<RetrievalRequest> retrieval;
  plan::Plan plan;
  std::string queryJson;  ///< canonical, for the trace
  std::string explain;    ///< for the trace
  /// Numbers that the run and its requests are to be larger than.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

enum class EngineState {
  Idle,
  Loading,  ///< a model is being read
  Running,
};

class EngineHost : public QObject {
  Q_OBJECT
 public:
  /// `backends`: those that models are loaded on.
  explicit EngineHost(compute::Backends backends, QObject* parent = nullptr);
  ~EngineHost() override;  ///< stops a run that is going on

  /// Loads a model ahead of the first run, so that tokens can be counted.
  void prepare(const document::RunSettings& settings);
  /// Runs a plan, after it was made where there is something to retrieve. Settings of model or cache that
  /// differ from the session's start a new session, with an empty cache and a new trace. False: something is
  /// running already.
  bool run(RunRequest request);
  /// Replays a reply of the session that is open (Session::replayAttention in engine/run/session.h): its
  /// events are drained like those of a run, and attentionReplayed() says when. It is stopped like a run.
  /// False: something is running already.
  bool replayAttention(run::AttentionReplayRequest request);
  /// Measures how close replies of the session that is open are to a full prefill, one after the other
  /// (engine/experiment/fidelity.h): its events are drained like those of a run, and fidelityMeasured() says
  /// when. It is stopped like a run. False: something is running already.
  bool measureFidelity(std::vector<run::FinishedReply> replies);
  /// Measures, on the model of the request, which is loaded if it is not yet, and in a session of its own:
  /// the one that is open keeps its cache and its trace. benchmarkChanged() says how far it is, and at last
  /// how it ended. It is stopped like a run. False: something is running already.
  bool benchmark(BenchmarkRequest request);
  /// Carries an experiment out, on the model of the request and in sessions of its own, as benchmark() does;
  /// experimentChanged() says how far it is. It is stopped like a run. False: something is running already.
  bool experiment(ExperimentRequest request);
  /// Has any other kind of work done as a run is: what is forecast gives way to it, and it is stopped like a
  /// run. `answer` is called on this thread when it has ended, with why it failed or nothing. False, and it
  /// is not: something is running already.
  bool carryOut(std::shared_ptr<workbench::Work> work, std::function<void(const QString& error)> answer);
  /// Ends the run that is going on within a tile's time.
  void stop();
  void clearCache();
  /// Numbers of runs and requests go on from these in the sessions that begin from now on.
  void countFrom(RunId lastRun, RequestId lastRequest);
  /// Looks which devices there are; devicesFound() answers. A card takes a while to open.
  void findDevices();
  /// Reads the tokenizer of a checkpoint that need not be loaded; tokenizerRead() answers, unless there is
  /// none.
  void readTokenizer(const std::string& directory);

  /// Says what a run would find, by forecastMade(). Gives way at once to what is asked later: another
  /// forecast or a run takes its place, and it is not answered.
  void forecast(ForecastRequest request);
  /// Keeps what is indexed for retrieval in a file from the next run on; empty: in memory.
  void setIndexFile(const QString& path);

  /// What the engine's thread does, for people to see.
  EngineState state() const { return m_state; }
  /// Whether something goes on that a person asked for and can stop, a model that is loaded for it included;
  /// nothing else is begun meanwhile.
  bool isBusy() const { return m_isBusy; }
  /// What a run is busy with before it starts to compute, "Indexing: 20 of 1000 documents", or what is
  /// computed again after it; else empty.
  const QString& activity() const { return m_activity; }
  const LoadedModel& model() const { return m_model; }  ///< no name: none is loaded
  /// Of all kinds, those that cannot be used included; null: they were not found yet.
  const std::shared_ptr<const std::vector<compute::Device>>& devices() const { return m_devices; }

  /// Appends the events that have waited to `into`. To be called 30 to 60 times a second.
  void drain(std::vector<trace::Event>& into);

  /// Records events into a file from here on. What was wrong, or an empty text.
  QString startRecording(const QString& path);
  QString finishRecording();
  bool isRecording() const { return m_recording; }

 Q_SIGNALS:
  /// A new session begins: events drained from now on are those of a new trace.
  void sessionStarted();
  void stateChanged();
  void modelChanged();
  void devicesFound();
  void tokenizerRead(const std::string& directory,
                     const std::shared_ptr<const spanscope::text::Tokenizer>& tokenizer);
  /// The run that was asked for last has ended; all of its events can be drained. `error` is empty unless it
  /// could not be started or failed.
  void runEnded(const QString& error);
  /// The replay that was asked for has ended; `error` is empty unless there is no session or it failed; so it
  /// is where it was stopped.
  void attentionReplayed(const QString& error);
  /// All that was asked for was measured, or nothing after what could not be; `error` as in
  /// attentionReplayed().
  void fidelityMeasured(const QString& error);
  void benchmarkChanged(const std::shared_ptr<const spanscope::ui::Benchmark>& benchmark);
  void experimentChanged(const std::shared_ptr<const spanscope::ui::ExperimentRun>& run);
  void forecastMade(const std::shared_ptr<const spanscope::ui::Forecast>& forecast);
  /// The cache will have been emptied before anything that is asked from now on.
  void cacheCleared();

 private:
  class Worker;

  void setState(EngineState state);
  bool beginWork();
  void endWork();
  void endLoading();
  void setActivity(const QString& activity);

  std::unique_ptr<Worker> m_worker;
  std::shared_ptr<trace::Recorder> m_recorder;  ///< of the session whose events are drained
  EngineState m_state = EngineState::Idle;
  LoadedModel m_model;
  std::shared_ptr<const std::vector<compute::Device>> m_devices;
  QString m_activity;
  bool m_isBusy = false;
  bool m_recording = false;
};

}  // namespace spanscope::ui
