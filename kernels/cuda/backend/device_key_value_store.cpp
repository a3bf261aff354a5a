// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/device_key_value_store.h"

#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "engine/compute/pass_check.h"
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
  if (!shape.byLayer.empty()) {
    throw Failure(errorAt("keys and values on a CUDA device", "layers with different heads",
                          "the same heads in all layers"));
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

DeviceKeyValueStore::DeviceKeyValueStore(const Device& device, std::shared_ptr<DeviceWork> work,
                                         const compute::KvShape& shape)
    : m_shape(checked(shape)), m_device(device), m_work(std::move(work)), m_pool(poolOf(shape)) {
  const std::size_t bytes = static_cast<std::size_t>(m_pool.elements()) * m_pool.elementBytes();
  m_keys = DeviceMemory(device, bytes, "keys");
  m_values = DeviceMemory(device, bytes, "values");
  const auto heads = static_cast<std::size_t>(m_pool.headOf(m_pool.layers, 0, 0));
  m_bounded = DeviceMemory(device, heads, "notes of bounds of keys");
  m_work->stream().fill(m_bounded.data(), 0, heads);
  if (m_pool.padding > 0) {
    m_work->stream().fill(m_keys.data(), 0, bytes);
    m_work->stream().fill(m_values.data(), 0, bytes);
  }
  m_pool.keys = m_keys.data();
  m_pool.values = m_values.data();
  m_pool.bounded = m_bounded.as<std::uint8_t>();
}

void DeviceKeyValueStore::keepBounds() const {
  if (m_pool.bounds != nullptr) return;
  const std::size_t heads = m_bounded.bytes();
  m_bounds =
      DeviceMemory(m_device, heads * 2 * static_cast<std::size_t>(m_pool.headSize) * m_pool.elementBytes(),
                   "bounds of keys");
  m_pool.bounds = m_bounds.data();
}

void DeviceKeyValueStore::readSide(const void* side, std::int32_t layer, std::int64_t slot,
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

void DeviceKeyValueStore::read(std::int32_t layer, std::int64_t slot, std::span<float> key,
                               std::span<float> value) const {
  readSide(m_pool.keys, layer, slot, key);
  readSide(m_pool.values, layer, slot, value);
}

namespace {

/// The heads of one block as on the GPU, [layer][keys, values][head][slots][headSize], with padding. If all
/// slots of a block are copied, one copy is enough.
struct StagedBlock {
  const KeyValuePool& pool;
  const compute::KvShape& shape;
  std::int32_t slots;

  std::size_t rowBytes() const { return static_cast<std::size_t>(pool.headSize) * pool.elementBytes(); }
  std::size_t headBytes() const { return static_cast<std::size_t>(slots) * rowBytes(); }
  std::size_t sideBytes() const { return static_cast<std::size_t>(shape.heads) * headBytes(); }
  std::size_t bytes() const { return 2 * static_cast<std::size_t>(shape.layers) * sideBytes(); }

  /// Calls visit(place of a row in `bytes`, place in host memory) for each row of a head.
  template <class Visit>
  void eachRow(const Visit& visit) const {
    const std::size_t row = static_cast<std::size_t>(shape.headSize) * pool.elementBytes();
    std::size_t host = 0;
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(slots); ++slot) {
      for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(shape.layers); ++side) {
        for (std::size_t head = 0; head < static_cast<std::size_t>(shape.heads); ++head, host += row)
          visit(side * sideBytes() + head * headBytes() + slot * rowBytes(), host);
      }
    }
  }

  /// Calls copy(place in `bytes`, address on the GPU, bytes) for ranges that are contiguous in both places.
  template <class Copy>
  void eachStretch(BlockId block, const Copy& copy) const {
    const bool isWhole = slots == pool.blockSize;
    const int stretches = isWhole ? 1 : shape.heads;
    const std::size_t length = isWhole ? sideBytes() : headBytes();
    if (length == 0) return;
    std::size_t at = 0;
    for (int layer = 0; layer < shape.layers; ++layer) {
      for (void* const side : {pool.keys, pool.values}) {
        for (int head = 0; head < stretches; ++head, at += length) {
          const auto place = static_cast<std::size_t>(pool.placeOf(layer, block, head)) * pool.elementBytes();
          copy(at, static_cast<std::byte*>(side) + place, length);
        }
      }
    }
  }
};

}  // namespace

void DeviceKeyValueStore::readBlocks(std::span<const compute::BlockToHost> blocks) const {
  Stream& stream = m_work->stream();
  const std::size_t row = static_cast<std::size_t>(m_shape.headSize) * m_pool.elementBytes();
  for (const compute::BlockToHost& block : blocks) {
    compute::checkHostBlock(m_shape, block.block, block.slots, block.bytes.size());
    const StagedBlock staged{m_pool, m_shape, block.slots};
    std::vector<std::byte> bytes(staged.bytes());
    staged.eachStretch(block.block, [&](std::size_t at, const std::byte* place, std::size_t length) {
      stream.copyToHost(bytes.data() + at, place, length);
    });
    stream.synchronize();
    staged.eachRow([&](std::size_t at, std::size_t host) {
      std::memcpy(block.bytes.data() + host, bytes.data() + at, row);
    });
  }
}

void DeviceKeyValueStore::writeBlocks(std::span<const compute::BlockFromHost> blocks) {
  Stream& stream = m_work->stream();
  const std::size_t row = static_cast<std::size_t>(m_shape.headSize) * m_pool.elementBytes();
  for (const compute::BlockFromHost& block : blocks) {
    compute::checkHostBlock(m_shape, block.block, block.slots, block.bytes.size());
    const StagedBlock staged{m_pool, m_shape, block.slots};
    std::vector<std::byte> bytes(staged.bytes());  // the padding of heads is 0
    staged.eachRow([&](std::size_t at, std::size_t host) {
      std::memcpy(bytes.data() + at, block.bytes.data() + host, row);
    });
    staged.eachStretch(block.block, [&](std::size_t at, std::byte* place, std::size_t length) {
      stream.copyToDevice(place, bytes.data() + at, length);
    });
    if (m_pool.bounds != nullptr) {
      for (int layer = 0; layer < m_pool.layers; ++layer)
        stream.fill(m_pool.bounded + m_pool.headOf(layer, block.block, 0), 0,
                    static_cast<std::size_t>(m_pool.heads));
    }
    stream.synchronize();
  }
}

}  // namespace spanscope::cuda
