// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/backends.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::test {

/// Backends with the CPU and a kind of device with two devices. `made` lists in order which of the two were
/// asked to compute; the CPU computes for them.
inline compute::Backends twoCards(const std::shared_ptr<std::vector<int>>& made = nullptr) {
  compute::BackendKind cpu = cpuBackends().choose("cpu").kind;
  compute::BackendKind cards = cpu;
  cards.name = "cuda";
  cards.probe = [] {
    return std::vector<compute::Device>{{.name = "cuda:0",
                                         .description = "Large Card, compute capability 9.0",
                                         .memoryBytes = std::uint64_t{141} << 30U,
                                         .reason = {}},
                                        {.name = "cuda:1",
                                         .description = "Small Card, compute capability 8.0",
                                         .memoryBytes = std::uint64_t{40} << 30U,
                                         .reason = {}}};
  };
  cards.make = [made, make = cpu.make](const compute::BackendOptions& options) {
    if (made) made->push_back(options.device);
    return make(options);
  };
  return compute::Backends({std::move(cpu), std::move(cards)});
}

}  // namespace spanscope::test
