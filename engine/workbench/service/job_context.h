// SPDX-License-Identifier: GPL-3.0-or-later
// The place where works are done: one model, and one session on it with its cache. Both stay from work to
// work.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backends.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/request_retrieval.h"
#include "engine/workbench/settings.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::workbench {

/// Is told on the service's thread what happens at a workplace.
class JobContextWatcher {
 public:
  virtual ~JobContextWatcher() = default;
  JobContextWatcher() = default;
  JobContextWatcher(const JobContextWatcher&) = delete;
  JobContextWatcher& operator=(const JobContextWatcher&) = delete;

  /// A model begins to be loaded.
  virtual void loadingBegins() {}
  /// So many of the model's tensors have been read; `model`: its directory.
  virtual void loading(const std::string& model, std::size_t read, std::size_t all) {
    static_cast<void>(model), static_cast<void>(read), static_cast<void>(all);
  }
  /// The model is there, or could not be loaded.
  virtual void loadingEnds() {}
  virtual void modelLoaded(const std::shared_ptr<ModelBundle>& model) { static_cast<void>(model); }
  /// A new session opens; its events go to this recorder.
  virtual void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) { static_cast<void>(recorder); }
};

/// What a client says itself of model and session, in place of what settings say.
struct OwnModel {
  std::shared_ptr<ModelBundle> model;         ///< of all works; not null
  run::SessionConfig session;                 ///< of all sessions
  std::shared_ptr<trace::Recorder> recorder;  ///< of the session; not null
  RunSettings settings;                       ///< that the model was loaded by
  /// Loads another model of settings beside it. Throws Failure.
  std::function<ModelBundle(const RunSettings& settings)> loadBeside;  ///< may be empty
};

/// It is used by one thread; askToClear() alone may be called by others.
class JobContext {
 public:
  /// `watcher` must outlive the workplace.
  JobContext(compute::Backends backends, JobContextWatcher& watcher);
  /// One model and one session, whatever settings say.
  JobContext(compute::Backends backends, JobContextWatcher& watcher, OwnModel own);
  ~JobContext();
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;

  const compute::Backends& backends() const { return m_backends; }

  /// The model of the settings, with all its weights taken over, so that times of passes compare. Where
  /// another one is loaded, it is replaced: that one and its session go only when the new one is there.
  /// Throws Failure, also on a stop.
  ModelBundle& modelFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// The model that is loaded; null: none is.
  const std::shared_ptr<ModelBundle>& model() const { return m_model; }
  /// The model that is loaded, if it is the one of the settings; else null.
  ModelBundle* loadedModelFor(const RunSettings& settings) const;
  /// Loads another model beside it. Throws as modelFor().
  ModelBundle loadBeside(const RunSettings& settings, const std::stop_token& stop = {});
  /// Loads the model that is loaded a second time, to compute in f32. Nothing where it computes so itself, or
  /// where the client's own cannot be loaded. Throws as modelFor().
  std::optional<ModelBundle> loadExactBeside(const std::stop_token& stop = {});

  /// How sessions of the settings are opened.
  run::SessionConfig configFor(const RunSettings& settings) const;
  /// The session of the settings. Where the settings of model or cache are not those of the open session,
  /// that one is closed and another opened, with an empty cache and a new recorder; then no run may be in
  /// progress. Throws as modelFor().
  run::Session& sessionFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// The session that is open, if it is the one of the settings; else null.
  run::Session* openSessionFor(const RunSettings& settings) const;
  /// The session that is open. Throws Failure where there is none.
  run::Session& openSession() const;
  /// The session that is open, if this run was one of its runs. Else throws a std::runtime_error: a sentence
  /// for people, marked for translation in the context "Works".
  run::Session& sessionOf(RunId run) const;
  /// The recorder of the session that was opened last; null: none was.
  const std::shared_ptr<trace::Recorder>& recorder() const { return m_recorder; }
  /// The same, and before the first session the one that this session will have: the trace then begins with
  /// what was measured before it. Never null.
  const std::shared_ptr<trace::Recorder>& traceRecorder();

  /// What works retrieve with.
  RequestRetrieval& retrieval() { return m_retrieval; }

  /// In sessions that are opened from now on, the numbers of runs and requests go on from these.
  void countFrom(RunId lastRun, RequestId lastRequest);

  /// Asks for the cache to be emptied: the runs in progress do it, or else clearIfAsked(). On any thread.
  void askToClear() { m_isToBeCleared = true; }
  /// Whether it was asked for and nobody has done it yet.
  bool isToBeCleared() const { return m_isToBeCleared; }
  /// Whether somebody has asked since the last call.
  bool takeClearing() { return m_isToBeCleared.exchange(false); }
  void clearIfAsked();

  /// For about so long, does what can wait for a pause: takes over borrowed weights, and writes what the
  /// session's runs left to its span store. True: there is nothing left to do.
  bool tidyFor(std::chrono::milliseconds most);

 private:
  ModelBundle load(const RunSettings& settings, bool borrow, const std::stop_token& stop);
  /// The same as modelFor(), but weights may still be borrowed.
  ModelBundle& haveModel(const RunSettings& settings, const std::stop_token& stop);
  bool ownFor(std::chrono::milliseconds most);
  /// A new recorder, for the session that opens.
  void openTrace();
  void closeSession(const std::stop_token& stop);

  const compute::Backends m_backends;
  JobContextWatcher& m_watcher;
  const std::optional<OwnModel> m_own;
  RequestRetrieval m_retrieval;
  std::shared_ptr<ModelBundle> m_model;
  RunSettings m_modelIdentity;  ///< the settings with which it was loaded
  std::shared_ptr<trace::Recorder> m_recorder;
  bool m_hasTraceOnly = false;  ///< the recorder waits for its session
  std::unique_ptr<run::Session> m_session;
  RunSettings m_sessionIdentity;
  std::uint32_t m_sessions = 0;
  RunId m_lastRun = 0;  ///< the last run of the sessions that have ended
  RequestId m_lastRequest = 0;
  std::atomic<bool> m_isToBeCleared = false;
};

}  // namespace spanscope::workbench
