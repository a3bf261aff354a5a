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

struct RowBlock {
  alignas(32) std::int8_t codes[kByteRowBlock] = {};
  std::int32_t halfSums[2] = {};
  float factor = 0;
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
  // Packing works on halves of vectors: this puts its groups of four back in order.
  return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

RowBlock quantize(const float* x) {
  RowBlock block;
  __m256 values[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) values[i] = _mm256_loadu_ps(x + 8 * i);
  const __m256 unordered = _mm256_or_ps(_mm256_cmp_ps(values[0], values[1], _CMP_UNORD_Q),
                                        _mm256_cmp_ps(values[2], values[3], _CMP_UNORD_Q));
  const float most = largestOf(_mm256_max_ps(_mm256_max_ps(magnitudes(values[0]), magnitudes(values[1])),
                                             _mm256_max_ps(magnitudes(values[2]), magnitudes(values[3]))));
  // A number that is none must not be lost: it would come out as a finite result.
  if (_mm256_movemask_ps(unordered) != 0 || !(most <= std::numeric_limits<float>::max())) {
    block.factor = std::numeric_limits<float>::quiet_NaN();
    return block;
  }
  block.factor = most / kMostByte;
  const __m256i codes = bytesOf(values, _mm256_set1_ps(most > 0 ? kMostByte / most : 0.0F));
  _mm256_store_si256(reinterpret_cast<__m256i*>(block.codes), codes);
  __m256i sums = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), codes), _mm256_set1_epi16(1));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4E));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xB1));
  block.halfSums[0] = _mm256_extract_epi32(sums, 0);
  block.halfSums[1] = _mm256_extract_epi32(sums, 4);
  return block;
}

struct TilePlace {
  std::int64_t row = 0;
  std::int64_t rows = 0;
};

/// Of a row that is alone, whose groups follow each other.
void putCodesOfOne(const std::int8_t* codes, std::int64_t count, ByteRowLayout layout, std::int32_t* out) {
  if (layout == ByteRowLayout::Bytes) {
    std::memcpy(out, codes, static_cast<std::size_t>(count));
    return;
  }
  constexpr int kSecondBesideThird = 0b11'01'10'00;
  for (std::int64_t i = 0; i < count; i += kHalfBlock) {
    const __m256i words = _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(codes + i)));
    const __m256i ordered =
        _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(words, kSecondBesideThird), kSecondBesideThird);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i / 2), ordered);
  }
}

void putCodes(const std::int8_t* codes, std::int64_t count, ByteRowLayout layout, std::int64_t rows,
              std::int32_t* out) {
  if (rows == 1) return putCodesOfOne(codes, count, layout, out);
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

/// One row of a tile; `tile` is the tile's first byte.
void packRow(const PackedRule& rule, ByteRowLayout layout, const float* x, std::int64_t columns,
             const TilePlace& place, std::byte* tile) {
  const std::int64_t partElements = rule.partElements;
  const std::int64_t partBytes = byteRowPartBytes(partElements, layout) * place.rows;
  // What is subtracted from a code, as it is multiplied with: an unsigned byte.
  const std::int32_t offset = rule.hasTable ? 128 : rule.offset;
  for (std::int64_t k = 0; k < columns; k += kByteRowBlock) {
    const RowBlock block = quantize(x + k);
    for (std::int64_t from = 0; from < kByteRowBlock; from += partElements) {
      const std::int32_t sum = partElements == kHalfBlock ? block.halfSums[from / kHalfBlock]
                                                          : block.halfSums[0] + block.halfSums[1];
      auto* const words = reinterpret_cast<std::int32_t*>(tile) + place.row;
      words[0] = -offset * sum;
      const float partSum = block.factor * static_cast<float>(sum);
      std::memcpy(words + place.rows, &block.factor, sizeof(float));
      std::memcpy(words + 2 * place.rows, &partSum, sizeof(float));
      putCodes(block.codes + from, partElements, layout, place.rows, words + 3 * place.rows);
      tile += partBytes;
    }
  }
}

}  // namespace

void packByteRows(const CpuWeight& weight, ByteRowLayout layout, const float* x, const RowTiles& rowTiles,
                  std::int64_t first, std::int64_t last, std::byte* packed) {
  const std::int64_t columns = weight.columns();
  const std::int64_t rowBytes = byteRowBytes(weight, layout);
  const PackedRule& rule = compute::infoOf(weight.format()).rule;
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t begin = rowTiles.begin(tile);
    const std::int64_t rows = rowTiles.begin(tile + 1) - begin;
    for (std::int64_t row = 0; row < rows; ++row)
      packRow(rule, layout, x + (begin + row) * columns, columns, {row, rows}, packed + begin * rowBytes);
  }
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
