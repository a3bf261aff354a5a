// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/card_weight.h"

#include "engine/compute/half.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace spanscope::cuda {
namespace {

using compute::DType;

/// Elements that are copied in one go.
constexpr std::int64_t kPiece = std::int64_t{4} << 20U;

float valueAt(const compute::HostMatrix& matrix, std::int64_t element) {
  const std::byte* const place =
      matrix.data + element * static_cast<std::int64_t>(compute::sizeOf(matrix.type));
  if (matrix.type == DType::F32) {
    float value = 0;
    std::memcpy(&value, place, sizeof(value));
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, place, sizeof(bits));
  return matrix.type == DType::BF16 ? compute::floatFromBf16(bits) : compute::floatFromF16(bits);
}

}  // namespace

CardWeight::CardWeight(const Device& device, std::shared_ptr<CardWork> work, CardBuffers& buffers,
                       const compute::HostMatrix& matrix, compute::WeightUse use)
    : m_work(std::move(work)), m_use(use), m_rows(matrix.rows), m_columns(matrix.columns) {
  Stream& stream = m_work->stream();
  const bool isFloat = use == compute::WeightUse::Vector;
  const std::int64_t count = m_rows * m_columns;
  const std::size_t size = isFloat ? sizeof(float) : sizeof(Bf16);
  m_memory = DeviceMemory(device, static_cast<std::size_t>(count) * size, "weights");
  const std::int64_t piece = std::min(count, kPiece);
  const HostBuffer staging = buffers.takeOfHost(static_cast<std::size_t>(piece) * size);
  for (std::int64_t first = 0; first < count; first += piece) {
    const std::int64_t here = std::min(piece, count - first);
    if (isFloat) {
      auto* const target = reinterpret_cast<float*>(staging.data());
      for (std::int64_t i = 0; i < here; ++i) target[i] = valueAt(matrix, first + i);
    } else if (matrix.type == DType::BF16) {
      std::memcpy(staging.data(), matrix.data + first * 2, static_cast<std::size_t>(here) * 2);
    } else {
      auto* const target = reinterpret_cast<std::uint16_t*>(staging.data());
      for (std::int64_t i = 0; i < here; ++i) target[i] = compute::bf16FromFloat(valueAt(matrix, first + i));
    }
    stream.copyToDevice(m_memory.as<std::byte>() + static_cast<std::size_t>(first) * size, staging.data(),
                        static_cast<std::size_t>(here) * size);
    // The piece is written over next.
    stream.synchronize();
  }
}

}  // namespace spanscope::cuda
