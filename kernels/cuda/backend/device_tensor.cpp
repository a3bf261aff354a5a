// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/device_tensor.h"

#include "engine/compute/dtype.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace spanscope::cuda {
namespace {

/// Max elements of one copy: a whole number of blocks of every format.
constexpr std::int64_t kPiece = std::int64_t{4} << 20U;

}  // namespace

DeviceWeight::DeviceWeight(const Device& device, std::shared_ptr<DeviceWork> work, DeviceBuffers& buffers,
                           const compute::HostMatrix& matrix, compute::WeightUse use)
    : m_work(std::move(work)), m_use(use), m_rows(matrix.rows), m_columns(matrix.columns) {
  Stream& stream = m_work->stream();
  const bool isFloat = use == compute::WeightUse::Vector;
  const std::int64_t count = m_rows * m_columns;
  const std::size_t size = isFloat ? sizeof(float) : sizeof(Bf16);
  m_memory = DeviceMemory(device, static_cast<std::size_t>(count) * size, "weights");
  const std::int64_t piece = std::min(count, kPiece);
  const HostBuffer staging = buffers.takeOfHost(static_cast<std::size_t>(piece) * size);
  std::vector<float> values;
  for (std::int64_t first = 0; first < count; first += piece) {
    const std::int64_t here = std::min(piece, count - first);
    const std::byte* const source = matrix.data + compute::bytesOf(matrix.format, first);
    if (isFloat) {
      compute::widen(matrix.format, source, here, reinterpret_cast<float*>(staging.data()));
    } else if (matrix.format == compute::WeightFormat::BF16) {
      std::memcpy(staging.data(), source, static_cast<std::size_t>(here) * 2);
    } else {
      values.resize(static_cast<std::size_t>(here));
      compute::widen(matrix.format, source, here, values.data());
      std::transform(values.begin(), values.end(), reinterpret_cast<std::uint16_t*>(staging.data()),
                     compute::bf16FromFloat);
    }
    stream.copyToDevice(m_memory.as<std::byte>() + static_cast<std::size_t>(first) * size, staging.data(),
                        static_cast<std::size_t>(here) * size);
    // The next copy overwrites the piece.
    stream.synchronize();
  }
}

}  // namespace spanscope::cuda
