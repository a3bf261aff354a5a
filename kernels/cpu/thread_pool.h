// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace spanscope::cpu {

/// More than this only wait for each other, and starting and ending them takes seconds.
inline constexpr int kMostThreadsACore = 8;

/// Threads that work through the tiles of one job at a time. The caller works too, never waits for a thread
/// that has not begun, and does without the others for a while where one that had begun kept it waiting: on a
/// busy machine jobs cost little more than they would alone.
class ThreadPool {
 public:
  /// Starts a thread that does `work`; throws what std::jthread() does where the system has none to give.
  using StartThread = std::function<std::jthread(std::function<void(const std::stop_token&)> work)>;

  /// `threads` counts the caller; 0 means all cores, and more than kMostThreadsACore a core are not started.
  /// Where not all can be started, half of those that were go
  /// again: the system is at its limit, and what comes after needs threads and memory, too.
  explicit ThreadPool(int threads);
  ThreadPool(int threads, const StartThread& start);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(m_workers.size()) + 1; }
  /// Why it has fewer threads than were asked for, as a sentence without its period; empty: it has as many.
  std::string shortfall() const;

  /// Calls tile(i, thread) for i = 0 … tiles − 1, in any order, thread in 0 … size() − 1. `tile` must not
  /// throw. Tiles that have not begun when `stop` is requested are left out. One caller at a time, and not
  /// from within a tile.
  template <class Tile>
  void run(std::int64_t tiles, const std::stop_token& stop, const Tile& tile) {
    const Job job{[](const void* context, std::int64_t index, int thread) {
                    (*static_cast<const Tile*>(context))(index, thread);
                  },
                  &tile, tiles, &stop};
    run(job);
  }

 private:
  void endWorkers(std::size_t left);
  struct Job {
    void (*call)(const void* context, std::int64_t index, int thread) = nullptr;
    const void* context = nullptr;
    std::int64_t tiles = 0;
    const std::stop_token* stop = nullptr;
  };

  using Clock = std::chrono::steady_clock;

  void run(const Job& job);
  static void runAlone(const Job& job);
  /// Waits for the threads in the job that began then, of which no tile is left.
  void awaitThreads(Clock::time_point begin);
  void workThrough(const Job& job, int thread);
  void serve(const std::stop_token& end, int thread);
  /// The state that has a job this thread has not seen, or what it was when the pool ends.
  std::uint64_t awaitJob(const std::stop_token& end, std::uint64_t seen);

  // One word holds the number of the job, whether it takes threads, and how many are in it: so a thread that
  // comes late can neither read a job that is being replaced nor be forgotten.
  static constexpr std::uint64_t kThreadMask = 0xFFFF;
  static constexpr std::uint64_t kOpen = 0x10000;
  static constexpr std::uint64_t kJobUnit = 0x20000;
  alignas(64) std::atomic<std::uint64_t> m_state = 0;
  alignas(64) std::atomic<std::int64_t> m_next = 0;
  Job m_job;
  int m_asked = 0;
  int m_tried = 0;                 ///< of those that were asked for
  Clock::time_point m_aloneUntil;  ///< the caller works alone until then
  Clock::duration m_alone;         ///< for how long, when it is next kept waiting

  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::atomic<int> m_sleeping = 0;
  std::vector<std::jthread> m_workers;  // last: they use all of the above
};

}  // namespace spanscope::cpu
