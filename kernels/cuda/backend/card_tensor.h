// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/runtime.h"

#include <cstdint>

namespace spanscope::cuda {

/// Activations: bf16, or f32 for logits, of which equal ones are told from unequal ones.
class CardTensor final : public compute::Tensor {
 public:
  explicit CardTensor(const Device& device) : m_device(device) {}

  void resize(std::int64_t rows, std::int64_t columns) override { resizeAs(rows, columns, false); }
  void resizeAs(std::int64_t rows, std::int64_t columns, bool isFloat) {
    const std::size_t bytes =
        static_cast<std::size_t>(rows * columns) * (isFloat ? sizeof(float) : sizeof(Bf16));
    if (bytes > m_memory.bytes()) m_memory = DeviceMemory(m_device, bytes, "activations");
    m_rows = rows;
    m_columns = columns;
    m_isFloat = isFloat;
  }
  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }

  bool isFloat() const { return m_isFloat; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(m_rows * m_columns) * (m_isFloat ? sizeof(float) : sizeof(Bf16));
  }
  void* data() const { return m_memory.data(); }
  Bf16* elements() const { return m_memory.as<Bf16>(); }
  float* floats() const { return m_memory.as<float>(); }

 private:
  Device m_device;
  DeviceMemory m_memory;
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  bool m_isFloat = false;
};

inline CardTensor& cardTensor(compute::Tensor& tensor) {
  return static_cast<CardTensor&>(tensor);
}
inline const CardTensor& cardTensor(const compute::Tensor& tensor) {
  return static_cast<const CardTensor&>(tensor);
}

}  // namespace spanscope::cuda
