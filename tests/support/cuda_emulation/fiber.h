// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>

namespace spanscope::cuda::emulation {

/// A thread of control with a separate stack. It runs when another fiber switches to it. Sanitizers are
/// notified of every switch.
class Fiber {
 public:
  /// The fiber that is running already, which calls switchTo() first.
  Fiber();
  /// A fiber that calls entry(argument) at the first switch to it. `entry` must never return.
  Fiber(void (*entry)(void*), void* argument);
  /// Forgets the fiber's stack without unwinding it.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Continues `to`, until another fiber switches back to `from`. `from` must be running.
  static void switchTo(Fiber& from, Fiber& to);

 private:
  struct Context;
  std::unique_ptr<Context> m_context;
};

}  // namespace spanscope::cuda::emulation
