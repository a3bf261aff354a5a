// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/task_thread.h"

#include <utility>

namespace spanscope::ui {

TaskThread::TaskThread() : m_thread([this] { work(); }) {}

TaskThread::~TaskThread() {
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
    m_tasks.clear();
  }
  m_wake.notify_all();
  m_thread.join();
}

void TaskThread::post(std::function<void()> task) {
  {
    const std::lock_guard lock(m_mutex);
    m_tasks.push_back(std::move(task));
  }
  m_wake.notify_one();
}

void TaskThread::work() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(m_mutex);
      m_wake.wait(lock, [this] { return m_ending || !m_tasks.empty(); });
      if (m_ending) return;
      task = std::move(m_tasks.front());
      m_tasks.pop_front();
    }
    task();
  }
}

}  // namespace spanscope::ui
