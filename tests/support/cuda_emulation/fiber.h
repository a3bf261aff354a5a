// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>

namespace spanscope::cuda::emulation {

/// A thread of control with a stack of its own that runs where another one steps aside. Sanitizers are told
/// of every switch.
class Fiber {
 public:
  /// The one that is running already: what calls switchTo first.
  Fiber();
  /// One that calls entry(argument) when it is switched to first. `entry` never returns.
  Fiber(void (*entry)(void*), void* argument);
  /// What stands on its stack is forgotten, not unwound.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with `to`, until somebody switches back to `from`, which must be running.
  static void switchTo(Fiber& from, Fiber& to);

 private:
  struct Context;
  std::unique_ptr<Context> m_context;
};

}  // namespace spanscope::cuda::emulation
