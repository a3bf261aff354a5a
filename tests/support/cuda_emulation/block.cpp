// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cuda_emulation/block.h"

#include "engine/base/error.h"
#include "tests/support/cuda_emulation/sanitizers.h"

#include <algorithm>
#include <utility>

namespace spanscope::cuda::emulation {

namespace {

// Kernels are plain functions: what runs them is found by the thread of the host they run on.
thread_local BlockRunner* currentRunner = nullptr;

constexpr std::size_t kCopyBytes = 16;
constexpr std::uint64_t kUnwrittenWord = 0x0101010101010101U * kUnwritten;

std::string text(const Grid& grid) {
  return "(" + std::to_string(grid.x) + ", " + std::to_string(grid.y) + ", " + std::to_string(grid.z) + ")";
}

bool isMultipleOf16(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kCopyBytes == 0;
}

}  // namespace

BlockRunner::BlockRunner() = default;
BlockRunner::~BlockRunner() = default;

SPANSCOPE_UNSEEN BlockRunner& BlockRunner::current() {
  return *currentRunner;
}
SPANSCOPE_UNSEEN int BlockRunner::threadIndex() const {
  return m_running->index;
}
SPANSCOPE_UNSEEN int BlockRunner::threadCount() const {
  return m_threadCount;
}
SPANSCOPE_UNSEEN Grid BlockRunner::place() const {
  return m_place;
}
SPANSCOPE_UNSEEN Grid BlockRunner::grid() const {
  return m_call->shape.grid;
}

void BlockRunner::run(const KernelCall& call, const EmulationOptions& options) {
  m_call = &call;
  m_order = options.order;
  m_random = options.seed;
  currentRunner = this;
  makeThreads(call.shape.threads);
  const Grid& grid = call.shape.grid;
  const int blocks = grid.x * grid.y * grid.z;
  // Threads see what the host did before the launch, and nothing of other blocks; the host sees all of them.
  release(&m_launched);
  try {
    for (int i = 0; i < blocks; ++i) {
      const int block = m_order == ThreadOrder::Descending ? blocks - 1 - i : i;
      m_place = {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
      runBlock();
    }
  } catch (...) {
    // Threads of the block are in the middle of the kernel: they are of no more use.
    acquire(&m_done);
    m_threads.clear();
    m_ready.clear();
    currentRunner = nullptr;
    throw;
  }
  acquire(&m_done);
  currentRunner = nullptr;
}

void BlockRunner::makeThreads(int count) {
  m_threadCount = count;
  while (m_threads.size() < static_cast<std::size_t>(count)) {
    auto thread = std::make_unique<Thread>();
    thread->index = static_cast<int>(m_threads.size());
    thread->fiber = std::make_unique<Fiber>(&BlockRunner::enter, thread.get());
    m_threads.push_back(std::move(thread));
  }
}

void BlockRunner::enter(void* thread) {
  currentRunner->runThread(*static_cast<Thread*>(thread));
}

void BlockRunner::runThread(Thread& thread) {
  for (;;) {  // a block each
    acquire(&m_launched);
    try {
      m_call->call(m_call->kernel, m_call->arguments);
      endThread(thread);
    } catch (...) {
      endBlock(thread);
    }
    // Nothing may be left on this stack that somebody has to give back: it may be dropped now.
    stepAside();
  }
}

void BlockRunner::endThread(Thread& thread) {
  const Unseen unseen;
  if (thread.copies.size() > 1 || !thread.copies.back().empty())
    fail("ends with copies under way", "waits for all that it started");
  thread.state = Thread::State::Ended;
}

void BlockRunner::endBlock(Thread& thread) {
  const Unseen unseen;
  m_failure = std::current_exception();
  thread.state = Thread::State::Ended;
  m_ready.clear();
}

void BlockRunner::runBlock() {
  const Unseen unseen;
  m_sharedTaken = 0;
  m_sharedBytes = 0;
  m_atBarrier = 0;
  for (Warp& warp : m_warps) warp.arrived = 0;
  m_failure = nullptr;
  std::vector<Thread*> all;
  for (int i = 0; i < m_threadCount; ++i) {
    Thread& thread = *m_threads[static_cast<std::size_t>(i)];
    thread.copies.assign(1, {});
    all.push_back(&thread);
  }
  makeReady(std::move(all));
  m_running = m_ready.front();
  m_ready.pop_front();
  Fiber::switchTo(m_host, *m_running->fiber);
  if (m_failure) std::rethrow_exception(m_failure);
  checkThatAllEnded();
  const auto damaged = [](const auto& memory) { return !memory->isIntact(); };
  const auto end = m_shared.begin() + static_cast<std::ptrdiff_t>(m_sharedTaken);
  if (const auto array = std::find_if(m_shared.begin(), end, damaged); array != end) {
    throw Failure(errorAt(std::string("kernel ") + m_call->name + ", block " + text(m_place),
                          "a write beside its shared array " + std::to_string(array - m_shared.begin()) +
                              " of " + std::to_string((*array)->bytes()) + " bytes",
                          "none"));
  }
  if (m_sharedBytes != m_call->shape.sharedBytes) {
    throw Failure(errorAt(std::string("kernel ") + m_call->name,
                          std::to_string(m_sharedBytes) + " shared bytes taken",
                          "all of the " + std::to_string(m_call->shape.sharedBytes) + " of the launch"));
  }
}

void BlockRunner::makeReady(std::vector<Thread*> threads) {
  if (m_order == ThreadOrder::Descending) std::reverse(threads.begin(), threads.end());
  if (m_order == ThreadOrder::Shuffled) {
    for (std::size_t i = threads.size(); i > 1; --i) {
      m_random = m_random * 6364136223846793005U + 1442695040888963407U;
      std::swap(threads[i - 1], threads[(m_random >> 33U) % i]);
    }
  }
  for (Thread* thread : threads) {
    thread->state = Thread::State::Ready;
    m_ready.push_back(thread);
  }
}

void BlockRunner::stepAside() {
  release(&m_done);
  Fiber* from = nullptr;
  Fiber* to = nullptr;
  {
    // Over before the switch: a fiber that is given up shall not leave anything open.
    const Unseen unseen;
    from = m_running->fiber.get();
    to = &m_host;
    if (!m_ready.empty()) {
      m_running = m_ready.front();
      m_ready.pop_front();
      to = m_running->fiber.get();
    }
  }
  if (to != from) Fiber::switchTo(*from, *to);
}

void* BlockRunner::takeShared(std::size_t number, std::size_t bytes) {
  const Unseen unseen;
  if (number < m_sharedTaken) {
    const std::size_t had = m_shared[number]->bytes();
    if (had != bytes) {
      fail("takes " + std::to_string(bytes) + " shared bytes as array " + std::to_string(number),
           std::to_string(had) + " as the threads before it");
    }
    return m_shared[number]->data();
  }
  m_sharedBytes += sharedBytesOf<std::byte>(bytes);
  if (m_sharedBytes > m_call->shape.sharedBytes) {
    fail("takes " + std::to_string(m_sharedBytes) + " shared bytes",
         "at most the " + std::to_string(m_call->shape.sharedBytes) + " of the launch");
  }
  if (number == m_shared.size()) m_shared.emplace_back();
  // The thread sanitizer knows memory by its address: the memory of another block must be allocated again.
  if (!SPANSCOPE_THREAD_SANITIZER && m_shared[number] && m_shared[number]->bytes() == bytes) {
    m_shared[number]->forget();
  } else {
    m_shared[number] = std::make_unique<GuardedMemory>(bytes);
  }
  ++m_sharedTaken;
  return m_shared[number]->data();
}

void BlockRunner::barrier() {
  void* const place = m_barrier.place();
  release(place);
  {
    const Unseen unseen;
    m_running->state = Thread::State::AtBarrier;
    if (++m_atBarrier == m_threadCount) {
      m_atBarrier = 0;
      m_barrier.next();
      std::vector<Thread*> all;
      for (int i = 0; i < m_threadCount; ++i) all.push_back(m_threads[static_cast<std::size_t>(i)].get());
      makeReady(std::move(all));
    }
  }
  stepAside();
  acquire(place);
}

void BlockRunner::syncWarp() {
  OrderingPoint& meeting = m_warps[static_cast<std::size_t>(threadIndex() / kLanes)].meeting;
  void* const place = meeting.place();
  release(place);
  meetWarp("syncWarp", &meeting,
           [](void* const* operands) { static_cast<OrderingPoint*>(operands[0])->next(); });
  acquire(place);
}

void BlockRunner::meetWarp(const char* operation, void* operand, void (*complete)(void* const* operands)) {
  if (!arriveAtWarp(operation, operand, complete)) stepAside();
}

bool BlockRunner::arriveAtWarp(const char* operation, void* operand,
                               void (*complete)(void* const* operands)) {
  const Unseen unseen;
  Thread& self = *m_running;
  self.state = Thread::State::InWarp;
  self.operation = operation;
  self.complete = complete;
  const int first = self.index / kLanes * kLanes;
  Warp& warp = m_warps[static_cast<std::size_t>(self.index / kLanes)];
  if (warp.arrived == 0) warp.complete = complete;
  if (warp.complete != complete) failAtOther(self);
  warp.operands[static_cast<std::size_t>(self.index - first)] = operand;
  if (++warp.arrived < kLanes) return false;
  warp.arrived = 0;
  complete(warp.operands.data());
  // The rest of the warp goes on before others do: most often it will meet again.
  const bool ascending = m_order != ThreadOrder::Descending;
  for (int i = 0; i < kLanes; ++i) {
    const int lane = ascending ? kLanes - 1 - i : i;
    Thread& other = *m_threads[static_cast<std::size_t>(first + lane)];
    other.state = Thread::State::Ready;
    if (&other != &self) m_ready.push_front(&other);
  }
  return true;
}

void BlockRunner::failAtOther(const Thread& self) const {
  const int first = self.index / kLanes * kLanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    const Thread& other = *m_threads[static_cast<std::size_t>(first + lane)];
    if (other.state != Thread::State::InWarp || other.complete == self.complete) continue;
    failAt(self, std::string("comes to ") + self.operation + " of its warp",
           std::string(other.operation) + ", as lane " + std::to_string(lane));
  }
}

void BlockRunner::startCopy(void* target, const void* source, int bytes) {
  {
    const Unseen unseen;
    if (!isMultipleOf16(target) || (bytes > 0 && !isMultipleOf16(source)))
      fail("copies between addresses that are no multiples of 16", "multiples of 16");
    if (bytes < 0 || bytes > static_cast<int>(kCopyBytes))
      fail("copies " + std::to_string(bytes) + " bytes", "0 to 16");
    const auto holds = [&](const auto& memory) { return memory->holds(target, kCopyBytes); };
    const auto end = m_shared.begin() + static_cast<std::ptrdiff_t>(m_sharedTaken);
    if (std::none_of(m_shared.begin(), end, holds))
      fail("copies to what is no shared memory", "shared memory");
    m_running->copies.back().push_back(
        {static_cast<std::byte*>(target), static_cast<const std::byte*>(source), bytes});
  }
  // Of the kernel: sanitizers see what it writes.
  fill16(target, kUnwrittenWord);
  poison(target, kCopyBytes);
}

void BlockRunner::commitCopies() {
  const Unseen unseen;
  m_running->copies.emplace_back();
}

void BlockRunner::waitCopies(std::size_t pending) {
  std::vector<PendingCopy> arrived;
  {
    const Unseen unseen;
    std::deque<std::vector<PendingCopy>>& copies = m_running->copies;
    for (; copies.size() > pending + 1; copies.pop_front())
      arrived.insert(arrived.end(), copies.front().begin(), copies.front().end());
  }
  for (const PendingCopy& copy : arrived) {
    unpoison(copy.target, kCopyBytes);
    if (copy.bytes == static_cast<int>(kCopyBytes)) {
      copy16(copy.target, copy.source);
    } else {
      fill16(copy.target, 0);
      for (int i = 0; i < copy.bytes; ++i) copy.target[i] = copy.source[i];
    }
  }
}

std::string BlockRunner::describe(const Thread& thread) const {
  return std::string("kernel ") + m_call->name + ", block " + text(m_place) + ", thread " +
         std::to_string(thread.index);
}

void BlockRunner::failAt(const Thread& thread, const std::string& found, const std::string& expected) const {
  throw Failure(errorAt(describe(thread), found, expected));
}

void BlockRunner::fail(const std::string& found, const std::string& expected) const {
  failAt(*m_running, found, expected);
}

void BlockRunner::checkThatAllEnded() const {
  const Thread* ended = nullptr;
  const Thread* atBarrier = nullptr;
  const Thread* inWarp = nullptr;
  for (int i = 0; i < m_threadCount; ++i) {
    const Thread& thread = *m_threads[static_cast<std::size_t>(i)];
    if (thread.state == Thread::State::Ended && ended == nullptr) ended = &thread;
    if (thread.state == Thread::State::AtBarrier && atBarrier == nullptr) atBarrier = &thread;
    if (thread.state == Thread::State::InWarp && inWarp == nullptr) inWarp = &thread;
  }
  if (inWarp != nullptr) {
    const int first = inWarp->index / kLanes * kLanes;
    for (int lane = 0; lane < kLanes; ++lane) {
      const Thread& other = *m_threads[static_cast<std::size_t>(first + lane)];
      if (other.state == Thread::State::InWarp) continue;
      failAt(other, other.state == Thread::State::Ended ? "has ended" : "waits at a barrier",
             std::string(inWarp->operation) + " of its warp, where thread " + std::to_string(inWarp->index) +
                 " waits");
    }
  }
  if (atBarrier != nullptr) {
    const std::string expected = "the barrier at which thread " + std::to_string(atBarrier->index) + " waits";
    failAt(ended != nullptr ? *ended : *atBarrier, "has ended", expected);
  }
}

}  // namespace spanscope::cuda::emulation
