// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/backend/rotation_tables.h"
#include "kernels/cuda/backend/upload_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::cuda {

/// Where some rotations lie: in the lists of the pass, or in the kept table.
struct RotationPlace {
  std::size_t list = 0;
  bool isKept = false;
};

/// The rotations that one pass reads.
class PassRotations {
 public:
  explicit PassRotations(const compute::RotaryTable& rotary) : m_rotary(rotary) {}

  /// `rotations` must be closed. `padding`: least number of floats in the list, if there is one.
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
  /// Makes the table contain the added rotations. May wait for the card.
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
