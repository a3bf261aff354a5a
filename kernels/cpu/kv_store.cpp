// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/kv_store.h"

#include "engine/base/error.h"
#include "engine/compute/pass_check.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

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
  std::int64_t before = 0;
  for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
    const compute::KvHeads heads = shape.headsOf(layer);
    const std::int64_t headElements = elements(heads.headSize, shape.blockSize, 1);
    m_layers.push_back(
        {.first = before, .places = KvPlaces(shape.blocks, shape.blockSize, heads.heads, headElements)});
    before += elements(headElements, heads.heads, shape.blocks);
  }
  const std::size_t bytes = checkedBytes("KV store", before, 1, size);
  m_keys = AlignedBuffer(bytes, "keys of the KV store");
  m_values = AlignedBuffer(bytes, "values of the KV store");
}

template <class T>
void CpuKvStore::copyBlockOf(BlockId source, BlockId target, std::int32_t slots) {
  const std::int64_t blockSize = m_shape.blockSize;
  for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
    const auto [heads, headSize] = m_shape.headsOf(layer);
    for (std::int64_t head = 0; head < heads; ++head) {
      const T* fromKeys = keys<T>(layer, source, head);
      T* toKeys = keys<T>(layer, target, head);
      for (std::int64_t i = 0; i < headSize; ++i)
        std::copy_n(fromKeys + i * blockSize, slots, toKeys + i * blockSize);
      std::copy_n(values<T>(layer, source, head), std::int64_t{slots} * headSize,
                  values<T>(layer, target, head));
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

// Host memory has slot after slot. A head of a block has keys [headSize][blockSize] and values
// [blockSize][headSize].

template <class T>
void CpuKvStore::readBlockOf(BlockId block, std::int32_t slots, std::byte* out) const {
  const std::int64_t blockSize = m_shape.blockSize;
  std::size_t before = 0;  // bytes of a slot's earlier layers
  for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
    const auto [heads, headSize] = m_shape.headsOf(layer);
    const auto headBytes = static_cast<std::size_t>(headSize) * sizeof(T);
    const std::size_t sideBytes = static_cast<std::size_t>(heads) * headBytes;
    std::vector<T> row(static_cast<std::size_t>(headSize));
    for (std::int64_t head = 0; head < heads; ++head) {
      const T* headKeys = keys<T>(layer, block, head);
      const T* headValues = values<T>(layer, block, head);
      std::byte* to = out + before + static_cast<std::size_t>(head) * headBytes;
      for (std::int64_t slot = 0; slot < slots; ++slot, to += compute::slotBytes(m_shape)) {
        for (std::int64_t i = 0; i < headSize; ++i)
          row[static_cast<std::size_t>(i)] = headKeys[i * blockSize + slot];
        std::memcpy(to, row.data(), headBytes);
        std::memcpy(to + sideBytes, headValues + slot * headSize, headBytes);
      }
    }
    before += 2 * sideBytes;
  }
}

template <class T>
void CpuKvStore::writeBlockOf(BlockId block, std::int32_t slots, const std::byte* bytes) {
  const std::int64_t blockSize = m_shape.blockSize;
  std::size_t before = 0;  // bytes of a slot's earlier layers
  for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) {
    const auto [heads, headSize] = m_shape.headsOf(layer);
    const auto headBytes = static_cast<std::size_t>(headSize) * sizeof(T);
    const std::size_t sideBytes = static_cast<std::size_t>(heads) * headBytes;
    std::vector<T> row(static_cast<std::size_t>(headSize));
    for (std::int64_t head = 0; head < heads; ++head) {
      T* headKeys = keys<T>(layer, block, head);
      T* headValues = values<T>(layer, block, head);
      const std::byte* from = bytes + before + static_cast<std::size_t>(head) * headBytes;
      for (std::int64_t slot = 0; slot < slots; ++slot, from += compute::slotBytes(m_shape)) {
        std::memcpy(row.data(), from, headBytes);
        for (std::int64_t i = 0; i < headSize; ++i)
          headKeys[i * blockSize + slot] = row[static_cast<std::size_t>(i)];
        std::memcpy(headValues + slot * headSize, from + sideBytes, headBytes);
      }
    }
    before += 2 * sideBytes;
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
  const auto [heads, headSize] = m_shape.headsOf(layer);
  const auto block = static_cast<BlockId>(slot / blockSize);
  const std::int64_t inBlock = slot % blockSize;
  for (std::int64_t head = 0; head < heads; ++head) {
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

void KeyBounds::open() {
  if (!m_known.empty()) return;
  const auto blocks = static_cast<std::int64_t>(m_shape.layers) * m_shape.blocks;
  m_bounds = AlignedBuffer(checkedBytes("bounds of keys", blocks * m_shape.heads, m_shape.headSize, 2,
                                        static_cast<std::int64_t>(sizeof(float))),
                           "bounds of keys");
  m_known.assign(static_cast<std::size_t>(blocks), 0);
}

void learnBounds(Executor& executor, const CpuAttentionPlan& plan, const CpuKvStore& store,
                 std::int32_t layer) {
  const compute::KvShape& shape = store.shape();
  KeyBounds& bounds = store.keyBounds();
  bounds.open();
  std::vector<BlockId> unknown;
  for (const PlannedRun& run : plan.runs()) {
    if (run.mostBlocks == 0) continue;
    for (const PlannedRange& range : run.ranges) {
      const std::int64_t first = (range.begin + shape.blockSize - 1) / shape.blockSize;
      const std::int64_t last = run.limit(range, run.rowCount - 1) / shape.blockSize;
      for (std::int64_t i = first; i < last; ++i) {
        const BlockId block = range.blocks[static_cast<std::size_t>(i)];
        if (bounds.isKnown(layer, block)) continue;
        bounds.know(layer, block);
        unknown.push_back(block);
      }
    }
  }
  const auto [heads, headSize] = shape.headsOf(layer);
  const auto tiles = static_cast<std::int64_t>(unknown.size()) * heads;
  const auto measure = [&, size = headSize](auto element, BlockId block, std::int64_t head) {
    using Element = decltype(element);
    measureBounds(store.keys<Element>(layer, block, head), size, shape.blockSize, 0, shape.blockSize,
                  bounds.of(layer, block, head));
  };
  const std::int64_t headElements = std::int64_t{headSize} * shape.blockSize;
  executor.runWhole(tiles, tiles * headElements, [&, count = heads](std::int64_t tile, int) {
    const BlockId block = unknown[static_cast<std::size_t>(tile / count)];
    if (shape.type == compute::DType::BF16) {
      measure(std::uint16_t{}, block, tile % count);
    } else {
      measure(float{}, block, tile % count);
    }
  });
}

namespace {

template <class T>
T narrow(float value) {
  if constexpr (sizeof(T) == sizeof(std::uint16_t)) {
    return compute::bf16FromFloat(value);
  } else {
    return value;
  }
}

struct Writer {
  const RowKernels& kernels;
  const CpuTensor& keys;
  const CpuTensor& values;
  std::span<const std::int64_t> slots;
  std::int32_t layer;
  CpuKvStore& store;

  template <class T>
  void writeRow(std::int64_t row, const float* cosSin, float* rotated) const {
    const std::int64_t blockSize = store.shape().blockSize;
    const auto [heads, headSize] = store.shape().headsOf(layer);
    const std::int64_t slot = slots[static_cast<std::size_t>(row)];
    const std::int64_t inBlock = slot % blockSize;
    const auto block = static_cast<BlockId>(slot / blockSize);
    for (std::int64_t head = 0; head < heads; ++head) {
      kernels.rotate(keys.row(row) + head * headSize, cosSin, headSize / 2, 1.0F, rotated);
      T* toKeys = store.keys<T>(layer, block, head) + inBlock;
      for (std::int64_t i = 0; i < headSize; ++i) toKeys[i * blockSize] = narrow<T>(rotated[i]);
      const float* value = values.row(row) + head * headSize;
      T* toValues = store.values<T>(layer, block, head) + inBlock * headSize;
      for (std::int64_t i = 0; i < headSize; ++i) toValues[i] = narrow<T>(value[i]);
    }
  }
};

}  // namespace

void writeKeysValues(Executor& executor, const RowKernels& kernels, const CpuPass& pass,
                     const CpuTensor& keys, const CpuTensor& values, std::int32_t layer, CpuKvStore& store) {
  const Writer writer{kernels, keys, values, pass.slots(), layer, store};
  const auto headSize = static_cast<std::size_t>(store.shape().headsOf(layer).headSize);
  const bool isBf16 = store.shape().type == DType::BF16;
  for (const std::int64_t slot : pass.slots())
    store.keyBounds().forget(layer, static_cast<BlockId>(slot / store.shape().blockSize));
  executor.runRanges(keys.rows(), keys.columns() * 4, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> rotated(headSize);
    for (std::int64_t row = first; row < last; ++row) {
      const float* cosSin = pass.keyRotation(row);
      if (isBf16) {
        writer.writeRow<std::uint16_t>(row, cosSin, rotated.data());
      } else {
        writer.writeRow<float>(row, cosSin, rotated.data());
      }
    }
  });
}

namespace {

using compute::StoredPart;

/// Compares one row with its slot. Keys of a slot are blockSize elements apart; values are consecutive.
template <class T>
float deviationOf(const float* row, const CpuKvStore& store, StoredPart part, std::int32_t layer,
                  std::int64_t slot, const RowKernels& kernels, const float* cosSin, float* rotated) {
  const compute::KvShape& shape = store.shape();
  const auto [heads, headSize] = shape.headsOf(layer);
  const std::int64_t inBlock = slot % shape.blockSize;
  const auto block = static_cast<BlockId>(slot / shape.blockSize);
  const bool isKeys = part == StoredPart::Keys;
  const std::int64_t step = isKeys ? shape.blockSize : 1;
  float sum = 0;
  for (std::int64_t head = 0; head < heads; ++head) {
    const float* own = row + head * headSize;
    if (isKeys) {
      kernels.rotate(own, cosSin, headSize / 2, 1.0F, rotated);
      own = rotated;
    }
    const T* const stored = isKeys ? store.keys<T>(layer, block, head) + inBlock
                                   : store.values<T>(layer, block, head) + inBlock * headSize;
    for (std::int64_t i = 0; i < headSize; ++i) {
      float difference = 0;
      if constexpr (std::is_same_v<T, float>) {
        difference = own[i] - stored[i * step];
      } else {
        difference =
            compute::floatFromBf16(compute::bf16FromFloat(own[i])) - compute::floatFromBf16(stored[i * step]);
      }
      sum += difference * difference;
    }
  }
  return sum;
}

}  // namespace

void measureDeviations(Executor& executor, const RowKernels& kernels, const CpuPass& pass, StoredPart part,
                       const CpuTensor& x, std::int32_t layer, const CpuKvStore& store, CpuTensor& out) {
  const bool isBf16 = store.shape().type == DType::BF16;
  executor.runRanges(x.rows(), x.columns() * 4, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> rotated(static_cast<std::size_t>(store.shape().headsOf(layer).headSize));
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t slot = pass.slots()[static_cast<std::size_t>(row)];
      const auto deviation = isBf16 ? &deviationOf<std::uint16_t> : &deviationOf<float>;
      *out.row(row) =
          deviation(x.row(row), store, part, layer, slot, kernels, pass.keyRotation(row), rotated.data());
    }
  });
}

}  // namespace spanscope::cpu
