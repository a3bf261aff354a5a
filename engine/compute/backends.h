// SPDX-License-Identifier: GPL-3.0-or-later
// The backends of a program. What computes is known to the mains alone: they fill the registry and hand it
// on.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/thread_limit.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::compute {

struct BackendOptions {
  int threads = 0;  ///< of the host, the caller's included: 0 … kMostThreads; 0: one a core
};

/// What a device can do at best, measured.
struct MachineRates {
  double flops = 0;           ///< f32 operations a second; a multiply-add is two
  double bytesPerSecond = 0;  ///< read from the memory that weights lie in
};

/// Takes a sample of the rates each time it is called, so that they can be taken in turn with what they are
/// compared to.
using RateMeter = std::function<MachineRates()>;

/// One backend that the program was built with.
struct BackendKind {
  std::string name;  ///< "cpu": what options and documents call it
  /// Throws Failure where the device is missing or lacks memory.
  std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
  /// Throws Failure where memory for the measurement cannot be had.
  std::function<RateMeter(int threads)> meter;
};

/// A value: copies hold the same kinds.
class Backends {
 public:
  Backends() = default;
  /// The first one is what is taken where nobody chose. No name twice.
  explicit Backends(std::vector<BackendKind> kinds);

  const std::vector<BackendKind>& kinds() const { return m_kinds; }
  /// The kind of this name; for an empty one the first. Throws Failure that lists the names there are.
  const BackendKind& named(std::string_view name = {}) const;

 private:
  std::vector<BackendKind> m_kinds;
};

}  // namespace spanscope::compute
