// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/work_service.h"

#include "engine/run/session.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace spanscope::workbench {

struct WorkHandle::Shared {
  std::stop_source stop;
  mutable std::mutex mutex;
  mutable std::condition_variable hasEnded;
  WorkState state = WorkState::Waiting;
  std::string problem;
  bool isOver = false;  ///< and everybody has been told

  void set(WorkState to) {
    const std::lock_guard lock(mutex);
    state = to;
  }
};

void WorkHandle::stop() {
  if (m_shared) m_shared->stop.request_stop();
}

WorkState WorkHandle::state() const {
  if (!m_shared) return WorkState::Stopped;
  const std::lock_guard lock(m_shared->mutex);
  return m_shared->state;
}

std::string WorkHandle::problem() const {
  if (!m_shared) return {};
  const std::lock_guard lock(m_shared->mutex);
  return m_shared->problem;
}

void WorkHandle::wait() const {
  if (!m_shared) return;
  std::unique_lock lock(m_shared->mutex);
  m_shared->hasEnded.wait(lock, [this] { return m_shared->isOver; });
}

struct WorkService::Item {
  std::shared_ptr<Work> work;
  SubmitOptions options;
  std::shared_ptr<WorkHandle::Shared> shared = std::make_shared<WorkHandle::Shared>();
};

WorkService::WorkService(compute::Backends backends, WorkplaceWatcher& watcher)
    : m_place(std::move(backends), watcher), m_thread([this] { serve(); }) {}

WorkService::~WorkService() {
  Items dropped;
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
    dropped.swap(m_waiting);
    for (const auto& working : m_working) working->stop.request_stop();
  }
  m_wake.notify_all();
  m_thread.join();
  for (const auto& item : dropped) {
    item->options.ended = nullptr;
    end(*item, WorkState::Stopped, {});
  }
}

WorkHandle WorkService::submit(std::shared_ptr<Work> work, SubmitOptions options) {
  auto item = std::make_unique<Item>();
  item->work = std::move(work);
  item->options = std::move(options);
  WorkHandle handle;
  handle.m_shared = item->shared;
  {
    const std::lock_guard lock(m_mutex);
    const auto place = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const auto& other) {
      return other->options.priority < item->options.priority;
    });
    m_waiting.insert(place, std::move(item));
  }
  m_wake.notify_all();
  return handle;
}

void WorkService::clearCache() {
  m_place.askToClear();
  submit(
      std::make_shared<FunctionWork>([](Workplace& place, const std::stop_token&) { place.clearIfAsked(); }));
}

/// The next that may begin now, if any.
std::unique_ptr<WorkService::Item> WorkService::takeNext() {
  const std::lock_guard lock(m_mutex);
  if (m_waiting.empty()) return nullptr;
  const Item& next = *m_waiting.front();
  const bool mayBegin =
      m_runs.empty() || next.shared->stop.stop_requested() || next.work->canBeginBeside(m_place);
  if (!mayBegin) return nullptr;
  std::unique_ptr<Item> item = std::move(m_waiting.front());
  m_waiting.pop_front();
  m_working.push_back(item->shared);
  return item;
}

/// Nothing is to be done before somebody submits something; called with the mutex.
bool WorkService::mayRest() const {
  return !m_isEnding && m_waiting.empty() && m_runs.empty() && m_isKept;
}

void WorkService::serve() {
  constexpr std::chrono::milliseconds kTurn{20};
  while (true) {
    {
      std::unique_lock lock(m_mutex);
      m_wake.wait(lock, [this] { return !mayRest(); });
      if (m_isEnding && m_runs.empty()) return;
    }
    if (std::unique_ptr<Item> item = takeNext()) {
      begin(std::move(item));
    } else if (!m_runs.empty()) {
      advance();
    } else {
      // What runs left goes to the span store in turns with whatever else there is to do.
      m_isKept = m_place.keepFor(kTurn);
    }
  }
}

/// Does a part of a work; where that throws, the work has ended.
template <class Step>
void WorkService::carryOut(Item& item, const Step& step) {
  try {
    step();
  } catch (const std::exception& failure) {
    const bool isStopped = item.shared->stop.stop_requested();
    end(item, isStopped ? WorkState::Stopped : WorkState::Failed,
        isStopped ? std::string() : std::string(failure.what()));
  }
}

void WorkService::begin(std::unique_ptr<Item> item) {
  const std::stop_token stop = item->shared->stop.get_token();
  carryOut(*item, [&] {
    std::optional<RunId> run;
    if (!stop.stop_requested()) {
      item->shared->set(WorkState::Working);
      run = item->work->begin(m_place, stop);
    }
    if (run) {
      m_runs.emplace(*run, std::move(item));
    } else {
      end(*item, stop.stop_requested() ? WorkState::Stopped : WorkState::Finished, {});
    }
  });
  const std::lock_guard lock(m_mutex);
  m_working.remove_if([](const auto& working) {
    const std::lock_guard shared(working->mutex);
    return working->isOver;
  });
}

void WorkService::advance() {
  run::Session& session = m_place.openSession();
  session.advance();
  for (auto next = m_runs.begin(); next != m_runs.end();) {
    const auto run = next++;
    std::optional<run::RunResult> result = session.take(run->first);
    if (!result) continue;
    const std::unique_ptr<Item> item = std::move(run->second);
    m_runs.erase(run);
    m_isKept = false;
    carryOut(*item, [&] {
      const bool isStopped = result->outcome == trace::RunOutcome::Stopped;
      item->work->runEnded(std::move(*result));
      end(*item, isStopped ? WorkState::Stopped : WorkState::Finished, {});
    });
  }
}

void WorkService::end(Item& item, WorkState state, const std::string& problem) {
  {
    const std::lock_guard lock(item.shared->mutex);
    item.shared->state = state;
    item.shared->problem = problem;
  }
  if (item.options.ended) item.options.ended(state, problem);
  const std::lock_guard lock(item.shared->mutex);
  item.shared->isOver = true;
  item.shared->hasEnded.notify_all();
}

}  // namespace spanscope::workbench
