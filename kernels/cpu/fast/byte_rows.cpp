// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/byte_rows.h"

#if defined(__x86_64__)
#include "hwy/base.h"

#include <immintrin.h>

#include <cstring>
#include <limits>

HWY_PUSH_ATTRIBUTES("avx2,fma")
namespace spanscope::cpu {
namespace {

using compute::PackedRule;

constexpr float kMostByte = 127;
constexpr std::int64_t kGroup = BytePanelShape::kGroup;
constexpr std::int64_t kHalfBlock = kByteRowBlock / 2;

/// Activations that share a factor, in registers.
struct RowBlock {
  __m256i codes;  ///< bytes
  std::int32_t halfSums[2];
  float factor;
};

__m256 magnitudes(__m256 values) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), values);
}

float largestOf(__m256 values) {
  __m128 most = _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  most = _mm_max_ps(most, _mm_movehl_ps(most, most));
  return _mm_cvtss_f32(_mm_max_ss(most, _mm_movehdup_ps(most)));
}

/// Rounds 32 values, divided by a factor, to bytes.
__m256i bytesOf(const __m256 (&values)[4], __m256 inverse) {
  __m256i whole[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) whole[i] = _mm256_cvtps_epi32(_mm256_mul_ps(values[i], inverse));
  const __m256i packed =
      _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]), _mm256_packs_epi32(whole[2], whole[3]));
  // Packing works on halves of vectors. This step restores the order of the groups of four.
  return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

HWY_INLINE RowBlock quantize(const float* x) {
  __m256 values[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) values[i] = _mm256_loadu_ps(x + 8 * i);
  const __m256 unordered = _mm256_or_ps(_mm256_cmp_ps(values[0], values[1], _CMP_UNORD_Q),
                                        _mm256_cmp_ps(values[2], values[3], _CMP_UNORD_Q));
  const float most = largestOf(_mm256_max_ps(_mm256_max_ps(magnitudes(values[0]), magnitudes(values[1])),
                                             _mm256_max_ps(magnitudes(values[2]), magnitudes(values[3]))));
  // A non-finite activation must not be lost. Otherwise the result would be finite.
  if (_mm256_movemask_ps(unordered) != 0 || !(most <= std::numeric_limits<float>::max()))
    return {_mm256_setzero_si256(), {0, 0}, std::numeric_limits<float>::quiet_NaN()};
  const __m256i codes = bytesOf(values, _mm256_set1_ps(most > 0 ? kMostByte / most : 0.0F));
  __m256i sums = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), codes), _mm256_set1_epi16(1));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4E));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xB1));
  return {codes, {_mm256_extract_epi32(sums, 0), _mm256_extract_epi32(sums, 4)}, most / kMostByte};
}

struct TilePlace {
  std::int64_t row = 0;
  std::int64_t rows = 0;
};

/// Writes a row's values at the beginning of a part of a tile, before its integers.
void putHead(const PackedRule& rule, const RowBlock& block, std::int32_t sum, std::int64_t rows,
             std::int32_t* words) {
  // The product uses unsigned bytes. This offset is subtracted from a code.
  const std::int32_t offset = rule.hasTable ? 128 : rule.offset;
  words[0] = -offset * sum;
  const float partSum = block.factor * static_cast<float>(sum);
  std::memcpy(words + rows, &block.factor, sizeof(float));
  std::memcpy(words + 2 * rows, &partSum, sizeof(float));
}

/// Writes half a block of a single row, whose groups are consecutive. Returns where the next half begins.
HWY_INLINE std::byte* putHalf(__m128i codes, ByteRowLayout layout, std::byte* out) {
  if (layout == ByteRowLayout::Bytes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), codes);
    return out + kHalfBlock;
  }
  constexpr int kSecondBesideThird = 0b11'01'10'00;
  const __m256i words = _mm256_cvtepi8_epi16(codes);
  const __m256i ordered =
      _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(words, kSecondBesideThird), kSecondBesideThird);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), ordered);
  return out + 2 * kHalfBlock;
}

/// Writes a row that is alone in its tile.
void packSingleRow(const PackedRule& rule, ByteRowLayout layout, const float* x, std::int64_t columns,
                   std::byte* out) {
  const bool halves = rule.partElements == kHalfBlock;
  constexpr std::int64_t kHeadBytes = byteRowPartBytes(0, ByteRowLayout::Bytes);
  for (std::int64_t k = 0; k < columns; k += kByteRowBlock) {
    const RowBlock block = quantize(x + k);
    const std::int32_t sum = halves ? block.halfSums[0] : block.halfSums[0] + block.halfSums[1];
    putHead(rule, block, sum, 1, reinterpret_cast<std::int32_t*>(out));
    out = putHalf(_mm256_castsi256_si128(block.codes), layout, out + kHeadBytes);
    if (halves) {
      putHead(rule, block, block.halfSums[1], 1, reinterpret_cast<std::int32_t*>(out));
      out += kHeadBytes;
    }
    out = putHalf(_mm256_extracti128_si256(block.codes, 1), layout, out);
  }
}

void putCodes(const std::int8_t* codes, std::int64_t count, ByteRowLayout layout, std::int64_t rows,
              std::int32_t* out) {
  for (std::int64_t i = 0; i < count; i += kGroup) {
    if (layout == ByteRowLayout::Bytes) {
      std::memcpy(out, codes + i, kGroup);
      out += rows;
      continue;
    }
    const std::int16_t words[4] = {codes[i], codes[i + 2], codes[i + 1], codes[i + 3]};
    std::memcpy(out, words, sizeof words / 2);
    std::memcpy(out + rows, words + 2, sizeof words / 2);
    out += 2 * rows;
  }
}

/// Writes one row of a tile. `tile` is the tile's first byte.
void packRow(const PackedRule& rule, ByteRowLayout layout, const float* x, std::int64_t columns,
             const TilePlace& place, std::byte* tile) {
  const std::int64_t partElements = rule.partElements;
  const std::int64_t partBytes = byteRowPartBytes(partElements, layout) * place.rows;
  for (std::int64_t k = 0; k < columns; k += kByteRowBlock) {
    const RowBlock block = quantize(x + k);
    alignas(32) std::int8_t codes[kByteRowBlock];
    _mm256_store_si256(reinterpret_cast<__m256i*>(codes), block.codes);
    for (std::int64_t from = 0; from < kByteRowBlock; from += partElements) {
      const std::int32_t sum = partElements == kHalfBlock ? block.halfSums[from / kHalfBlock]
                                                          : block.halfSums[0] + block.halfSums[1];
      auto* const words = reinterpret_cast<std::int32_t*>(tile) + place.row;
      putHead(rule, block, sum, place.rows, words);
      putCodes(codes + from, partElements, layout, place.rows, words + 3 * place.rows);
      tile += partBytes;
    }
  }
}

/// Writes one row of a tile for tile registers.
void packTileRow(const PackedRule& rule, const float* x, std::int64_t columns, const TilePlace& place,
                 std::byte* tile) {
  const std::int64_t partElements = rule.partElements;
  std::byte* out = tile + place.row * partElements;
  auto* heads = reinterpret_cast<float*>(tile + place.rows * columns) + place.row;
  const auto putFactors = [&](float factor, std::int32_t sum) {
    heads[0] = factor;
    heads[place.rows] = factor * static_cast<float>(sum);
    heads += 2 * place.rows;
  };
  for (std::int64_t k = 0; k < columns; k += kByteRowBlock) {
    const RowBlock block = quantize(x + k);
    if (partElements == kByteRowBlock) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(out), block.codes);
      putFactors(block.factor, block.halfSums[0] + block.halfSums[1]);
    } else {
      _mm_store_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(block.codes));
      putFactors(block.factor, block.halfSums[0]);
      out += place.rows * partElements;
      _mm_store_si128(reinterpret_cast<__m128i*>(out), _mm256_extracti128_si256(block.codes, 1));
      putFactors(block.factor, block.halfSums[1]);
    }
    out += place.rows * partElements;
  }
}

}  // namespace

std::int64_t byteTileRowBytes(const CpuWeight& weight) {
  constexpr auto kLine = static_cast<std::int64_t>(AlignedBuffer::kAlignment);
  const std::int64_t parts = weight.columns() / compute::infoOf(weight.format()).rule.partElements;
  const std::int64_t bytes = weight.columns() + 2 * parts * static_cast<std::int64_t>(sizeof(float));
  return (bytes + kLine - 1) / kLine * kLine;
}

void packByteTiles(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
                   std::int64_t last, std::byte* packed) {
  const std::int64_t columns = weight.columns();
  const PackedRule& rule = compute::infoOf(weight.format()).rule;
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t begin = rowTiles.begin(tile);
    const std::int64_t rows = rowTiles.begin(tile + 1) - begin;
    std::byte* const out = packed + begin * byteTileRowBytes(weight);
    for (std::int64_t row = 0; row < rows; ++row)
      packTileRow(rule, x + (begin + row) * columns, columns, {row, rows}, out);
  }
}

void packByteRows(const CpuWeight& weight, ByteRowLayout layout, const float* x, const RowTiles& rowTiles,
                  std::int64_t first, std::int64_t last, std::byte* packed) {
  const std::int64_t columns = weight.columns();
  const std::int64_t rowBytes = byteRowBytes(weight, layout);
  const PackedRule& rule = compute::infoOf(weight.format()).rule;
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t begin = rowTiles.begin(tile);
    const std::int64_t rows = rowTiles.begin(tile + 1) - begin;
    if (rows == 1) {
      packSingleRow(rule, layout, x + begin * columns, columns, packed + begin * rowBytes);
      continue;
    }
    for (std::int64_t row = 0; row < rows; ++row)
      packRow(rule, layout, x + (begin + row) * columns, columns, {row, rows}, packed + begin * rowBytes);
  }
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
