// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/job_service.h"

#include "engine/run/session.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace spanscope::workbench {
namespace {

/// Clears the cache, unless the runs in progress clear it before their next forward pass.
class ClearWork final : public Job {
 public:
  Begun begin(JobContext& place, const std::stop_token& /*stop*/) override {
    place.clearIfAsked();
    return Begun::Done;
  }
  bool canBeginBeside(const JobContext& place) const override { return !place.isToBeCleared(); }
  // A run between two steps of a measurement gets a cleared cache if clearing was requested earlier.
  bool canPass() const override { return true; }
};

}  // namespace

struct JobHandle::Shared {
  std::stop_source stop;
  std::weak_ptr<JobService::Queue> queue;
  mutable std::mutex mutex;
  mutable std::condition_variable hasEnded;
  JobState state = JobState::Waiting;
  std::string problem;
  std::exception_ptr failure;  ///< null unless the job has failed
  bool isOver = false;         ///< the job has ended and its client was notified

  void set(JobState to) {
    const std::lock_guard lock(mutex);
    state = to;
  }
};

struct JobService::Item {
  std::shared_ptr<Job> job;
  SubmitOptions options;
  std::shared_ptr<JobHandle::Shared> shared = std::make_shared<JobHandle::Shared>();
  bool emptiesCache = false;  ///< no later job may start before this job

  void report(JobState state, const std::string& problem = {}) const {
    if (options.changed) options.changed(state, problem);
  }
};

/// The state that the service shares with its handles. Handles outlive the service.
struct JobService::Queue {
  std::mutex mutex;  ///< guards all members below
  std::condition_variable wake;
  Items waiting;  ///< in the order of their start
  std::list<std::shared_ptr<JobHandle::Shared>> working;
  bool isEnding = false;

  /// Inserts an item before the items of smaller priority. If such an item clears the cache, it moves before
  /// the new item. `mutex` must be locked.
  void add(std::unique_ptr<Item> item) {
    auto place = std::ranges::find_if(
        waiting, [&item](const auto& other) { return other->options.priority < item->options.priority; });
    for (auto next = place; next != waiting.end();) {
      const auto each = next++;
      if (!(*each)->emptiesCache) continue;
      (*each)->options.priority = item->options.priority;
      if (each == place)
        place = next;
      else
        waiting.splice(place, waiting, each);
    }
    waiting.insert(place, std::move(item));
  }

  std::unique_ptr<Item> take(const JobHandle::Shared& shared) {
    const std::lock_guard lock(mutex);
    const auto found =
        std::ranges::find_if(waiting, [&shared](const auto& item) { return item->shared.get() == &shared; });
    if (found == waiting.end()) return nullptr;
    std::unique_ptr<Item> item = std::move(*found);
    waiting.erase(found);
    return item;
  }
};

void JobHandle::stop() {
  if (!m_shared) return;
  m_shared->stop.request_stop();
  const std::shared_ptr<JobService::Queue> queue = m_shared->queue.lock();
  if (!queue) return;
  if (const std::unique_ptr<JobService::Item> item = queue->take(*m_shared))
    JobService::end(*item, JobState::Stopped);
  // Later jobs may be able to begin now.
  queue->wake.notify_all();
}

JobState JobHandle::state() const {
  if (!m_shared) return JobState::Stopped;
  const std::lock_guard lock(m_shared->mutex);
  return m_shared->state;
}

std::string JobHandle::problem() const {
  if (!m_shared) return {};
  const std::lock_guard lock(m_shared->mutex);
  return m_shared->problem;
}

void JobHandle::wait() const {
  if (!m_shared) return;
  std::unique_lock lock(m_shared->mutex);
  m_shared->hasEnded.wait(lock, [this] { return m_shared->isOver; });
}

bool JobHandle::waitFor(std::chrono::milliseconds most) const {
  if (!m_shared) return true;
  std::unique_lock lock(m_shared->mutex);
  return m_shared->hasEnded.wait_for(lock, most, [this] { return m_shared->isOver; });
}

void JobHandle::rethrow() const {
  if (!m_shared) return;
  std::unique_lock lock(m_shared->mutex);
  if (const std::exception_ptr failure = m_shared->failure) std::rethrow_exception(failure);
}

JobService::JobService(compute::Backends backends, JobContextWatcher& watcher)
    : m_place(std::move(backends), watcher),
      m_queue(std::make_shared<Queue>()),
      m_thread([this] { serve(); }) {}

JobService::JobService(compute::Backends backends, JobContextWatcher& watcher, OwnModel own)
    : m_place(std::move(backends), watcher, std::move(own)),
      m_queue(std::make_shared<Queue>()),
      m_thread([this] { serve(); }) {}

JobService::~JobService() {
  Items dropped;
  {
    const std::lock_guard lock(m_queue->mutex);
    m_queue->isEnding = true;
    dropped.swap(m_queue->waiting);
    for (const auto& working : m_queue->working) working->stop.request_stop();
  }
  m_queue->wake.notify_all();
  m_thread.join();
  for (const auto& item : dropped) {
    item->options.changed = nullptr;
    end(*item, JobState::Stopped);
  }
}

JobHandle JobService::submit(std::shared_ptr<Job> job, SubmitOptions options) {
  auto item = std::make_unique<Item>();
  item->job = std::move(job);
  item->options = std::move(options);
  item->shared->queue = m_queue;
  if (item->options.changed) {
    item->job->m_progressed = [changed = item->options.changed] { changed(JobState::Working, {}); };
  }
  JobHandle handle;
  handle.m_shared = item->shared;
  {
    const std::lock_guard lock(m_queue->mutex);
    m_queue->add(std::move(item));
  }
  m_queue->wake.notify_all();
  return handle;
}

void JobService::clearCache() {
  m_place.askToClear();
  auto item = std::make_unique<Item>();
  item->job = std::make_shared<ClearWork>();
  item->emptiesCache = true;
  {
    const std::lock_guard lock(m_queue->mutex);
    m_queue->add(std::move(item));
  }
  m_queue->wake.notify_all();
}

/// Returns the next job that may begin now, if there is one.
std::unique_ptr<JobService::Item> JobService::takeNext() {
  const std::lock_guard lock(m_queue->mutex);
  if (m_queue->waiting.empty()) return nullptr;
  const bool mayBegin = m_goingOn.empty() || m_queue->waiting.front()->job->canBeginBeside(m_place);
  return mayBegin ? take(m_queue->waiting.begin()) : nullptr;
}

/// Returns the first job with canPass(), if this job may begin now.
std::unique_ptr<JobService::Item> JobService::takePassing() {
  const std::lock_guard lock(m_queue->mutex);
  const auto first =
      std::ranges::find_if(m_queue->waiting, [](const auto& item) { return item->job->canPass(); });
  if (first == m_queue->waiting.end()) return nullptr;
  const bool mayBegin = m_goingOn.empty() || (*first)->job->canBeginBeside(m_place);
  return mayBegin ? take(first) : nullptr;
}

/// The mutex of the queue must be locked.
std::unique_ptr<JobService::Item> JobService::take(Items::iterator item) {
  std::unique_ptr<Item> taken = std::move(*item);
  m_queue->waiting.erase(item);
  m_queue->working.push_back(taken->shared);
  return taken;
}

/// Runs the jobs with canPass() until no such job waits or continues. A stopped job does not wait for these
/// jobs. These jobs continue when the stopped job has ended.
void JobService::letPass(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (std::unique_ptr<Item> item = takePassing())
      begin(std::move(item));
    else if (!m_goingOn.empty())
      advance();
    else
      return;
  }
}

void JobService::serve() {
  constexpr std::chrono::milliseconds kTurn{20};
  while (true) {
    {
      std::unique_lock lock(m_queue->mutex);
      m_queue->wake.wait(lock, [this] {
        return m_queue->isEnding || !m_queue->waiting.empty() || !m_goingOn.empty() || !m_isTidy;
      });
      if (m_queue->isEnding && m_goingOn.empty()) return;
    }
    if (std::unique_ptr<Item> item = takeNext()) {
      begin(std::move(item));
    } else if (!m_goingOn.empty()) {
      advance();
    } else {
      // Tasks of idle moments alternate with other jobs.
      m_isTidy = m_place.tidyFor(kTurn);
    }
  }
}

/// Runs a part of a job. If this part throws, the job has ended.
template <class Step>
void JobService::carryOut(Item& item, const Step& step) {
  try {
    step();
  } catch (const std::exception& failure) {
    if (item.shared->stop.stop_requested())
      end(item, JobState::Stopped);
    else
      end(item, JobState::Failed, failure.what(), std::current_exception());
  }
}

void JobService::begin(std::unique_ptr<Item> item) {
  m_isTidy = false;
  const std::stop_token stop = item->shared->stop.get_token();
  carryOut(*item, [&] {
    Begun begun = Begun::Done;
    if (!stop.stop_requested()) {
      item->shared->set(JobState::Working);
      item->report(JobState::Working);
      item->job->m_passing = [this, &stop] { letPass(stop); };
      const std::shared_ptr<void> atEnd(nullptr, [&item](void*) { item->job->m_passing = nullptr; });
      begun = item->job->begin(m_place, stop);
    }
    if (begun == Begun::GoesOn) {
      m_goingOn.push_back(std::move(item));
    } else {
      end(*item, stop.stop_requested() ? JobState::Stopped : JobState::Finished);
    }
  });
  const std::lock_guard lock(m_queue->mutex);
  m_queue->working.remove_if([](const auto& working) {
    const std::lock_guard shared(working->mutex);
    return working->isOver;
  });
}

void JobService::advance() {
  run::Session& session = m_place.openSession();
  session.advance();
  for (auto next = m_goingOn.begin(); next != m_goingOn.end();) {
    const auto place = next++;
    bool hasEnded = true;
    carryOut(**place, [&] {
      Item& item = **place;
      hasEnded = item.job->hasEnded(session);
      if (hasEnded) end(item, item.job->wasStopped() ? JobState::Stopped : JobState::Finished);
    });
    if (!hasEnded) continue;
    m_goingOn.erase(place);
    m_isTidy = false;
  }
}

void JobService::end(Item& item, JobState state, const std::string& problem, std::exception_ptr failure) {
  {
    const std::lock_guard lock(item.shared->mutex);
    item.shared->state = state;
    item.shared->problem = problem;
    item.shared->failure = std::move(failure);
  }
  item.report(state, problem);
  // The notified client may keep the job.
  item.job->m_progressed = nullptr;
  const std::lock_guard lock(item.shared->mutex);
  item.shared->isOver = true;
  item.shared->hasEnded.notify_all();
}

}  // namespace spanscope::workbench
