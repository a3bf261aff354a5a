// SPDX-License-Identifier: GPL-3.0-or-later
// The rotations that passes read most: those of the distances from 0 on. Computing them for each pass would
// take the host longer than a decode step may take.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/backend/card_work.h"
#include "kernels/cuda/runtime.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::cuda {

class RotationTables {
 public:
  /// Larger distances are rare: passes that need them bring their own rotations.
  static constexpr std::int64_t kMostRows = std::int64_t{1} << 17U;

  RotationTables(const Device& device, std::shared_ptr<CardWork> work)
      : m_device(device), m_work(std::move(work)) {}

  /// [at least `rows`][one cosine per frequency, then the sines] of the distances from 0 on, in memory of the
  /// card. The memory does not change as long as somebody holds it. If the table must grow, this waits for
  /// the card. `rows` is at most kMostRows.
  std::shared_ptr<const DeviceMemory> cover(const compute::RotaryTable& rotary, std::int64_t rows);

 private:
  struct Table {
    compute::RotaryTable rotary;
    std::int64_t rows = 0;
    std::shared_ptr<DeviceMemory> memory = nullptr;
  };
  void grow(Table& table, std::int64_t rows);

  Device m_device;
  std::shared_ptr<CardWork> m_work;
  std::vector<Table> m_tables;  ///< the most recently used table is last
};

}  // namespace spanscope::cuda
