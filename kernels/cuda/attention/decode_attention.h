// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of single rows, divided along their keys. A thread block processes the keys of one item for all
// query heads of one key head. Every key is therefore read once. Another kernel merges the items of a row.
// Open this file to speed up decode without tensor cores.
#pragma once

#include "kernels/cuda/attention/decode_plan.h"
#include "kernels/cuda/attention/partial_sum.h"
#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out[r] = softmax over the keys of row r of (scale · ⟨R(distance) q, k⟩) · values.
struct DecodeAttentionArguments {
  const Bf16* queries = nullptr;  ///< [rows] of [queryHeads][headSize], not rotated, `queryStride` elements
                                  ///< apart
  std::int64_t queryStride = 0;
  int queryHeads = 0;  ///< a multiple of the pool's heads, at most 16 per pool head
  float scale = 0;
  const float* rowScales = nullptr;  ///< [rows]; if not null, these factors replace `scale`
  float softCap = 0;                 ///< as in compute::AttentionShape
  KeyValuePool
      pool;  ///< headSize is a multiple of 16 up to 256; heads of queries, rotations and out have no padding
  int layer = 0;
  /// Use tensor cores if isForTensorCores() allows it. Rotated queries and weights are then rounded to bf16.
  bool onTensorCores = false;

  // The next members come from the plan.
  const DecodeItem* items = nullptr;
  int itemCount = 0;
  const std::int32_t* rowItems = nullptr;
  const std::int32_t* locals = nullptr;
  const std::int32_t* blocks = nullptr;
  const float* cosSin = nullptr;
  int rows = 0;
  int chunkKeys = 0;
  int itemStretches = 0;  ///< 0: no mass is needed
  /// [heads of the pool][choiceBlocks]: 0 for blocks that a row does not read. Null: all rows read all
  /// blocks.
  const std::uint8_t* chosen = nullptr;
  int choiceBlocks = 0;

  // The next members are memory for use between the kernels.
  PartialSum* partialSums = nullptr;  ///< [itemCount][queryHeads]
  float* partialValues = nullptr;     ///< [itemCount][queryHeads][headSize]
  float* partialMass = nullptr;       ///< [itemCount][queryHeads][itemStretches], if the mass is needed
  float* partialFirst = nullptr;      ///< [itemCount][queryHeads], if the mass is needed

  Bf16* out = nullptr;           ///< [rows][queryHeads · headSize]; 0 for rows without keys
  PartialSum* totals = nullptr;  ///< [rows][queryHeads]; null if the mass is not needed

  bool operator==(const DecodeAttentionArguments&) const = default;
};

/// Adds attention weights over the rows of a run. There is a sum for each stretch of consecutive keys, and
/// for the first key of each segment.
struct MassArguments {
  const MassEntry* entries = nullptr;
  int entryCount = 0;
  int queryHeads = 0;
  const DecodeItem* items = nullptr;
  const std::int32_t* rowItems = nullptr;
  const std::int32_t* locals = nullptr;
  int itemStretches = 0;
  const PartialSum* partialSums = nullptr;
  const float* partialMass = nullptr;
  const float* partialFirst = nullptr;
  const PartialSum* totals = nullptr;
  float* mass = nullptr;   ///< by entry: [queryHeads][stretches]
  float* first = nullptr;  ///< by entry: [queryHeads][ranges]

  bool operator==(const MassArguments&) const = default;
};

inline constexpr int kDecodeThreads = 128;
inline constexpr int kMostGroup = 16;  ///< max query heads per key head
inline constexpr int kMostHeadSize = 256;

/// Returns the number of keys in a tile. A thread block has two tiles in shared memory. Every GPU has enough
/// space for the tiles and the mass.
SPANSCOPE_HOST_DEVICE constexpr int decodeTileKeys(std::size_t headBytes, int group) {
  if (headBytes > 512) return headBytes > 768 ? 12 : 16;
  return headBytes == 512 && group == 16 ? 24 : 32;
}
/// Returns the bytes between two keys of a tile: 16 more than the bytes of a key. Lanes that read one key
/// each then have no bank conflicts.
SPANSCOPE_HOST_DEVICE constexpr std::size_t decodeKeyStride(std::size_t headBytes) {
  return headBytes + 16;
}
/// Returns the bytes of a thread block's shared memory for `group` query heads. Keys and values have
/// `headBytes` bytes. If `massKeys` is not 0, the result includes the mass of chunks with `massKeys` keys.
constexpr std::size_t decodeSharedBytes(int group, int headSize, std::size_t headBytes, int massKeys) {
  const auto heads = static_cast<std::size_t>(group);
  const std::size_t tiles =
      2 * static_cast<std::size_t>(decodeTileKeys(headBytes, group)) * decodeKeyStride(headBytes);
  return sharedBytesOf<float>(heads * static_cast<std::size_t>(headSize)) +
         sharedBytesOf<float>((heads > 4 ? heads : 4) * 32) + sharedBytesOf<float>(heads) +
         sharedBytesOf<float>(heads * static_cast<std::size_t>(massKeys)) +
         2 * sharedBytesOf<std::byte>(tiles);
}

/// For heads of 128 elements in bf16, with 8 query heads per key head.
inline constexpr KernelBudget kDecodeBudget{"decodeKernel", kDecodeThreads, 4,
                                            decodeSharedBytes(8, 128, 256, 0)};
inline constexpr KernelBudget kMergeBudget{"mergeKernel", 128, 12, 0};
inline constexpr KernelBudget kMassBudget{"massKernel", 128, 12, 0};

/// Fills `out`. Also fills `totals`, `partialMass` and `partialFirst` if these pointers are set. Throws
/// Failure for a shape without a kernel.
void attendDecode(Stream& stream, const DecodeAttentionArguments& arguments);
void sumMass(Stream& stream, const MassArguments& arguments);

}  // namespace spanscope::cuda
