// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/kv_store.h"

#include "engine/base/error.h"
#include "engine/compute/half.h"
#include "engine/compute/kv_shape_check.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace spanscope::cpu {

using compute::DType;

namespace {

float widen(float value) {
  return value;
}
float widen(std::uint16_t value) {
  return compute::floatFromBf16(value);
}

}  // namespace

CpuKvStore::CpuKvStore(const compute::KvShape& shape) : m_shape(shape), m_bounds(shape) {
  compute::checkKvShape(shape);
  const auto size = static_cast<std::int64_t>(compute::sizeOf(shape.type));
  const auto elements = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::int64_t>(checkedBytes("KV store", a, b, c, size)) / size;
  };
  m_headElements = elements(shape.headSize, shape.blockSize, 1);
  m_layerElements = elements(m_headElements, shape.heads, shape.blocks);
  m_places = KvPlaces(shape.blocks, shape.blockSize, shape.heads, m_headElements);
  const std::size_t bytes = checkedBytes("KV store", m_layerElements, shape.layers, size);
  m_keys = AlignedBuffer(bytes, "keys of the KV store");
  m_values = AlignedBuffer(bytes, "values of the KV store");
}

template <class T>
void CpuKvStore::copyBlockOf(BlockId source, BlockId target, std::int32_t slots) {
  const std::int64_t blockSize = m_shape.blockSize;
  const std::int64_t headSize = m_shape.headSize;
  for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
    for (std::int64_t head = 0; head < m_shape.heads; ++head) {
      const T* fromKeys = keys<T>(layer, source, head);
      T* toKeys = keys<T>(layer, target, head);
      for (std::int64_t i = 0; i < headSize; ++i)
        std::copy_n(fromKeys + i * blockSize, slots, toKeys + i * blockSize);
      std::copy_n(values<T>(layer, source, head), slots * headSize, values<T>(layer, target, head));
    }
  }
}

void CpuKvStore::copyBlock(BlockId source, BlockId target, std::int32_t slots) {
  if (source == target || slots <= 0) return;
  m_bounds.forget(target);
  if (m_shape.type == DType::BF16) {
    copyBlockOf<std::uint16_t>(source, target, slots);
  } else {
    copyBlockOf<float>(source, target, slots);
  }
}

// Host memory has slot by slot what a head of a block has as keys [headSize][blockSize] and values
// [blockSize][headSize].

template <class T>
void CpuKvStore::readBlockOf(BlockId block, std::int32_t slots, std::byte* out) const {
  const std::int64_t blockSize = m_shape.blockSize;
  const std::int64_t headSize = m_shape.headSize;
  const auto headBytes = static_cast<std::size_t>(headSize) * sizeof(T);
  const std::size_t sideBytes = static_cast<std::size_t>(m_shape.heads) * headBytes;
  std::vector<T> row(static_cast<std::size_t>(headSize));
  for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
    for (std::int64_t head = 0; head < m_shape.heads; ++head) {
      const T* headKeys = keys<T>(layer, block, head);
      const T* headValues = values<T>(layer, block, head);
      std::byte* to =
          out + static_cast<std::size_t>(layer) * 2 * sideBytes + static_cast<std::size_t>(head) * headBytes;
      for (std::int64_t slot = 0; slot < slots; ++slot, to += compute::slotBytes(m_shape)) {
        for (std::int64_t i = 0; i < headSize; ++i)
          row[static_cast<std::size_t>(i)] = headKeys[i * blockSize + slot];
        std::memcpy(to, row.data(), headBytes);
        std::memcpy(to + sideBytes, headValues + slot * headSize, headBytes);
      }
    }
  }
}

template <class T>
void CpuKvStore::writeBlockOf(BlockId block, std::int32_t slots, const std::byte* bytes) {
  const std::int64_t blockSize = m_shape.blockSize;
  const std::int64_t headSize = m_shape.headSize;
  const auto headBytes = static_cast<std::size_t>(headSize) * sizeof(T);
  const std::size_t sideBytes = static_cast<std::size_t>(m_shape.heads) * headBytes;
  std::vector<T> row(static_cast<std::size_t>(headSize));
  for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
    for (std::int64_t head = 0; head < m_shape.heads; ++head) {
      T* headKeys = keys<T>(layer, block, head);
      T* headValues = values<T>(layer, block, head);
      const std::byte* from = bytes + static_cast<std::size_t>(layer) * 2 * sideBytes +
                              static_cast<std::size_t>(head) * headBytes;
      for (std::int64_t slot = 0; slot < slots; ++slot, from += compute::slotBytes(m_shape)) {
        std::memcpy(row.data(), from, headBytes);
        for (std::int64_t i = 0; i < headSize; ++i)
          headKeys[i * blockSize + slot] = row[static_cast<std::size_t>(i)];
        std::memcpy(headValues + slot * headSize, from + sideBytes, headBytes);
      }
    }
  }
}

void CpuKvStore::readBlock(const compute::BlockToHost& block) const {
  compute::checkHostBlock(m_shape, block.block, block.slots, block.bytes.size());
  if (m_shape.type == DType::BF16) {
    readBlockOf<std::uint16_t>(block.block, block.slots, block.bytes.data());
  } else {
    readBlockOf<float>(block.block, block.slots, block.bytes.data());
  }
}

void CpuKvStore::writeBlock(const compute::BlockFromHost& block) {
  compute::checkHostBlock(m_shape, block.block, block.slots, block.bytes.size());
  m_bounds.forget(block.block);
  if (m_shape.type == DType::BF16) {
    writeBlockOf<std::uint16_t>(block.block, block.slots, block.bytes.data());
  } else {
    writeBlockOf<float>(block.block, block.slots, block.bytes.data());
  }
}

template <class T>
void CpuKvStore::readFrom(std::int32_t layer, std::int64_t slot, std::span<float> key,
                          std::span<float> value) const {
  const std::int64_t blockSize = m_shape.blockSize;
  const std::int64_t headSize = m_shape.headSize;
  const auto block = static_cast<BlockId>(slot / blockSize);
  const std::int64_t inBlock = slot % blockSize;
  for (std::int64_t head = 0; head < m_shape.heads; ++head) {
    const T* headKeys = keys<T>(layer, block, head);
    const T* headValues = values<T>(layer, block, head);
    for (std::int64_t i = 0; i < headSize; ++i) {
      const auto place = static_cast<std::size_t>(head * headSize + i);
      key[place] = widen(headKeys[i * blockSize + inBlock]);
      value[place] = widen(headValues[inBlock * headSize + i]);
    }
  }
}

void CpuKvStore::read(std::int32_t layer, std::int64_t slot, std::span<float> key,
                      std::span<float> value) const {
  if (m_shape.type == DType::BF16) {
    readFrom<std::uint16_t>(layer, slot, key, value);
  } else {
    readFrom<float>(layer, slot, key, value);
  }
}

}  // namespace spanscope::cpu
