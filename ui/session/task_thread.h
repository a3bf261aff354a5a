// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace spanscope::ui {

/// A thread that carries out tasks in the order in which they were posted. The destructor drops the tasks
/// that still wait, and waits for the running task. Tasks must not throw.
class TaskThread {
 public:
  TaskThread();
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void post(std::function<void()> task);

 private:
  void work();

  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::deque<std::function<void()>> m_tasks;
  bool m_ending = false;
  std::thread m_thread;
};

}  // namespace spanscope::ui
