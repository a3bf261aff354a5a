// SPDX-License-Identifier: GPL-3.0-or-later
// Caches the most used rotations of forward passes: the rotations of the distances from 0 on. Computing these
// rotations for each forward pass would take the host longer than a decode step. Open this file to change the
// cache.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/backend/device_work.h"
#include "kernels/cuda/backend/upload_list.h"
#include "kernels/cuda/runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::cuda {

class RotationTables {
 public:
  /// Larger distances are rare. Forward passes with larger distances upload their own rotations.
  static constexpr std::int64_t kMostRows = std::int64_t{1} << 17U;

  RotationTables(const Device& device, std::shared_ptr<DeviceWork> work)
      : m_device(device), m_work(std::move(work)) {}

  /// Returns rotations of the distances from 0 on, in GPU memory. The layout is [at least `rows`][one cosine
  /// per frequency, then the sines]. The memory does not change while it is in use. If the table must grow,
  /// the function waits for the GPU. `rows` is at most kMostRows.
  std::shared_ptr<const DeviceMemory> cover(const compute::RotaryTable& rotary, std::int64_t rows);

 private:
  struct Table {
    compute::RotaryTable rotary;
    std::int64_t rows = 0;
    std::shared_ptr<DeviceMemory> memory = nullptr;
  };
  void grow(Table& table, std::int64_t rows);

  Device m_device;
  std::shared_ptr<DeviceWork> m_work;
  std::vector<Table> m_tables;  ///< the most recently used table is last
};

/// The place of some rotations: in the lists of the forward pass, or in the kept table.
struct RotationPlace {
  std::size_t list = 0;
  bool isKept = false;
};

/// The rotations that one forward pass reads.
class PassRotations {
 public:
  explicit PassRotations(const compute::RotaryTable& rotary) : m_rotary(rotary) {}

  /// `rotations` must be closed. `padding`: min number of floats in the list, if there is a list.
  RotationPlace add(const Rotations& rotations, UploadList& lists, std::int64_t padding = 0) {
    if (rotations.keptRows() > 0) {
      m_keptRows = std::max(m_keptRows, rotations.keptRows());
      return {.isKept = true};
    }
    std::vector<float> table =
        rotations.table(m_rotary.inverseFrequencies, static_cast<double>(m_rotary.attentionScale));
    table.resize(std::max(table.size(), static_cast<std::size_t>(padding)));
    return {.list = lists.add(table)};
  }
  /// Adds the rotations to the table. May wait for the GPU.
  void keep(RotationTables& table) { m_kept = table.cover(m_rotary, m_keptRows); }

  const float* at(RotationPlace place, const std::byte* uploaded) const {
    return place.isKept ? m_kept->as<float>() : reinterpret_cast<const float*>(uploaded + place.list);
  }

 private:
  compute::RotaryTable m_rotary;
  std::int64_t m_keptRows = 0;
  std::shared_ptr<const DeviceMemory> m_kept;
};

}  // namespace spanscope::cuda
