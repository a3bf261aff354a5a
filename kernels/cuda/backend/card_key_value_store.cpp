// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/card_key_value_store.h"

#include "engine/base/error.h"
#include "engine/compute/half.h"
#include "engine/compute/kv_shape_check.h"
#include "kernels/cuda/attention/decode_attention.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cuda {
namespace {

using compute::DType;

const compute::KvShape& checked(const compute::KvShape& shape) {
  compute::checkKvShape(shape);
  if (shape.headSize > kMostHeadSize) {
    throw Failure(errorAt("keys and values on a CUDA device", "heads of " + std::to_string(shape.headSize),
                          "at most " + std::to_string(kMostHeadSize)));
  }
  return shape;
}

}  // namespace

KeyValuePool poolOf(const compute::KvShape& shape) {
  return {.isFloat = shape.type == DType::F32,
          .layers = shape.layers,
          .blocks = shape.blocks,
          .blockSize = shape.blockSize,
          .heads = shape.heads,
          .headSize = paddedHeadSize(shape.headSize),
          .padding = paddedHeadSize(shape.headSize) - shape.headSize};
}

CardKeyValueStore::CardKeyValueStore(const Device& device, std::shared_ptr<CardWork> work,
                                     const compute::KvShape& shape)
    : m_shape(checked(shape)), m_work(std::move(work)), m_pool(poolOf(shape)) {
  const std::size_t bytes = static_cast<std::size_t>(m_pool.elements()) * m_pool.elementBytes();
  m_keys = DeviceMemory(device, bytes, "keys");
  m_values = DeviceMemory(device, bytes, "values");
  if (m_pool.padding > 0) {
    m_work->stream().fill(m_keys.data(), 0, bytes);
    m_work->stream().fill(m_values.data(), 0, bytes);
  }
  m_pool.keys = m_keys.data();
  m_pool.values = m_values.data();
}

void CardKeyValueStore::readSide(const void* side, std::int32_t layer, std::int64_t slot,
                                 std::span<float> out) const {
  Stream& stream = m_work->stream();
  const std::size_t size = m_pool.elementBytes();
  const auto headSize = static_cast<std::size_t>(m_shape.headSize);
  std::vector<std::byte> bytes(out.size() * size);
  for (int head = 0; head < m_shape.heads; ++head) {
    const std::int64_t place =
        m_pool.placeOf(layer, slot / m_shape.blockSize, head) + slot % m_shape.blockSize * m_pool.headSize;
    stream.copyToHost(bytes.data() + static_cast<std::size_t>(head) * headSize * size,
                      static_cast<const std::byte*>(side) + static_cast<std::size_t>(place) * size,
                      headSize * size);
  }
  stream.synchronize();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (m_pool.isFloat) {
      std::memcpy(&out[i], bytes.data() + i * size, size);
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * size, size);
      out[i] = compute::floatFromBf16(bits);
    }
  }
}

void CardKeyValueStore::read(std::int32_t layer, std::int64_t slot, std::span<float> key,
                             std::span<float> value) const {
  readSide(m_pool.keys, layer, slot, key);
  readSide(m_pool.values, layer, slot, value);
}

}  // namespace spanscope::cuda
