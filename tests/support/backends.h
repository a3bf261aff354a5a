// SPDX-License-Identifier: GPL-3.0-or-later
// The backends that tests use: those of the programs. A test of something that only one backend can get right
// names that backend.
#pragma once

#include "engine/compute/backends.h"
#include "kernels/backends.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::test {

/// The programs' backends without the GPU ones: for tests of results that were recorded on the CPU.
inline compute::Backends cpuBackends() {
  std::vector<compute::KindEntry> kinds = programBackends().entries();
  for (compute::KindEntry& kind : kinds) {
    if (kind.name() != "cpu") kind = compute::absentKind(kind.name(), "left out of this test");
  }
  return compute::Backends(std::move(kinds));
}

/// The names of the devices that can be used on this machine.
inline std::vector<std::string> presentDevices() {
  std::vector<std::string> names;
  for (compute::Device& device : programBackends().devices()) {
    if (device.isUsable()) names.push_back(std::move(device.name));
  }
  return names;
}

inline std::unique_ptr<compute::Backend> makeBackend(
    std::string_view device = "cpu", int threads = 2, bool exact = false,
    compute::Arithmetic arithmetic = compute::Arithmetic::F32) {
  const compute::ChosenDevice chosen = programBackends().choose(device);
  return chosen.kind.make(
      {.threads = threads, .device = chosen.index, .exact = exact, .arithmetic = arithmetic});
}

}  // namespace spanscope::test
