// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a kernel one block at a time. The threads of a block are fibers that run until they have to meet.
#pragma once

#include "kernels/cuda/runtime.h"
#include "tests/support/cuda_emulation/emulation.h"
#include "tests/support/cuda_emulation/fiber.h"
#include "tests/support/cuda_emulation/guarded_memory.h"
#include "tests/support/cuda_emulation/sanitizers.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::cuda::emulation {

inline constexpr int kLanes = 32;

/// A copy of 16 bytes that has started and not arrived yet.
struct PendingCopy {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  int bytes = 0;
};

/// A thread of the block.
struct Thread {
  enum class State { Ready, AtBarrier, InWarp, Ended };

  int index = 0;
  State state = State::Ready;
  std::unique_ptr<Fiber> fiber;
  // The warp operation that the thread has reached.
  const char* operation = "";
  void (*complete)(void* const* operands) = nullptr;
  // Copies that have not arrived, the oldest group first. The last group is still open.
  std::deque<std::vector<PendingCopy>> copies;
};

/// A meeting point: what threads do before it comes before what they do after it. Two places take turns, so
/// that a thread that leaves one meeting late does not see what others did before the next.
class OrderingPoint {
 public:
  SPANSCOPE_UNSEEN void* place() { return &m_places[m_meetings % 2]; }
  SPANSCOPE_UNSEEN void next() { ++m_meetings; }

 private:
  std::uint32_t m_meetings = 0;
  char m_places[2] = {};
};

/// The lanes of a warp that have come to its next operation.
struct Warp {
  int arrived = 0;
  void (*complete)(void* const* operands) = nullptr;  ///< that of the first
  std::array<void*, kLanes> operands{};
  OrderingPoint meeting;  ///< for the thread sanitizer
};

/// Runs launches, block after block. If something goes wrong in a kernel, it throws a Failure that names
/// kernel, block and thread.
class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  void run(const KernelCall& call, const EmulationOptions& options);

  /// The runner of the calling kernel.
  static BlockRunner& current();

  // For device_emulation.h. The running thread calls these.
  int threadIndex() const;
  int threadCount() const;
  Grid place() const;  ///< place of the block
  Grid grid() const;
  void* takeShared(std::size_t number, std::size_t bytes);
  void barrier();
  /// Waits for the other lanes of the warp. The last lane to come calls complete(operands by lane).
  void meetWarp(const char* operation, void* operand, void (*complete)(void* const* operands));
  void syncWarp();
  void startCopy(void* target, const void* source, int bytes);
  void commitCopies();
  void waitCopies(std::size_t pending);
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;

 private:
  static void enter(void* thread);
  void runThread(Thread& thread);
  void endThread(Thread& thread);
  void endBlock(Thread& thread);  ///< ends the block with the exception that is being handled
  /// Returns true for the last lane to come: then the operation is done.
  bool arriveAtWarp(const char* operation, void* operand, void (*complete)(void* const* operands));
  /// Fails with the lane that has come to another operation of the warp.
  void failAtOther(const Thread& self) const;
  void runBlock();
  void makeThreads(int count);
  void makeReady(std::vector<Thread*> threads);
  void stepAside();
  std::string describe(const Thread& thread) const;
  [[noreturn]] void failAt(const Thread& thread, const std::string& found, const std::string& expected) const;
  void checkThatAllEnded() const;

  Fiber m_host;
  std::vector<std::unique_ptr<Thread>> m_threads;  ///< as many as the largest block had
  std::vector<std::unique_ptr<GuardedMemory>> m_shared;
  std::size_t m_sharedTaken = 0;  ///< number of arrays that this block has taken
  std::size_t m_sharedBytes = 0;  ///< bytes of these arrays
  const KernelCall* m_call = nullptr;
  Grid m_place;
  int m_threadCount = 0;
  std::array<Warp, 32> m_warps;  ///< as many as a block can have
  std::deque<Thread*> m_ready;
  Thread* m_running = nullptr;
  int m_atBarrier = 0;
  ThreadOrder m_order = ThreadOrder::Ascending;
  std::uint64_t m_random = 0;
  std::exception_ptr m_failure;
  // For the thread sanitizer.
  OrderingPoint m_barrier;
  char m_launched = 0;
  char m_done = 0;
};

}  // namespace spanscope::cuda::emulation
