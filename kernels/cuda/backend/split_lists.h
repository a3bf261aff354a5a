// SPDX-License-Identifier: GPL-3.0-or-later
// The lists of bit-equal attention on tensor cores. Open this file to change the inputs of attendSplit().
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/attention/split_attention.h"
#include "kernels/cuda/backend/device_work.h"
#include "kernels/cuda/backend/rotation_tables.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda {

class UploadList;

/// The inputs of attendSplit() for a forward pass, and its launches.
class SplitLists {
 public:
  SplitLists() = default;  ///< no work
  /// Adds the data for the GPU to `lists`.
  SplitLists(UploadList& lists, const SplitPlan& plan, PassRotations& rotations);

  bool isEmpty() const { return m_launches.empty(); }
  /// Returns the bytes of partial results. The launches of a layer use them one after the other.
  std::size_t scratchBytes(const KeyValuePool& pool) const;
  /// Computes attention in one layer of a pool. `uploaded` is the place of the lists on the GPU. `rowScales`:
  /// see PrefillAttentionArguments.
  void attend(DeviceWork& work, std::byte* scratch, const std::byte* uploaded, const PassRotations& rotations,
              const compute::AttentionShape& shape, const float* rowScales, const KeyValuePool& pool,
              std::int32_t layer, const Bf16* queries, Bf16* out) const;

 private:
  std::size_t m_tiles = 0;
  std::size_t m_items = 0;
  std::size_t m_runs = 0;
  std::size_t m_ranges = 0;
  std::size_t m_locals = 0;
  std::size_t m_blocks = 0;
  RotationPlace m_cosSin;
  std::vector<SplitLaunch> m_launches;
};

}  // namespace spanscope::cuda
