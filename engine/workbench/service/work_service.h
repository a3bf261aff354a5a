// SPDX-License-Identifier: GPL-3.0-or-later
// The engine as a service on a thread of its own. Whoever has work submits it, and gets a handle that says
// how far the work is and can stop it. Runs go on beside each other over one scheduler and one pool. Any
// other kind of work is done by itself. The window is a client of the service.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/service/work.h"
#include "engine/workbench/service/workplace.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace spanscope::workbench {

/// Refers to a work that was submitted. Copies refer to the same work. Any thread may use a handle, even
/// after the service is gone.
class WorkHandle {
 public:
  WorkHandle() = default;  ///< refers to no work; its state is Stopped

  /// Stops the work. A work that waits or computes by itself ends within milliseconds. A run ends after the
  /// pass that it shares with other runs.
  void stop();
  WorkState state() const;
  /// Why the work failed; empty unless it failed.
  std::string problem() const;
  /// Waits until the work has ended and SubmitOptions::ended, if it is called, has returned.
  void wait() const;

 private:
  friend class WorkService;
  struct Shared;
  std::shared_ptr<Shared> m_shared;
};

struct SubmitOptions {
  /// Of the works that wait, those with a larger priority begin first; of equal ones, those that were
  /// submitted earlier. A work that can only begin when no run is in progress holds up the works behind it.
  /// run::RunOptions says the priority of a run's own passes.
  std::int32_t priority = 0;
  /// Called on the service's thread when the work has ended. Must not throw.
  std::function<void(WorkState state, const std::string& problem)> ended = {};
};

class WorkService {
 public:
  /// `watcher` must outlive the service.
  WorkService(compute::Backends backends, WorkplaceWatcher& watcher);
  /// Stops the works that are going on and drops those that wait. For a dropped work, `ended` is not called.
  ~WorkService();
  WorkService(const WorkService&) = delete;
  WorkService& operator=(const WorkService&) = delete;

  WorkHandle submit(std::shared_ptr<Work> work, SubmitOptions options = {});
  /// Empties the cache before anything begins that is submitted from now on. If runs are in progress, the
  /// cache is emptied before the next pass.
  void clearCache();

 private:
  struct Item;
  using Items = std::list<std::unique_ptr<Item>>;

  void serve();
  std::unique_ptr<Item> takeNext();
  bool mayRest() const;
  void begin(std::unique_ptr<Item> item);
  void advance();
  template <class Step>
  void carryOut(Item& item, const Step& step);
  static void end(Item& item, WorkState state, const std::string& problem);

  Workplace m_place;                              ///< used by the thread only, but for askToClear()
  std::map<RunId, std::unique_ptr<Item>> m_runs;  ///< runs in progress; used by the thread only
  bool m_isKept = true;                           ///< nothing is left to be kept; used by the thread only
  mutable std::mutex m_mutex;                     ///< guards all members that follow
  std::condition_variable m_wake;
  Items m_waiting;  ///< in the order in which they begin
  std::list<std::shared_ptr<WorkHandle::Shared>> m_working;
  bool m_isEnding = false;
  std::thread m_thread;
};

}  // namespace spanscope::workbench
