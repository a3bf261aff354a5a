// SPDX-License-Identifier: GPL-3.0-or-later
// swapcontext asks the kernel for the signal mask at every switch. It is used for a fiber's first steps
// alone; after that the compiler's own jump is enough, since all fibers of a launch run on one thread.
#include "tests/support/cuda_emulation/fiber.h"

#include "tests/support/cuda_emulation/sanitizers.h"

#include <ucontext.h>

#include <cstdint>

namespace spanscope::cuda::emulation {

namespace {

// Large enough for what the sanitizers put around every variable.
constexpr std::size_t kStackBytes =
    std::size_t{SPANSCOPE_ADDRESS_SANITIZER || SPANSCOPE_THREAD_SANITIZER ? 512 : 128} << 10U;

}  // namespace

struct Fiber::Context {
  void* jump[5] = {};
  ucontext_t start = {};
  bool isStarted = true;
  std::unique_ptr<std::byte[]> stack;
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;
  // What the address sanitizer knows of it.
  void* fakeStack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  Context* cameFrom = nullptr;
  void* threadRecord = nullptr;  ///< of the thread sanitizer

  SPANSCOPE_BETWEEN_STACKS static void arrive(Context& context, void* fakeStack) {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    finishSwitch(fakeStack, &bottom, &bytes);
    if (context.cameFrom->bottom == nullptr && bottom != nullptr) {
      context.cameFrom->bottom = bottom;
      context.cameFrom->bytes = bytes;
    }
  }

  SPANSCOPE_BETWEEN_STACKS static void begin(unsigned high, unsigned low) {
    const auto address = (std::uintptr_t{high} << 32U) | std::uintptr_t{low};
    auto* const context = reinterpret_cast<Context*>(address);
    arrive(*context, nullptr);
    context->entry(context->argument);
  }

  // Separate from the caller of __builtin_setjmp, as the compiler requires. No sanitizer code may come before
  // the jump: it would take the stack it is about to leave for the one it is on.
  [[noreturn]] SPANSCOPE_BETWEEN_STACKS static void go(Context& to) {
    switchThreadRecord(to.threadRecord);
    if (!to.isStarted) {
      to.isStarted = true;
      setcontext(&to.start);
    }
    __builtin_longjmp(to.jump, 1);
  }
};

Fiber::Fiber() : m_context(std::make_unique<Context>()) {}

Fiber::Fiber(void (*entry)(void*), void* argument) : m_context(std::make_unique<Context>()) {
  Context& context = *m_context;
  context.isStarted = false;
  context.threadRecord = makeThreadRecord();
  context.entry = entry;
  context.argument = argument;
  context.stack.reset(new std::byte[kStackBytes]);  // not filled: most of it is never touched
  context.bottom = context.stack.get();
  context.bytes = kStackBytes;
  getcontext(&context.start);
  context.start.uc_stack.ss_sp = context.stack.get();
  context.start.uc_stack.ss_size = kStackBytes;
  context.start.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(&context);
  makecontext(&context.start, reinterpret_cast<void (*)()>(&Context::begin), 2,
              static_cast<unsigned>(address >> 32U), static_cast<unsigned>(address & 0xFFFFFFFFU));
}

Fiber::~Fiber() {
  if (!m_context->stack) return;
  unpoison(m_context->stack.get(), kStackBytes);
  dropThreadRecord(m_context->threadRecord);
}

SPANSCOPE_BETWEEN_STACKS void Fiber::switchTo(Fiber& from, Fiber& to) {
  Context* const left = from.m_context.get();
  Context* const entered = to.m_context.get();
  entered->cameFrom = left;
  if (!left->stack) left->threadRecord = currentThreadRecord();
  startSwitch(&left->fakeStack, entered->bottom, entered->bytes);
  if (__builtin_setjmp(left->jump) == 0) Context::go(*entered);
  Context::arrive(*left, left->fakeStack);
}

}  // namespace spanscope::cuda::emulation
