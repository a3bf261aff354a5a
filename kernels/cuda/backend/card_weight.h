// SPDX-License-Identifier: GPL-3.0-or-later
// The weight of the GPU backend. Open this file to change how weights are uploaded.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/backend/card_buffers.h"
#include "kernels/cuda/backend/card_work.h"
#include "kernels/cuda/runtime.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace spanscope::cuda {

/// A bf16 matrix or an f32 vector, row-major as in the checkpoint.
class CardWeight final : public compute::Weight {
 public:
  /// Copies the weight piece by piece through pinned memory, which the GPU reads directly.
  CardWeight(const Device& device, std::shared_ptr<CardWork> work, CardBuffers& buffers,
             const compute::HostMatrix& matrix, compute::WeightUse use);
  /// Work on the stream may still read the memory.
  ~CardWeight() override { m_work->keepForGood(std::move(m_memory)); }
  CardWeight(const CardWeight&) = delete;
  CardWeight& operator=(const CardWeight&) = delete;

  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  std::size_t bytes() const override { return m_memory.bytes(); }

  compute::WeightUse use() const { return m_use; }
  const Bf16* elements() const { return m_memory.as<Bf16>(); }
  const float* floats() const { return m_memory.as<float>(); }

 private:
  std::shared_ptr<CardWork> m_work;
  compute::WeightUse m_use;
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  DeviceMemory m_memory;
};

inline const CardWeight& cardWeight(const compute::Weight& weight) {
  return static_cast<const CardWeight&>(weight);
}

}  // namespace spanscope::cuda
