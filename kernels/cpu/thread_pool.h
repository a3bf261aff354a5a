// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of the CPU backend. Open this file to change waiting and waking.
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

/// Max threads per core. More threads would only wait for each other, and take seconds to start and end.
inline constexpr int kMostThreadsACore = 8;

/// Threads that process the tiles of one job at a time. The caller works too. The caller never waits for a
/// thread that has not begun. If a thread that has begun delays the caller, the caller works alone for a
/// while. On a busy machine, a job therefore takes little longer than without threads.
class ThreadPool {
 public:
  /// Starts a thread that does `work`. Throws like std::jthread() if the system cannot start a thread.
  using StartThread = std::function<std::jthread(std::function<void(const std::stop_token&)> work)>;

  /// `threads` includes the caller. 0 means all cores. At most kMostThreadsACore threads per core are
  /// started. If the system cannot start all threads, half of the started threads end again. The system is
  /// then at its limit, and later work also needs threads and memory.
  explicit ThreadPool(int threads);
  ThreadPool(int threads, const StartThread& start);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(m_workers.size()) + 1; }
  /// Returns the reason why there are fewer threads than requested, as a sentence without its period. Empty
  /// if all threads were started.
  std::string shortfall() const;

  /// Calls tile(i, thread) for i = 0 … tiles − 1, in any order. `thread` is in 0 … size() − 1. `tile` must
  /// not throw. After a request to stop, tiles that have not begun are left out. Only one caller at a time
  /// may call this function, and no tile may call this function.
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
  /// Waits for the threads that still work on the job that began at `begin`. The job has no tile left.
  void awaitThreads(Clock::time_point begin);
  void workThrough(const Job& job, int thread);
  void serve(const std::stop_token& end, int thread);
  /// Waits until the state has another job than `seen`, or the pool ends. Returns the state.
  std::uint64_t awaitJob(const std::stop_token& end, std::uint64_t seen);

  // One word contains the number of the job, whether it accepts threads, and its number of threads. A late
  // thread can therefore not read a job that is being replaced, and is not overlooked.
  static constexpr std::uint64_t kThreadMask = 0xFFFF;
  static constexpr std::uint64_t kOpen = 0x10000;
  static constexpr std::uint64_t kJobUnit = 0x20000;
  alignas(64) std::atomic<std::uint64_t> m_state = 0;
  alignas(64) std::atomic<std::int64_t> m_next = 0;
  Job m_job;
  int m_asked = 0;
  int m_tried = 0;                 ///< number of threads that the pool tried to start; at most m_asked
  Clock::time_point m_aloneUntil;  ///< until then the caller works alone
  Clock::duration m_alone;         ///< time for which the caller works alone after the next wait

  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::atomic<int> m_sleeping = 0;
  std::vector<std::jthread> m_workers;  // last: the threads use all members above
};

}  // namespace spanscope::cpu
