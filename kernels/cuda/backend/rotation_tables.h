// SPDX-License-Identifier: GPL-3.0-or-later
// The rotations that passes read most: those of the distances from 0 on. To work them out for each pass would
// take a host longer than a decode step may.
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
  /// Distances from here on are nobody's habit: passes bring theirs along.
  static constexpr std::int64_t kMostRows = std::int64_t{1} << 17U;

  RotationTables(const Device& device, std::shared_ptr<CardWork> work)
      : m_device(device), m_work(std::move(work)) {}

  /// [at least `rows`][as many cosines as frequencies, then sines] of distance 0 and on, on the card. What
  /// was given stays as it is for as long as it is held. Waits for the card where it has to grow. `rows` are
  /// at most kMostRows.
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
  std::vector<Table> m_tables;  ///< the one used last comes last
};

}  // namespace spanscope::cuda
