// SPDX-License-Identifier: GPL-3.0-or-later
// The engine as a service, on its own thread. A client submits a job and gets a handle, which reports the
// state of the job and can stop it. Runs and replays execute concurrently with one scheduler and one pool.
// Any other job is done alone. A measurement runs in several steps. No other job runs during such a step.
// Waiting runs and replays start between two steps of a measurement. The window and the command line are
// clients.
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

/// The handle of a submitted job. Copies are handles of the same job. Any thread may use a handle, also after
/// the end of the service.
class JobHandle {
 public:
  JobHandle() = default;  ///< the handle of no job; its state is Stopped

  /// Stops the job. A waiting job ends immediately. A job that computes alone ends within milliseconds. A run
  /// that shares forward passes with others ends after the current forward pass.
  void stop();
  JobState state() const;
  /// Why the job failed; empty unless it failed.
  std::string problem() const;
  /// Waits until the job has ended and its client has been notified.
  void wait() const;
  /// Whether the job ends within this time.
  bool waitFor(std::chrono::milliseconds most) const;
  /// Throws the exception of the job, if the job has failed.
  void rethrow() const;

 private:
  friend class JobService;
  struct Shared;
  std::shared_ptr<Shared> m_shared;
};

/// The state of a job, and why the job failed; empty unless it failed.
using JobChanged = std::function<void(JobState state, const std::string& problem)>;

struct SubmitOptions {
  /// Waiting jobs with a larger priority begin first. If priorities are equal, the earlier job begins first.
  /// Some jobs wait until no other job of the session runs. Such a job delays all later jobs, except jobs
  /// with Job::canPass(). The value run::RunOptions::priority sets the order in which forward passes serve
  /// the requests of runs.
  std::int32_t priority = 0;
  /// Called when the job begins, after progress, and when it has ended. The function must not throw. The
  /// service's thread calls the function. If a waiting job is stopped, the stopping thread calls the
  /// function.
  JobChanged changed = {};
};

class JobService {
 public:
  /// The watcher must outlive the service. `own`: as in JobContext.
  JobService(compute::Backends backends, JobContextWatcher& watcher);
  JobService(compute::Backends backends, JobContextWatcher& watcher, OwnModel own);
  /// Stops the jobs in progress and drops the waiting jobs. SubmitOptions::changed is not called for dropped
  /// jobs.
  ~JobService();
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  JobHandle submit(std::shared_ptr<Job> job, SubmitOptions options = {});
  /// Clears the cache before the start of any later job, whatever its priority. If a later job starts before
  /// a waiting job, the waiting job also gets the empty cache. If runs are in progress, the cache is cleared
  /// before their next forward pass, and no job is delayed.
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

  JobContext m_place;  ///< only the service thread uses this context
  Items m_goingOn;     ///< running jobs of the session, by start time; only the service thread uses this list
  bool m_isTidy = true;  ///< no task waits for an idle moment; only the service thread uses this flag
  std::shared_ptr<Queue> m_queue;
  std::thread m_thread;
};

}  // namespace spanscope::workbench
