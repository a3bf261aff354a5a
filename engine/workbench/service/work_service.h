// SPDX-License-Identifier: GPL-3.0-or-later
// The engine as a service, on a thread of its own: whoever has work submits it, and has a handle that says
// how far it is and stops it. Runs go on beside each other over one scheduler and one pool; any other kind of
// work is done by itself. The window is its client.
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

/// Of a work that was submitted. Copies are of the same one; any thread may use them, also when the service
/// has gone.
class WorkHandle {
 public:
  WorkHandle() = default;  ///< of none, which is stopped

  /// Ends it within milliseconds where it waits or computes by itself, and else behind the pass that it
  /// shares with other runs.
  void stop();
  WorkState state() const;
  /// Why it failed; empty unless it did.
  std::string problem() const;
  /// Until it has ended, whatever its end is told to included.
  void wait() const;

 private:
  friend class WorkService;
  struct Shared;
  std::shared_ptr<Shared> m_shared;
};

struct SubmitOptions {
  /// Of works that wait, those with a larger one begin first, of equal ones those that came earlier. One that
  /// begins when no run is in progress holds up what would begin after it. What a run's own passes do is said
  /// by run::RunOptions.
  std::int32_t priority = 0;
  /// Called on the service's thread when it has ended; must not throw.
  std::function<void(WorkState state, const std::string& problem)> ended = {};
};

class WorkService {
 public:
  /// The watcher must outlive it.
  WorkService(compute::Backends backends, WorkplaceWatcher& watcher);
  /// Stops what is going on and drops what waits: of that nobody is told.
  ~WorkService();
  WorkService(const WorkService&) = delete;
  WorkService& operator=(const WorkService&) = delete;

  WorkHandle submit(std::shared_ptr<Work> work, SubmitOptions options = {});
  /// Empties the cache before anything that is submitted from now on begins; before the next pass, where runs
  /// are in progress.
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

  Workplace m_place;                              ///< of the thread
  std::map<RunId, std::unique_ptr<Item>> m_runs;  ///< in progress; of the thread
  bool m_isKept = true;                           ///< nothing is left to be kept; of the thread
  mutable std::mutex m_mutex;                     ///< of all that follows
  std::condition_variable m_wake;
  Items m_waiting;  ///< in the order in which they begin
  std::list<std::shared_ptr<WorkHandle::Shared>> m_working;
  bool m_isEnding = false;
  std::thread m_thread;
};

}  // namespace spanscope::workbench
