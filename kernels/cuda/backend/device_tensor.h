// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor and the weight of the GPU backend. Open this file to change how activations are stored, or how
// weights are uploaded.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/backend/device_buffers.h"
#include "kernels/cuda/backend/device_work.h"
#include "kernels/cuda/runtime.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace spanscope::cuda {

/// Number of rows of a forward pass or a tensor, without and with padding rows. No code reads the results of
/// padding rows.
struct RowCount {
  std::int64_t own = 0;
  std::int64_t padded = 0;  ///< at least `own`
};

/// Activations in bf16. Logits are in f32, so that different logits stay different. A tensor may have more
/// rows than the reported number. No code reads the additional rows. Steps of different sizes can therefore
/// be the same work.
class DeviceTensor final : public compute::Tensor {
 public:
  DeviceTensor(const Device& device, std::shared_ptr<DeviceWork> work)
      : m_device(device), m_work(std::move(work)) {}
  ~DeviceTensor() override { m_work->keepForGood(std::move(m_memory)); }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  void resize(std::int64_t rows, std::int64_t columns) override { resizeAs({rows, rows}, columns, false); }
  void resizeAs(RowCount rows, std::int64_t columns, bool isFloat) {
    const std::size_t bytes =
        static_cast<std::size_t>(rows.padded * columns) * (isFloat ? sizeof(float) : sizeof(Bf16));
    if (bytes > m_memory.bytes()) {
      DeviceMemory larger(m_device, bytes, "activations");
      m_work->keep(std::exchange(m_memory, std::move(larger)));
    }
    m_rows = rows;
    m_columns = columns;
    m_isFloat = isFloat;
  }
  std::int64_t rows() const override { return m_rows.own; }
  std::int64_t columns() const override { return m_columns; }
  RowCount rowCount() const { return m_rows; }

  bool isFloat() const { return m_isFloat; }
  /// Returns the bytes of the reported rows.
  std::size_t bytes() const {
    return static_cast<std::size_t>(rows() * m_columns) * (m_isFloat ? sizeof(float) : sizeof(Bf16));
  }
  void* data() const { return m_memory.data(); }
  Bf16* elements() const { return m_memory.as<Bf16>(); }
  float* floats() const { return m_memory.as<float>(); }

 private:
  Device m_device;
  std::shared_ptr<DeviceWork> m_work;
  DeviceMemory m_memory;
  RowCount m_rows;
  std::int64_t m_columns = 0;
  bool m_isFloat = false;
};

inline DeviceTensor& deviceTensor(compute::Tensor& tensor) {
  return static_cast<DeviceTensor&>(tensor);
}
inline const DeviceTensor& deviceTensor(const compute::Tensor& tensor) {
  return static_cast<const DeviceTensor&>(tensor);
}

/// A bf16 matrix or an f32 vector, row-major as in the checkpoint.
class DeviceWeight final : public compute::Weight {
 public:
  /// Copies the weight piece by piece through pinned memory, which the GPU reads directly.
  DeviceWeight(const Device& device, std::shared_ptr<DeviceWork> work, DeviceBuffers& buffers,
               const compute::HostMatrix& matrix, compute::WeightUse use);
  /// Work on the stream may still read the memory.
  ~DeviceWeight() override { m_work->keepForGood(std::move(m_memory)); }
  DeviceWeight(const DeviceWeight&) = delete;
  DeviceWeight& operator=(const DeviceWeight&) = delete;

  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  std::size_t bytes() const override { return m_memory.bytes(); }

  compute::WeightUse use() const { return m_use; }
  const Bf16* elements() const { return m_memory.as<Bf16>(); }
  const float* floats() const { return m_memory.as<float>(); }

 private:
  std::shared_ptr<DeviceWork> m_work;
  compute::WeightUse m_use;
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  DeviceMemory m_memory;
};

inline const DeviceWeight& deviceWeight(const compute::Weight& weight) {
  return static_cast<const DeviceWeight&>(weight);
}

}  // namespace spanscope::cuda
