// SPDX-License-Identifier: GPL-3.0-or-later
// The place where works are done: one model, and one session on it with its cache. Both stay from work to
// work.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backends.h"
#include "engine/run/session.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/settings.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace spanscope::workbench {

/// Receives what happens at a workplace. All functions are called on the service's thread.
class WorkplaceWatcher {
 public:
  virtual ~WorkplaceWatcher() = default;
  WorkplaceWatcher() = default;
  WorkplaceWatcher(const WorkplaceWatcher&) = delete;
  WorkplaceWatcher& operator=(const WorkplaceWatcher&) = delete;

  /// A model begins to be loaded from its directory.
  virtual void loadingBegins() {}
  /// `read` of `all` tensors of the model have been read.
  virtual void loading(const std::string& model, std::size_t read, std::size_t all) {
    static_cast<void>(model), static_cast<void>(read), static_cast<void>(all);
  }
  /// The model is there, or it could not be loaded.
  virtual void loadingEnds() {}
  virtual void modelLoaded(const std::shared_ptr<ModelBundle>& model) { static_cast<void>(model); }
  /// A session opens. Its events, from now on, go to `recorder`.
  virtual void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) { static_cast<void>(recorder); }
};

/// May be used by one thread only, except for askToClear().
class Workplace {
 public:
  /// `watcher` must outlive the workplace.
  Workplace(compute::Backends backends, WorkplaceWatcher& watcher);
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const compute::Backends& backends() const { return m_backends; }

  /// The model of the settings. If another model is loaded, it is replaced: the old model and its session go
  /// only when the new model is there. Throws Failure, also on a stop.
  ModelBundle& modelFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// Null if no model is loaded.
  const std::shared_ptr<ModelBundle>& model() const { return m_model; }
  /// Loads another model beside the present one. Throws as modelFor() does.
  ModelBundle loadBeside(const RunSettings& settings, const std::stop_token& stop = {});

  /// The session of the settings. If the open session has another model or other settings of the cache, it is
  /// closed, and a new session is opened with an empty cache and a new recorder. Must not be called while a
  /// run is in progress in another session. Throws as modelFor() does.
  run::Session& sessionFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// The open session, if it is the session of the settings; else null.
  run::Session* openSessionFor(const RunSettings& settings) const;
  /// The open session. Throws Failure if there is none.
  run::Session& openSession() const;
  /// Whether a session is open.
  bool hasSession() const { return m_session != nullptr; }
  /// Recorder of the session that was opened last; null before the first one.
  const std::shared_ptr<trace::Recorder>& recorder() const { return m_recorder; }

  /// In sessions that are opened from now on, the numbers of runs and requests go on from these.
  void countFrom(RunId lastRun, RequestId lastRequest);

  /// Asks to have the cache emptied, by the runs in progress or else by clearIfAsked(). Any thread may call
  /// it.
  void askToClear() { m_isToBeCleared = true; }
  /// Whether somebody has asked since the last call.
  bool takeClearing() { return m_isToBeCleared.exchange(false); }
  void clearIfAsked();

  /// Moves what the session's runs left to the span store, for at most this long. Returns true when nothing
  /// is left to do.
  bool keepFor(std::chrono::milliseconds most);

 private:
  void closeSession(const std::stop_token& stop);

  const compute::Backends m_backends;
  WorkplaceWatcher& m_watcher;
  std::shared_ptr<ModelBundle> m_model;
  RunSettings m_modelIdentity;  ///< the settings with which it was loaded
  std::shared_ptr<trace::Recorder> m_recorder;
  std::unique_ptr<run::Session> m_session;
  RunSettings m_sessionIdentity;
  std::uint32_t m_sessions = 0;
  RunId m_lastRun = 0;  ///< the last run of the sessions that have ended
  RequestId m_lastRequest = 0;
  std::atomic<bool> m_isToBeCleared = false;
};

}  // namespace spanscope::workbench
