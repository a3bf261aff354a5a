// SPDX-License-Identifier: GPL-3.0-or-later
// Where works are done: one model, and one session on it with its cache, which stay from work to work.
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

/// Is told what happens at a workplace, on the service's thread.
class WorkplaceWatcher {
 public:
  virtual ~WorkplaceWatcher() = default;
  WorkplaceWatcher() = default;
  WorkplaceWatcher(const WorkplaceWatcher&) = delete;
  WorkplaceWatcher& operator=(const WorkplaceWatcher&) = delete;

  /// The model of a directory begins to be loaded.
  virtual void loadingBegins() {}
  /// So many of its tensors have been read.
  virtual void loading(const std::string& model, std::size_t read, std::size_t all) {
    static_cast<void>(model), static_cast<void>(read), static_cast<void>(all);
  }
  /// It is there, or could not be loaded.
  virtual void loadingEnds() {}
  virtual void modelLoaded(const std::shared_ptr<ModelBundle>& model) { static_cast<void>(model); }
  /// Events from now on are those of a new session.
  virtual void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) { static_cast<void>(recorder); }
};

/// Of one thread, but for askToClear().
class Workplace {
 public:
  /// The watcher must outlive it.
  Workplace(compute::Backends backends, WorkplaceWatcher& watcher);
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const compute::Backends& backends() const { return m_backends; }

  /// The model of the settings, which is loaded in place of the one before where it is another. That one, and
  /// its session, go only when the new one is there. Throws Failure, on a stop as well.
  ModelBundle& modelFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// Null: none is loaded.
  const std::shared_ptr<ModelBundle>& model() const { return m_model; }
  /// Another one beside it. Throws as modelFor().
  ModelBundle loadBeside(const RunSettings& settings, const std::stop_token& stop = {});

  /// The session of the settings; where model or cache differ, the one before is closed and another opened,
  /// with an empty cache and a new recorder. Not while a run is in progress in another. Throws as modelFor().
  run::Session& sessionFor(const RunSettings& settings, const std::stop_token& stop = {});
  /// The one that is open, if it is that of the settings; else null.
  run::Session* openSessionFor(const RunSettings& settings) const;
  /// The one that is open. Throws Failure where there is none.
  run::Session& openSession() const;
  /// Whether one is.
  bool hasSession() const { return m_session != nullptr; }
  /// Of the session that was opened last; null before that.
  const std::shared_ptr<trace::Recorder>& recorder() const { return m_recorder; }

  /// Numbers of runs and requests go on from these in the sessions that are opened from now on.
  void countFrom(RunId lastRun, RequestId lastRequest);

  /// From any thread: the cache is to be emptied, by the runs in progress or else by clearIfAsked().
  void askToClear() { m_isToBeCleared = true; }
  /// True once for each time somebody asked.
  bool takeClearing() { return m_isToBeCleared.exchange(false); }
  void clearIfAsked();

  /// Has what the session's runs left go to its span store for so long. True: there is nothing left to do.
  bool keepFor(std::chrono::milliseconds most);

 private:
  void closeSession(const std::stop_token& stop);

  const compute::Backends m_backends;
  WorkplaceWatcher& m_watcher;
  std::shared_ptr<ModelBundle> m_model;
  RunSettings m_modelIdentity;  ///< with which it was loaded
  std::shared_ptr<trace::Recorder> m_recorder;
  std::unique_ptr<run::Session> m_session;
  RunSettings m_sessionIdentity;
  std::uint32_t m_sessions = 0;
  RunId m_lastRun = 0;  ///< of the sessions that have ended
  RequestId m_lastRequest = 0;
  std::atomic<bool> m_isToBeCleared = false;
};

}  // namespace spanscope::workbench
