// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/decode_results.h"
#include "kernels/cuda/attention/row_scale.h"
#include "kernels/cuda/attention/tensor_decode.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/pool/pool_element.h"
#include "kernels/cuda/reductions.h"

#include <string>

namespace spanscope::cuda {

namespace {

constexpr int kWarps = kDecodeThreads / kWarpSize;
/// Max query heads of a warp: w, w + kWarps, …
constexpr int kWarpHeads = kMostGroup / kWarps;

/// The work of one block: an item and a key head.
template <class T>
struct Decoding {
  const DecodeAttentionArguments& arguments;
  DecodeItem item;
  int keyHead;
  int group;  ///< query heads
  int headSize;
  int base;  ///< the first local token of a tile; keys are counted from this token
  int firstKey;
  int count;  ///< number of keys, including those before firstKey
  int tileKeys;
  const std::uint8_t* chosen;  ///< by block of the segment; null: all blocks are read

  // Shared memory.
  float* queries;     ///< [group][headSize], rotated and scaled
  float* scores;      ///< [parts · group][32], then the weights of a tile [group][32]
  float* factors;     ///< [group]: factor of the previous sums
  float* all;         ///< [group][chunkKeys]: scores of all keys, if the mass is requested
  std::byte* keys;    ///< [2][tileKeys] of decodeKeyStride
  std::byte* values;  ///< the same

  SPANSCOPE_DEVICE int keyStride() const {
    return static_cast<int>(decodeKeyStride(static_cast<std::size_t>(headSize) * sizeof(T)));
  }
  SPANSCOPE_DEVICE const T* keyAt(const std::byte* tiles, int stage, int key) const {
    return reinterpret_cast<const T*>(tiles + (stage * tileKeys + key) * keyStride());
  }
  /// Parts of a head that warps sum in parallel, if there are fewer heads than warps.
  SPANSCOPE_DEVICE int parts() const { return group == 1 ? 4 : group == 2 ? 2 : 1; }

  SPANSCOPE_DEVICE void rotateQueries() const {
    const int size = arguments.pool.tensorHeadSize();
    const int pairs = size / 2;
    const std::int64_t row = item.rotation + arguments.locals[item.row];
    const float* const cosines = arguments.cosSin + row * size;
    const float* const sines = cosines + pairs;
    const Bf16* const source = arguments.queries + item.row * arguments.queryStride + keyHead * group * size;
    const float scale = powerScaleOf(arguments, item.row);
    for (int i = threadIndex(); i < group * pairs; i += threadCount()) {
      const int from = i / pairs * size + i % pairs;
      const int place = i / pairs * headSize + i % pairs;
      const float first = toFloat(source[from]);
      const float second = toFloat(source[from + pairs]);
      const float cosine = cosines[i % pairs];
      const float sine = sines[i % pairs];
      queries[place] = (first * cosine - second * sine) * scale;
      queries[place + pairs] = (second * cosine + first * sine) * scale;
    }
    const int padding = arguments.pool.padding;
    for (int i = threadIndex(); i < group * padding; i += threadCount())
      queries[i / padding * headSize + size + i % padding] = 0;
  }

  SPANSCOPE_DEVICE bool isKey(int key) const {
    return key >= firstKey && key < count &&
           (chosen == nullptr || chosen[(base + key) / arguments.pool.blockSize] != 0);
  }

  /// Starts to copy a tile. Places without a key become 0.
  SPANSCOPE_DEVICE void startTile(int tile, int stage) const {
    constexpr int kElements = kElementsPer16<T>;
    const int vectors = headSize / kElements;
    const KeyValuePool& pool = arguments.pool;
    for (int i = threadIndex(); i < tileKeys * vectors; i += threadCount()) {
      const int inTile = i / vectors;
      const int element = i % vectors * kElements;
      const int key = tile * tileKeys + inTile;
      std::int64_t place = 0;
      if (isKey(key)) {
        const int local = base + key;
        const std::int64_t block = arguments.blocks[item.firstBlock + local / pool.blockSize];
        place = pool.placeOf(arguments.layer, block, keyHead) + local % pool.blockSize * headSize + element;
      }
      const int bytes = isKey(key) ? 16 : 0;
      const int target = (stage * tileKeys + inTile) * keyStride() + element * static_cast<int>(sizeof(T));
      copyAsync16(keys + target, static_cast<const T*>(pool.keys) + place, bytes);
      copyAsync16(values + target, static_cast<const T*>(pool.values) + place, bytes);
    }
  }

  /// A lane for each key; a warp for each head, or for a part of a head.
  SPANSCOPE_DEVICE void scoreTile(int stage) const {
    constexpr int kElements = kElementsPer16<T>;
    const int vectors = headSize / kElements;
    const int part = parts() == 1 ? 0 : warpIndex() / group;
    const int firstHead = parts() == 1 ? warpIndex() : warpIndex() % group;
    if (laneIndex() >= tileKeys || firstHead >= group) return;
    const T* const key = keyAt(keys, stage, laneIndex());
    float sums[kWarpHeads] = {};
    for (int v = part * vectors / parts(); v < (part + 1) * vectors / parts(); ++v) {
      float elements[kElements];
      loadElements(key + v * kElements, elements);
      SPANSCOPE_UNROLL
      for (int j = 0; j < kWarpHeads; ++j) {
        const int head = firstHead + j * kWarps;
        if (head >= group) break;
        const float* const query = queries + head * headSize + v * kElements;
        SPANSCOPE_UNROLL
        for (int first = 0; first < kElements; first += 4) {
          float turned[4];
          loadElements(query + first, turned);
          SPANSCOPE_UNROLL
          for (int e = 0; e < 4; ++e) sums[j] = multiplyAdd(elements[first + e], turned[e], sums[j]);
        }
      }
    }
    SPANSCOPE_UNROLL
    for (int j = 0; j < kWarpHeads; ++j) {
      const int head = firstHead + j * kWarps;
      if (head < group) scores[(part * group + head) * kWarpSize + laneIndex()] = sums[j];
    }
  }

  /// Turns the scores of a tile into weights. A warp for each head.
  SPANSCOPE_DEVICE void weighTile(int tile, PartialSum (&sums)[kWarpHeads]) const {
    const int key = tile * tileKeys + laneIndex();
    const bool isOwn = laneIndex() < tileKeys && isKey(key);
    SPANSCOPE_UNROLL
    for (int j = 0; j < kWarpHeads; ++j) {
      const int head = warpIndex() + j * kWarps;
      if (head >= group) break;
      float score = kMinusInfinity;
      if (isOwn) {
        score = scores[head * kWarpSize + laneIndex()];
        for (int part = 1; part < parts(); ++part)
          score += scores[(part * group + head) * kWarpSize + laneIndex()];
        score = cappedOf(arguments, score);
      }
      if (arguments.itemStretches > 0 && laneIndex() < tileKeys && key < count)
        all[head * arguments.chunkKeys + key] = score;
      const float tileLargest = warpLargest(score);
      const float largest = tileLargest > sums[j].largest ? tileLargest : sums[j].largest;
      // For a row that does not read all keys, a tile may have no key.
      const float factor = largest == kMinusInfinity ? 1.0F : exp2Fast(sums[j].largest - largest);
      const float weight = isOwn ? exp2Fast(score - largest) : 0.0F;
      scores[head * kWarpSize + laneIndex()] = weight;
      sums[j] = {largest, sums[j].sum * factor + warpSum(weight)};
      if (laneIndex() == 0) factors[head] = factor;
    }
  }

  /// A thread sums two neighbouring elements of every `headStep`-th head.
  SPANSCOPE_DEVICE int headStep() const { return kDecodeThreads / (headSize / 2); }
  SPANSCOPE_DEVICE int ownHead() const { return threadIndex() / (headSize / 2); }
  SPANSCOPE_DEVICE int ownElement() const { return threadIndex() % (headSize / 2) * 2; }

  template <int Heads>
  SPANSCOPE_DEVICE void sumTile(int tile, int stage, float (&sums)[Heads][2]) const {
    if (ownHead() >= headStep()) return;
    const int left = count - tile * tileKeys;
    const int keyCount = left < tileKeys ? left : tileKeys;
    SPANSCOPE_UNROLL
    for (int j = 0; j < Heads; ++j) {
      const int head = ownHead() + j * headStep();
      if (head >= group) break;
      sums[j][0] *= factors[head];
      sums[j][1] *= factors[head];
    }
    for (int key = 0; key < keyCount; ++key) {
      float first = 0;
      float second = 0;
      loadPair(keyAt(values, stage, key) + ownElement(), first, second);
      SPANSCOPE_UNROLL
      for (int j = 0; j < Heads; ++j) {
        const int head = ownHead() + j * headStep();
        if (head >= group) break;
        const float weight = scores[head * kWarpSize + key];
        sums[j][0] = multiplyAdd(weight, first, sums[j][0]);
        sums[j][1] = multiplyAdd(weight, second, sums[j][1]);
      }
    }
  }

  SPANSCOPE_DEVICE std::int64_t placeOf(int head) const {
    return decodePlaceOf(arguments, keyHead * group + head);
  }

  /// A warp for each head, as in weighTile.
  SPANSCOPE_DEVICE void storeMassOfHeads(const PartialSum (&sums)[kWarpHeads]) const {
    SPANSCOPE_UNROLL
    for (int j = 0; j < kWarpHeads; ++j) {
      const int head = warpIndex() + j * kWarps;
      if (head >= group) break;
      storeMass(arguments, item, keyHead * group + head, all + head * arguments.chunkKeys, base, base + count,
                sums[j].largest);
    }
  }
};

}  // namespace

/// A block for each item and key head; threads keep Heads query heads of values.
template <class T, int Heads>
SPANSCOPE_KERNEL(kDecodeBudget)
decodeKernel(DecodeAttentionArguments arguments) {
  const DecodeItem item = arguments.items[blockIndex().x];
  const KeyValuePool& pool = arguments.pool;
  const int group = arguments.queryHeads / pool.heads;
  const int headSize = pool.headSize;
  const int tileKeys = decodeTileKeys(static_cast<std::size_t>(headSize) * sizeof(T), group);
  SharedMemory shared;
  float* const queries = shared.take<float>(group * headSize);
  float* const scores = shared.take<float>((group > kWarps ? group : kWarps) * kWarpSize);
  float* const factors = shared.take<float>(group);
  float* const all = shared.take<float>(arguments.itemStretches > 0 ? group * arguments.chunkKeys : 0);
  const int tileBytes =
      2 * tileKeys * static_cast<int>(decodeKeyStride(static_cast<std::size_t>(headSize) * sizeof(T)));
  std::byte* const keys = shared.take<std::byte>(tileBytes);
  std::byte* const values = shared.take<std::byte>(tileBytes);
  if (item.row < 0) return;
  const int end = endOf(item, arguments.locals);
  // Tiles begin at local token 0 of the segment. The grouping of sums then depends only on the keys.
  const int inChunk = item.begin % arguments.chunkKeys;
  const int base = item.begin - inChunk % tileKeys;
  const Decoding<T> work{arguments,
                         item,
                         blockIndex().y,
                         group,
                         headSize,
                         base,
                         item.begin - base,
                         end > item.begin ? end - base : 0,
                         tileKeys,
                         item.firstChoice == DecodeItem::kReadsAll
                             ? nullptr
                             : arguments.chosen + blockIndex().y * arguments.choiceBlocks + item.firstChoice,
                         queries,
                         scores,
                         factors,
                         all,
                         keys,
                         values};

  PartialSum sums[kWarpHeads];
  SPANSCOPE_UNROLL
  for (int j = 0; j < kWarpHeads; ++j) sums[j] = {kMinusInfinity, 0};
  float own[Heads][2] = {};
  const int tiles = (work.count + tileKeys - 1) / tileKeys;
  if (tiles > 0) {
    work.rotateQueries();
    work.startTile(0, 0);
  }
  commitCopies();
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % 2;
    if (tile + 1 < tiles) work.startTile(tile + 1, 1 - stage);
    commitCopies();
    waitCopies<1>();
    syncBlock();
    work.scoreTile(stage);
    syncBlock();
    work.weighTile(tile, sums);
    syncBlock();
    work.template sumTile<Heads>(tile, stage, own);
    syncBlock();
  }
  waitCopies<0>();

  SPANSCOPE_UNROLL
  for (int j = 0; j < kWarpHeads; ++j) {
    const int head = warpIndex() + j * kWarps;
    if (head < group && laneIndex() == 0) arguments.partialSums[work.placeOf(head)] = sums[j];
  }
  if (work.ownHead() < work.headStep()) {
    SPANSCOPE_UNROLL
    for (int j = 0; j < Heads; ++j) {
      const int head = work.ownHead() + j * work.headStep();
      if (head >= group) break;
      float* const target = arguments.partialValues + work.placeOf(head) * headSize + work.ownElement();
      target[0] = own[j][0];
      target[1] = own[j][1];
    }
  }
  if (item.massSpan > 0 && work.count > 0) work.storeMassOfHeads(sums);
}

/// A block for each row and query head.
SPANSCOPE_KERNEL(kMergeBudget) mergeKernel(DecodeAttentionArguments arguments) {
  const int row = blockIndex().x;
  const int head = blockIndex().y;
  const int headSize = arguments.pool.headSize;
  const int size = arguments.pool.tensorHeadSize();
  const int begin = arguments.rowItems[row];
  const int end = arguments.rowItems[row + 1];
  const auto partial = [&](int item) {
    return arguments.partialSums[static_cast<std::int64_t>(item) * arguments.queryHeads + head];
  };
  PartialSum total{kMinusInfinity, 0};
  for (int item = begin; item < end; ++item) {
    const float largest = partial(item).largest;
    total.largest = largest > total.largest ? largest : total.largest;
  }
  for (int item = begin; item < end; ++item) {
    const PartialSum each = partial(item);
    if (each.sum > 0) total.sum = multiplyAdd(each.sum, exp2Fast(each.largest - total.largest), total.sum);
  }
  const std::int64_t place = static_cast<std::int64_t>(row) * arguments.queryHeads + head;
  for (int i = threadIndex(); i < size; i += threadCount()) {
    float sum = 0;
    for (int item = begin; item < end; ++item) {
      const PartialSum each = partial(item);
      if (each.sum == 0) continue;  // no key was read for this item, so nothing was written
      const std::int64_t from = static_cast<std::int64_t>(item) * arguments.queryHeads + head;
      sum = multiplyAdd(arguments.partialValues[from * headSize + i], exp2Fast(each.largest - total.largest),
                        sum);
    }
    arguments.out[place * size + i] = toBf16(total.sum > 0 ? sum / total.sum : 0.0F);
  }
  if (arguments.totals != nullptr && threadIndex() == 0) arguments.totals[place] = total;
}

/// A block for each entry and query head. The block goes through the items in order, because neighbours may
/// share a stretch.
SPANSCOPE_KERNEL(kMassBudget) massKernel(MassArguments arguments) {
  const MassEntry entry = arguments.entries[blockIndex().x];
  const int head = blockIndex().y;
  float* const mass = arguments.mass + entry.firstMass + static_cast<std::int64_t>(head) * entry.stretches;
  float* const first = arguments.first + entry.firstFirst + static_cast<std::int64_t>(head) * entry.ranges;
  for (int i = threadIndex(); i < entry.stretches; i += threadCount()) mass[i] = 0;
  for (int i = threadIndex(); i < entry.ranges; i += threadCount()) first[i] = 0;
  syncBlock();
  for (int row = entry.firstRow; row < entry.firstRow + entry.rowCount; ++row) {
    const PartialSum total = arguments.totals[static_cast<std::int64_t>(row) * arguments.queryHeads + head];
    for (int i = arguments.rowItems[row]; i < arguments.rowItems[row + 1]; ++i) {
      const DecodeItem item = arguments.items[i];
      const int end = endOf(item, arguments.locals);
      if (end <= item.begin) continue;
      const std::int64_t place = static_cast<std::int64_t>(i) * arguments.queryHeads + head;
      const float factor = exp2Fast(arguments.partialSums[place].largest - total.largest) / total.sum;
      const int firstStretch = item.begin / item.massSpan;
      const int stretches = (end - 1) / item.massSpan - firstStretch + 1;
      for (int s = threadIndex(); s < stretches; s += threadCount()) {
        mass[item.firstStretch + firstStretch + s] +=
            arguments.partialMass[place * arguments.itemStretches + s] * factor;
      }
      if (threadIndex() == 0 && item.range >= 0) first[item.range] += arguments.partialFirst[place] * factor;
      syncBlock();
    }
  }
}

namespace {

template <class T>
auto decodeKernelFor(int group, int headSize) {
  const int step = kDecodeThreads / (headSize / 2);
  const int heads = (group + step - 1) / step;
  if (heads <= 1) return decodeKernel<T, 1>;
  if (heads <= 2) return decodeKernel<T, 2>;
  if (heads <= 4) return decodeKernel<T, 4>;
  if (heads <= 8) return decodeKernel<T, 8>;
  return decodeKernel<T, 16>;
}

void check(const DecodeAttentionArguments& arguments) {
  const KeyValuePool& pool = arguments.pool;
  const bool dividesHeads = pool.heads > 0 && arguments.queryHeads % pool.heads == 0;
  if (dividesHeads && arguments.queryHeads / pool.heads <= kMostGroup && pool.headSize % 16 == 0 &&
      pool.headSize > 0 && pool.headSize <= kMostHeadSize) {
    return;
  }
  throw Failure(
      errorAt("attention on a GPU",
              std::to_string(arguments.queryHeads) + " query heads, " + std::to_string(pool.heads) +
                  " key heads, heads of " + std::to_string(pool.headSize),
              "at most 16 query heads per key head, head sizes that are multiples of 16 up to 256"));
}

void sumOnCores(Stream& stream, const DecodeAttentionArguments& arguments) {
  const KeyValuePool& pool = arguments.pool;
  const int group = arguments.queryHeads / pool.heads;
  const std::size_t headBytes = static_cast<std::size_t>(pool.headSize) * pool.elementBytes();
  const int massKeys = arguments.itemStretches > 0 ? arguments.chunkKeys : 0;
  launch(stream, "decodeAttention",
         {.grid = {arguments.itemCount, pool.heads},
          .threads = kDecodeThreads,
          .sharedBytes = decodeSharedBytes(group, pool.headSize, headBytes, massKeys)},
         pool.isFloat ? decodeKernelFor<float>(group, pool.headSize)
                      : decodeKernelFor<Bf16>(group, pool.headSize),
         arguments);
}

}  // namespace

void attendDecode(Stream& stream, const DecodeAttentionArguments& arguments) {
  check(arguments);
  if (arguments.onTensorCores)
    sumOnTensorCores(stream, arguments);
  else
    sumOnCores(stream, arguments);
  launch(stream, "mergeAttention",
         {.grid = {arguments.rows, arguments.queryHeads}, .threads = kMergeBudget.threads}, mergeKernel,
         arguments);
}

void sumMass(Stream& stream, const MassArguments& arguments) {
  launch(stream, "sumMass",
         {.grid = {arguments.entryCount, arguments.queryHeads}, .threads = kMassBudget.threads}, massKernel,
         arguments);
}

}  // namespace spanscope::cuda
