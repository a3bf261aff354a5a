// SPDX-License-Identifier: GPL-3.0-or-later
// The context of jobs: one model, and one session of this model with its cache. Model and session stay from
// job to job.
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

/// Gets the events of a job context, on the service's thread.
class JobContextWatcher {
 public:
  virtual ~JobContextWatcher() = default;
  JobContextWatcher() = default;
  JobContextWatcher(const JobContextWatcher&) = delete;
  JobContextWatcher& operator=(const JobContextWatcher&) = delete;

  /// The loading of a model begins.
  virtual void loadingBegins() {}
  /// `read` of `all` tensors of the model have been read. `model`: its directory.
  virtual void loading(const std::string& model, std::size_t read, std::size_t all) {
    static_cast<void>(model), static_cast<void>(read), static_cast<void>(all);
  }
  /// The model is loaded, or could not be loaded.
  virtual void loadingEnds() {}
  virtual void modelLoaded(const std::shared_ptr<ModelBundle>& model) { static_cast<void>(model); }
  /// A new session opens; its events go to this recorder.
  virtual void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) { static_cast<void>(recorder); }
};

/// A client's own model and session, in place of those of the settings.
struct OwnModel {
  std::shared_ptr<ModelBundle> model;         ///< of all jobs; not null
  run::SessionConfig session;                 ///< of all sessions
  std::shared_ptr<trace::Recorder> recorder;  ///< of the session; not null
  RunSettings settings;                       ///< with which the model was loaded
  /// Loads the model of other settings in addition. Throws Failure.
  std::function<ModelBundle(const RunSettings& settings)> loadBeside;  ///< may be empty
};

/// Holds the model and the session of jobs. One thread uses a context. Other threads may call only
/// askToClear().
class JobContext {
 public:
  /// `watcher` must outlive this object.
  JobContext(compute::Backends backends, JobContextWatcher& watcher);
  /// Uses the client's own model and one session for all settings.
  JobContext(compute::Backends backends, JobContextWatcher& watcher, OwnModel own);
  ~JobContext();
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;

  const compute::Backends& backends() const { return m_backends; }

  /// The model of the settings. The model then borrows no weights, so that times of forward passes are
  /// comparable. The model replaces another loaded model. The other model and its session stay until the new
  /// model is loaded. Throws Failure, also when loading is stopped.
  ModelBundle& modelFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// The loaded model; null: none is loaded.
  const std::shared_ptr<ModelBundle>& model() const { return m_model; }
  /// The loaded model, if it is the model of the settings; else null.
  ModelBundle* loadedModelFor(const RunSettings& settings) const;
  /// Loads another model in addition. Throws as modelFor().
  ModelBundle loadBeside(const RunSettings& settings, const std::stop_token& stop = {});
  /// Loads the current model a second time, to compute in f32. Nothing: the current model already computes in
  /// f32, or the client's own model cannot be loaded. Throws as modelFor().
  std::optional<ModelBundle> loadExactBeside(const std::stop_token& stop = {});

  /// The configuration of sessions with these settings.
  run::SessionConfig configFor(const RunSettings& settings) const;
  /// The session of the settings. If the open session has other settings of model or cache, it is closed. A
  /// new session then opens with an empty cache and a new recorder. No run may be in progress then. Throws as
  /// modelFor().
  run::Session& sessionFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// The open session, if it is the session of the settings; else null.
  run::Session* openSessionFor(const RunSettings& settings) const;
  /// The open session. Throws Failure if there is none.
  run::Session& openSession() const;
  /// The open session, if this run was one of its runs. Otherwise throws a std::runtime_error: a sentence for
  /// the user, marked for translation in the context "Works".
  run::Session& sessionOf(RunId run) const;
  /// The recorder of the session that was opened last; null: none was opened.
  const std::shared_ptr<trace::Recorder>& recorder() const { return m_recorder; }
  /// The recorder of the last or next session; never null. Before the first session, returns the recorder of
  /// the first session. The trace of this session then begins with the earlier measurements.
  const std::shared_ptr<trace::Recorder>& traceRecorder();

  /// The retrieval of jobs.
  RequestRetrieval& retrieval() { return m_retrieval; }

  /// The numbers of runs and requests in later sessions continue after these.
  void countFrom(RunId lastRun, RequestId lastRequest);

  /// Requests to clear the cache. The runs in progress clear the cache, or otherwise clearIfAsked(). Any
  /// thread may call this function.
  void askToClear() { m_isToBeCleared = true; }
  /// Whether the cache is still to be cleared after a request.
  bool isToBeCleared() const { return m_isToBeCleared; }
  /// Whether there was a request to clear the cache since the last call.
  bool takeClearing() { return m_isToBeCleared.exchange(false); }
  void clearIfAsked();

  /// Does tasks of idle moments, for about this long. These tasks copy borrowed weights, and write the blocks
  /// of the session's runs to its span store. True: no task is left.
  bool tidyFor(std::chrono::milliseconds most);

 private:
  ModelBundle load(const RunSettings& settings, bool borrow, const std::stop_token& stop);
  /// Like modelFor(), but weights may still be borrowed.
  ModelBundle& haveModel(const RunSettings& settings, const std::stop_token& stop);
  bool ownFor(std::chrono::milliseconds most);
  /// Makes a new recorder, for the new session.
  void openTrace();
  void closeSession(const std::stop_token& stop);

  const compute::Backends m_backends;
  JobContextWatcher& m_watcher;
  const std::optional<OwnModel> m_own;
  RequestRetrieval m_retrieval;
  std::shared_ptr<ModelBundle> m_model;
  RunSettings m_modelIdentity;  ///< the settings with which the model was loaded
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
