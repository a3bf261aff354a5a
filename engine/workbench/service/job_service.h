// SPDX-License-Identifier: GPL-3.0-or-later
// The engine as a service, on a thread of its own. Whoever has work submits it and gets a handle, which says
// how far the work is and stops it. Runs and replays go on beside each other over one scheduler and one pool;
// any other kind of work is done alone. One that measures is done in pieces, with nothing beside a piece;
// runs and replays that wait pass between two of them. The window and the command line are clients.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace spanscope::workbench {

/// The handle of a work that was submitted. Copies are handles of the same work. Any thread may use them,
/// also when the service has gone.
class JobHandle {
 public:
  JobHandle() = default;  ///< the handle of no work; its state is Stopped

  /// A work that waits ends at once, one that computes alone within milliseconds, and a run that shares
  /// passes with others behind the pass that goes on.
  void stop();
  JobState state() const;
  /// Why the work failed; empty unless it failed.
  std::string problem() const;
  /// Waits until the work has ended and its client has been told.
  void wait() const;
  /// Whether it ends within so long.
  bool waitFor(std::chrono::milliseconds most) const;
  /// Throws what the work threw, if it has failed.
  void rethrow() const;

 private:
  friend class JobService;
  struct Shared;
  std::shared_ptr<Shared> m_shared;
};

/// A state of a work, and why the work failed; empty unless it did.
using JobChanged = std::function<void(JobState state, const std::string& problem)>;

struct SubmitOptions {
  /// Of works that wait, those with a larger priority begin first; of equal ones, those that came earlier. A
  /// work that must wait until nothing goes on in the session holds up those behind it, but not those that
  /// pass between two pieces of the work that goes on (Job::canPass()). In which order the
  /// passes serve the requests of runs is said by run::RunOptions::priority.
  std::int32_t priority = 0;
  /// Called when the work begins, whenever it is further, and when it has ended. It must not throw. It is
  /// called on the service's thread; where the work is stopped while it waits, on the thread that stops it.
  JobChanged changed = {};
};

class JobService {
 public:
  /// The watcher must outlive the service. `own`: as JobContext has it.
  JobService(compute::Backends backends, JobContextWatcher& watcher);
  JobService(compute::Backends backends, JobContextWatcher& watcher, OwnModel own);
  /// Stops the works that go on and drops those that wait, without a call of SubmitOptions::changed for
  /// these.
  ~JobService();
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  JobHandle submit(std::shared_ptr<Job> job, SubmitOptions options = {});
  /// Empties the cache before any work begins that is submitted from now on, whatever its priority. A work
  /// that waits and is overtaken by such a one finds it emptied, too. Where runs are in progress, it is
  /// emptied before their next pass, and holds nobody up.
  void clearCache();

 private:
  friend class JobHandle;
  struct Item;
  struct Queue;
  using Items = std::list<std::unique_ptr<Item>>;

  void serve();
  std::unique_ptr<Item> takeNext();
  std::unique_ptr<Item> takePassing();
  std::unique_ptr<Item> take(Items::iterator item);
  void letPass(const std::stop_token& stop);
  void begin(std::unique_ptr<Item> item);
  void advance();
  template <class Step>
  void carryOut(Item& item, const Step& step);
  static void end(Item& item, JobState state, const std::string& problem = {},
                  std::exception_ptr failure = nullptr);

  JobContext m_place;    ///< of the thread
  Items m_goingOn;       ///< in the session, as they began; of the thread
  bool m_isTidy = true;  ///< nothing is left that waits for a pause; of the thread
  std::shared_ptr<Queue> m_queue;
  std::thread m_thread;
};

}  // namespace spanscope::workbench
