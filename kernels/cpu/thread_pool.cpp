// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/thread_pool.h"

#include "engine/base/counted.h"
#include "engine/compute/backends.h"

#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace spanscope::cpu {

namespace {

// Between two operations of a forward pass a worker spins. Waking it by the system takes longer than many
// operations of a small model.
constexpr auto kWatch = std::chrono::microseconds(200);
constexpr int kSpinsPerLook = 64;

// A thread that has lost its core delays the whole job. Other programs then need the cores. The caller
// therefore works alone for a while, and longer after each repetition.
constexpr auto kPatience = std::chrono::milliseconds(1);
constexpr auto kLeastAlone = std::chrono::milliseconds(10);
constexpr auto kMostAlone = std::chrono::milliseconds(320);
constexpr int kSpinsBeforeYield = 4096;

/// Returns the limits of the process as text: " (limit: 64 processes and threads of the user, 1024 MiB of
/// addresses)". Empty without a limit.
std::string limitsText() {
  constexpr rlim_t kMebi = rlim_t{1} << 20U;
  std::string text;
  const auto add = [&text](__rlimit_resource_t resource, rlim_t unit, const char* what) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    text += (text.empty() ? " (limit: " : ", ") + std::to_string(limit.rlim_cur / unit) + what;
  };
  add(RLIMIT_NPROC, 1, " processes and threads of the user");
  add(RLIMIT_AS, kMebi, " MiB of addresses");
  return text.empty() ? text : text + ")";
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : ThreadPool(threads, [](auto work) { return std::jthread(std::move(work)); }) {}

ThreadPool::ThreadPool(int threads, const StartThread& start) : m_alone(kLeastAlone) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  m_asked = threads > 0 ? threads : cores;
  threads = std::min({m_asked, kMostThreadsACore * cores, compute::kMostThreads});
  m_tried = threads;
  m_workers.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int thread = 1; thread < threads; ++thread)
      m_workers.push_back(start([this, thread](const std::stop_token& end) { serve(end, thread); }));
  } catch (const std::system_error&) {
    endWorkers(m_workers.size() / 2);
  } catch (const std::bad_alloc&) {
    endWorkers(m_workers.size() / 2);
  }
}

ThreadPool::~ThreadPool() {
  endWorkers(0);
}

std::string ThreadPool::shortfall() const {
  if (size() == m_asked) return {};
  const std::string fewer = counted(size(), "thread") + " instead of " + std::to_string(m_asked) + ": ";
  if (size() < m_tried)
    return fewer + /*id:too-few-threads-started*/ "the system could not start more threads" + limitsText();
  return fewer + "more than " + std::to_string(kMostThreadsACore) +
         /*id:threads-only-wait*/ " threads per core only wait for each other";
}

/// Ends the workers beyond `left`. These workers sleep without a job and are woken up to end.
void ThreadPool::endWorkers(std::size_t left) {
  for (std::size_t i = left; i < m_workers.size(); ++i) m_workers[i].request_stop();
  { const std::lock_guard lock(m_mutex); }
  m_wake.notify_all();
  m_workers.resize(left);
}

void ThreadPool::workThrough(const Job& job, int thread) {
  while (!job.stop->stop_requested()) {
    const std::int64_t index = m_next.fetch_add(1, std::memory_order_relaxed);
    if (index >= job.tiles) return;
    job.call(job.context, index, thread);
  }
}

void ThreadPool::runAlone(const Job& job) {
  for (std::int64_t index = 0; index < job.tiles && !job.stop->stop_requested(); ++index) {
    job.call(job.context, index, 0);
  }
}

void ThreadPool::run(const Job& job) {
  if (job.tiles <= 1 || m_workers.empty()) return runAlone(job);
  const Clock::time_point begin = Clock::now();
  if (begin < m_aloneUntil) return runAlone(job);
  m_job = job;
  m_next.store(0, std::memory_order_relaxed);
  m_state.fetch_add(kJobUnit | kOpen);
  if (m_sleeping.load() > 0) {
    { const std::lock_guard lock(m_mutex); }
    m_wake.notify_all();
  }
  workThrough(job, 0);
  m_state.fetch_and(~kOpen);
  awaitThreads(begin);
}

void ThreadPool::awaitThreads(Clock::time_point begin) {
  const auto isDone = [this] { return (m_state.load() & kThreadMask) == 0; };
  for (int spins = 0; spins < kSpinsBeforeYield; ++spins) {
    if (isDone()) {
      m_alone = std::max<Clock::duration>(kLeastAlone, m_alone - m_alone / 16);
      return;
    }
    relax();
  }
  const Clock::time_point worked = Clock::now();
  while (!isDone()) std::this_thread::yield();
  const Clock::time_point end = Clock::now();
  // The wait for a thread's last tile takes at most as long as the caller's own tiles.
  if (end - worked < kPatience || end - worked < worked - begin) return;
  m_aloneUntil = end + m_alone;
  m_alone = std::min<Clock::duration>(kMostAlone, 2 * m_alone);
}

std::uint64_t ThreadPool::awaitJob(const std::stop_token& end, std::uint64_t seen) {
  const auto isNew = [seen](std::uint64_t state) {
    return (state & kOpen) != 0 && state / kJobUnit != seen / kJobUnit;
  };
  const auto begin = Clock::now();
  do {
    for (int spin = 0; spin < kSpinsPerLook; ++spin) {
      const std::uint64_t state = m_state.load();
      if (isNew(state) || end.stop_requested()) return state;
      relax();
    }
  } while (Clock::now() - begin < kWatch);

  std::unique_lock lock(m_mutex);
  m_sleeping.fetch_add(1);
  std::uint64_t state = 0;
  m_wake.wait(lock, [&] {
    state = m_state.load();
    return isNew(state) || end.stop_requested();
  });
  m_sleeping.fetch_sub(1);
  return state;
}

void ThreadPool::serve(const std::stop_token& end, int thread) {
  std::uint64_t seen = 0;
  while (true) {
    awaitJob(end, seen);
    if (end.stop_requested()) return;
    const std::uint64_t entered = m_state.fetch_add(1);
    if ((entered & kOpen) != 0) {
      seen = entered;
      workThrough(m_job, thread);
    }
    m_state.fetch_sub(1);
  }
}

}  // namespace spanscope::cpu
