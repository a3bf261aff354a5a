// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor of the CPU backend. Open this file to change how activations are stored.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/aligned_buffer.h"

namespace spanscope::cpu {

/// Activations: f32, dense rows.
class CpuTensor final : public compute::Tensor {
 public:
  /// Throws Failure if the memory cannot be allocated.
  void resize(std::int64_t rows, std::int64_t columns) override {
    m_buffer.reserve(checkedBytes("tensor", rows, columns, sizeof(float)), "tensor");
    m_rows = rows;
    m_columns = columns;
  }
  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }

  float* data() { return m_buffer.as<float>(); }
  const float* data() const { return m_buffer.as<float>(); }
  float* row(std::int64_t index) { return data() + index * m_columns; }
  const float* row(std::int64_t index) const { return data() + index * m_columns; }

 private:
  AlignedBuffer m_buffer;
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
};

// A backend gets only tensors that it made itself.
inline CpuTensor& cpuTensor(compute::Tensor& tensor) {
  return static_cast<CpuTensor&>(tensor);
}
inline const CpuTensor& cpuTensor(const compute::Tensor& tensor) {
  return static_cast<const CpuTensor&>(tensor);
}

}  // namespace spanscope::cpu
