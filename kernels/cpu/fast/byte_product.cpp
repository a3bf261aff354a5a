// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/byte_product.h"

#include "engine/compute/weight_format/weight_format_table.h"
#include "kernels/cpu/fast/byte_panels.h"
#include "kernels/cpu/fast/tile_blocks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include "hwy/base.h"

#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
namespace spanscope::cpu {
namespace {

using compute::PackedRule;
using compute::WeightFormat;

constexpr std::int64_t kGroup = BytePanelShape::kGroup;
constexpr std::int64_t kVector = BytePanelShape::kVector;
constexpr std::int64_t kFeatures = 16;  ///< of a vector of groups
static_assert(BytePanelShape::kWidth == kFastWidth);

/// Activations that share a factor.
constexpr std::int64_t kRowBlock = 32;
constexpr float kMostByte = 127;

template <WeightFormat kFormat>
constexpr const PackedRule& kRuleOf = compute::kWeightFormats[static_cast<std::size_t>(kFormat)].rule;

// Activations. A tile of R rows holds, part by part of the weight along k: the initial sums, which take the
// offset of the codes into account, [R] 32-bit integers; the factors, [R] f32; the sums of the part's
// activations, [R] f32; and the integers, [groups of the part][R][4] bytes.

std::int64_t partBytesOf(std::int64_t partElements) {
  return 3 * static_cast<std::int64_t>(sizeof(float)) + partElements;
}

/// What is subtracted from a code, as it is multiplied with: an unsigned byte.
int offsetOf(const PackedRule& rule) {
  return rule.hasTable ? 128 : rule.offset;
}

struct RowBlockCodes {
  alignas(32) std::int8_t codes[kRowBlock];
  float factor;
};

/// Rounds 16 values, divided by a factor, to bytes.
__m128i bytesOf(__m512 values, __m512 inverse) {
  return _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(values, inverse)));
}

RowBlockCodes quantize(const float* x) {
  RowBlockCodes block{};
  const __m512 first = _mm512_loadu_ps(x);
  const __m512 second = _mm512_loadu_ps(x + kFeatures);
  const float most = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(first), _mm512_abs_ps(second)));
  const bool isNumber = _mm512_cmp_ps_mask(first, second, _CMP_UNORD_Q) == 0;
  // A number that is none must not be lost: it would come out as a finite result.
  if (!isNumber || !(most <= std::numeric_limits<float>::max())) {
    block.factor = std::numeric_limits<float>::quiet_NaN();
    return block;
  }
  block.factor = most / kMostByte;
  const __m512 inverse = _mm512_set1_ps(most > 0 ? kMostByte / most : 0.0F);
  _mm_store_si128(reinterpret_cast<__m128i*>(block.codes), bytesOf(first, inverse));
  _mm_store_si128(reinterpret_cast<__m128i*>(block.codes + kFeatures), bytesOf(second, inverse));
  return block;
}

struct TilePlace {
  std::int64_t row = 0;
  std::int64_t rows = 0;
};

/// One row of a tile; `tile` is the tile's first byte.
void packBytes(const PackedRule& rule, const float* x, std::int64_t columns, const TilePlace& place,
               std::byte* tile) {
  const std::int64_t partElements = rule.partElements;
  const std::int64_t partBytes = partBytesOf(partElements) * place.rows;
  const std::int32_t offset = offsetOf(rule);
  for (std::int64_t k = 0; k < columns; k += kRowBlock) {
    const RowBlockCodes block = quantize(x + k);
    for (std::int64_t from = 0; from < kRowBlock; from += partElements) {
      const std::int8_t* const codes = block.codes + from;
      std::int32_t sum = 0;
      for (std::int64_t i = 0; i < partElements; ++i) sum += codes[i];
      auto* const words = reinterpret_cast<std::int32_t*>(tile) + place.row;
      words[0] = -offset * sum;
      const float partSum = block.factor * static_cast<float>(sum);
      std::memcpy(words + place.rows, &block.factor, sizeof(float));
      std::memcpy(words + 2 * place.rows, &partSum, sizeof(float));
      std::int32_t* group = words + 3 * place.rows;
      for (std::int64_t i = 0; i < partElements; i += kGroup, group += place.rows)
        std::memcpy(group, codes + i, kGroup);
      tile += partBytes;
    }
  }
}

std::int64_t packedRowBytes(const CpuWeight& weight) {
  const std::int64_t part = compute::infoOf(weight.format()).rule.partElements;
  return weight.columns() / part * partBytesOf(part);
}

void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
              std::int64_t last, std::byte* packed) {
  const std::int64_t columns = weight.columns();
  const std::int64_t rowBytes = packedRowBytes(weight);
  const PackedRule& rule = compute::infoOf(weight.format()).rule;
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t begin = rowTiles.begin(tile);
    const std::int64_t rows = rowTiles.begin(tile + 1) - begin;
    for (std::int64_t row = 0; row < rows; ++row)
      packBytes(rule, x + (begin + row) * columns, columns, {row, rows}, packed + begin * rowBytes);
  }
}

// Weights. Parts as they are multiplied with hold, one after the other: codes as unsigned bytes, [groups][2]
// vectors; factors, [32] f32; minima, [32] f32, if the format has any.

constexpr std::int64_t takenBytesOf(std::int64_t partElements) {
  return partElements * kFastWidth + 2 * kFastWidth * static_cast<std::int64_t>(sizeof(float));
}

__m512 halves(const std::byte* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
__m512 signedBytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
__m512 unsignedBytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}

/// The values of the table as unsigned bytes.
template <WeightFormat kFormat>
__m512i tableVector() {
  alignas(16) std::uint8_t values[16];
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<std::uint8_t>(kRuleOf<kFormat>.table[i] + 128);
  return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(values)));
}

__m512i vectorAt(const std::byte* plane, std::int64_t vector) {
  return _mm512_loadu_si512(plane + vector * kVector);
}

/// `mask` of each byte, shifted down by so many bits.
__m512i bitsOf(__m512i bytes, unsigned shift, int mask) {
  return _mm512_and_si512(_mm512_srli_epi16(bytes, shift), _mm512_set1_epi8(static_cast<char>(mask)));
}

/// The codes of a vector of a group, as unsigned bytes.
template <WeightFormat kFormat>
__m512i codesOf(const std::byte* low, const std::byte* high, std::int64_t group, unsigned vector) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  const auto pair = static_cast<unsigned>(group % 2 * 2) + vector;  // place in a vector of two-bit codes
  if constexpr (kRule.bits == 8) return vectorAt(low, 2 * group + vector);
  __m512i codes = kRule.bits >= 4 ? bitsOf(vectorAt(low, group), 4 * vector, 15)
                                  : bitsOf(vectorAt(low, group / 2), 2 * pair, 3);
  if constexpr (kRule.bits == 6) {
    const __m512i upper = bitsOf(vectorAt(high, group / 2), 2 * pair, 3);
    codes = _mm512_or_si512(codes, _mm512_slli_epi16(upper, 4));
  }
  if constexpr (kRule.bits == 5 || kRule.bits == 3) {
    __mmask64 upper = 0;
    std::memcpy(&upper, high + (2 * group + vector) * kVector / 8, sizeof upper);
    codes = _mm512_mask_add_epi8(codes, upper, codes, _mm512_set1_epi8(kRule.bits == 5 ? 16 : 4));
  }
  if constexpr (kRule.hasTable) codes = _mm512_shuffle_epi8(tableVector<kFormat>(), codes);
  return codes;
}

/// Codes of the two vectors of each group of a part.
template <WeightFormat kFormat>
void takeCodes(const std::byte* low, std::int64_t lowBytes, std::byte* out) {
  constexpr std::int64_t kGroups = kRuleOf<kFormat>.partElements / kGroup;
#pragma GCC unroll 8
  for (std::int64_t group = 0; group < kGroups; ++group) {
    _mm512_store_si512(out, codesOf<kFormat>(low, low + lowBytes, group, 0));
    _mm512_store_si512(out + kVector, codesOf<kFormat>(low, low + lowBytes, group, 1));
    out += 2 * kVector;
  }
}

/// A part of a panel: where its factors and codes stand.
template <WeightFormat kFormat>
struct PartPlace {
  const std::byte* block;
  const std::byte* part;
  const std::byte* low;

  HWY_INLINE PartPlace(const BytePanelShape& shape, const std::byte* panel, std::int64_t index)
      : block(panel + index / shape.parts() * shape.blockBytes),
        part(block + shape.headBytes + index % shape.parts() * shape.partBytes),
        low(part + shape.partHeadBytes) {}
};

/// Of the part's 16 features from `feature` on.
template <WeightFormat kFormat>
HWY_INLINE __m512 factorsOf(const PartPlace<kFormat>& place, std::int64_t feature) {
  const __m512 factors = halves(place.block + 2 * feature);
  if constexpr (kRuleOf<kFormat>.hasScales) return _mm512_mul_ps(factors, signedBytes(place.part + feature));
  return factors;
}
template <WeightFormat kFormat>
HWY_INLINE __m512 minimaOf(const PartPlace<kFormat>& place, std::int64_t feature) {
  const __m512 minima = halves(place.block + 2 * (kFastWidth + feature));
  if constexpr (kRuleOf<kFormat>.hasMinima) {
    const __m512 product = _mm512_mul_ps(minima, unsignedBytes(place.part + kFastWidth + feature));
    return _mm512_sub_ps(_mm512_setzero_ps(), product);
  }
  return minima;
}

/// Elements k … k + count − 1 of a panel, whole parts.
template <WeightFormat kFormat>
void takeParts(const BytePanelShape& shape, const std::byte* panel, std::int64_t k, std::int64_t count,
               std::byte* out) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  for (std::int64_t part = k / kRule.partElements; part < (k + count) / kRule.partElements; ++part) {
    const PartPlace<kFormat> place(shape, panel, part);
    takeCodes<kFormat>(place.low, shape.lowBytes, out);
    auto* const factors = reinterpret_cast<float*>(out + kRule.partElements * kFastWidth);
    for (std::int64_t feature = 0; feature < kFastWidth; feature += kFeatures) {
      _mm512_store_ps(factors + feature, factorsOf(place, feature));
      if constexpr (kRule.hasMinimum)
        _mm512_store_ps(factors + kFastWidth + feature, minimaOf(place, feature));
    }
    out += takenBytesOf(kRule.partElements);
  }
}

/// Adds to each of 16 sums the products of four unsigned bytes and four signed ones. GCC would copy the sums
/// back and forth around the intrinsic function for this instruction, which takes more time than it does.
HWY_INLINE void addDots(__m512i& sums, __m512i unsignedBytes, __m512i signedBytes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(unsignedBytes), "v"(signedBytes));
}

/// sums[row][32] (+)= Σ over `parts` parts of a tile of rows and a panel.
template <int kRows, int kPartElements, bool kHasMinimum>
void multiplyParts(const std::byte* rows, const std::byte* panel, std::int64_t parts, float* sums,
                   bool isFirst) {
  if (isFirst) std::fill_n(sums, kRows * kFastWidth, 0.0F);
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto* const initial = reinterpret_cast<const std::int32_t*>(rows);
    const auto* const factors = reinterpret_cast<const float*>(rows) + kRows;
    const auto* const rowSums = factors + kRows;
    const auto* codes = initial + 3 * kRows;
    __m512i dots[kRows][2];
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) dots[r][0] = dots[r][1] = _mm512_set1_epi32(initial[r]);
#pragma GCC unroll 1
    for (int group = 0; group < kPartElements / kGroup; ++group) {
      const __m512i first = _mm512_load_si512(panel + (2 * group) * kVector);
      const __m512i second = _mm512_load_si512(panel + (2 * group + 1) * kVector);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m512i x = _mm512_set1_epi32(codes[r]);
        addDots(dots[r][0], first, x);
        addDots(dots[r][1], second, x);
      }
      codes += kRows;
    }
    const auto* const weights = reinterpret_cast<const float*>(panel + kPartElements * kFastWidth);
#pragma GCC unroll 2
    for (int vector = 0; vector < 2; ++vector) {
      const __m512 weight = _mm512_load_ps(weights + vector * kFeatures);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        float* const sum = sums + r * kFastWidth + vector * kFeatures;
        const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[r][vector]), _mm512_set1_ps(factors[r]));
        __m512 value = _mm512_fmadd_ps(weight, dot, _mm512_loadu_ps(sum));
        if constexpr (kHasMinimum) {
          const __m512 minimum = _mm512_load_ps(weights + kFastWidth + vector * kFeatures);
          value = _mm512_fmadd_ps(minimum, _mm512_set1_ps(rowSums[r]), value);
        }
        _mm512_storeu_ps(sum, value);
      }
    }
    rows += partBytesOf(kPartElements) * kRows;
    panel += takenBytesOf(kPartElements);
    // The compiler would keep the sums, of which there are more than registers, in memory of its own.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

/// The same for few rows and a whole panel, whose parts are multiplied with as they are taken.
template <WeightFormat kFormat, int kRows>
void multiplyPanel(const BytePanelShape& shape, const std::byte* panel, std::int64_t columns,
                   const std::byte* rows, float* sums) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  constexpr int kPart = kRule.partElements;
  __m512 acc[kRows][2];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = _mm512_setzero_ps();
  for (std::int64_t part = 0; part < columns / kPart; ++part) {
    const PartPlace<kFormat> place(shape, panel, part);
    const auto* const initial = reinterpret_cast<const std::int32_t*>(rows);
    const auto* const factors = reinterpret_cast<const float*>(rows) + kRows;
    const auto* const codes = initial + 3 * kRows;
    __m512i dots[kRows][2];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) dots[r][0] = dots[r][1] = _mm512_set1_epi32(initial[r]);
#pragma GCC unroll 8
    for (int group = 0; group < kPart / kGroup; ++group) {
      const __m512i first = codesOf<kFormat>(place.low, place.low + shape.lowBytes, group, 0);
      const __m512i second = codesOf<kFormat>(place.low, place.low + shape.lowBytes, group, 1);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m512i x = _mm512_set1_epi32(codes[group * kRows + r]);
        addDots(dots[r][0], first, x);
        addDots(dots[r][1], second, x);
      }
    }
#pragma GCC unroll 2
    for (int vector = 0; vector < 2; ++vector) {
      const __m512 weight = factorsOf(place, vector * kFeatures);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[r][vector]), _mm512_set1_ps(factors[r]));
        acc[r][vector] = _mm512_fmadd_ps(weight, dot, acc[r][vector]);
        if constexpr (kRule.hasMinimum) {
          acc[r][vector] = _mm512_fmadd_ps(minimaOf(place, vector * kFeatures),
                                           _mm512_set1_ps(factors[kRows + r]), acc[r][vector]);
        }
      }
    }
    rows += partBytesOf(kPart) * kRows;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(sums + r * kFastWidth, acc[r][0]);
    _mm512_storeu_ps(sums + r * kFastWidth + kFeatures, acc[r][1]);
  }
}

/// Rows that are multiplied with weights which are not stored in between.
constexpr int kMostDirectRows = 4;

template <WeightFormat kFormat>
class ByteProduct {
 public:
  ByteProduct(const MatmulJob& job, const MatmulScratch& scratch)
      : m_weight(*job.weight),
        m_rows(job.packedRows),
        m_rowBytes(packedRowBytes(*job.weight)),
        m_room(scratch.arranged),
        m_taken(reinterpret_cast<std::byte*>(scratch.widened)) {}

  const std::byte* take(std::int64_t panel, std::int64_t k, std::int64_t count) const {
    const PackedPart part(m_weight, panel, k, count, m_room);
    takeParts<kFormat>(m_weight.byteShape(), part.panelData, part.k, count, m_taken);
    return m_taken;
  }
  const std::byte* rowsAt(std::int64_t row, std::int64_t rows, std::int64_t k) const {
    return m_rows + row * m_rowBytes + k / kPart * partBytesOf(kPart) * rows;
  }
  template <int kRows>
  static void multiply(const std::byte* rows, const std::byte* taken, std::int64_t count, float* sums,
                       bool isFirst, bool /*isLast*/) {
    multiplyParts<kRows, kPart, kRuleOf<kFormat>.hasMinimum>(rows, taken, count / kPart, sums, isFirst);
  }

 private:
  static constexpr int kPart = kRuleOf<kFormat>.partElements;
  const CpuWeight& m_weight;
  const std::byte* m_rows;
  std::int64_t m_rowBytes;
  std::byte* m_room;
  std::byte* m_taken;
};

template <WeightFormat kFormat, int... kRow>
constexpr auto panelTable(std::integer_sequence<int, kRow...> /*unused*/) {
  return std::array{&multiplyPanel<kFormat, kRow + 1>...};
}

/// One tile of few rows.
template <WeightFormat kFormat>
void directBlock(const MatmulJob& job, std::int64_t j, const MatmulScratch& scratch) {
  static constexpr auto kTable = panelTable<kFormat>(std::make_integer_sequence<int, kMostDirectRows>());
  const CpuWeight& weight = *job.weight;
  const std::int64_t rows = job.rowTiles.rows;
  const std::int64_t firstPanel = j * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t sumStride = kFastRowTile * kFastWidth;
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const PackedPart whole(weight, firstPanel + panel, 0, job.columns, scratch.arranged);
    kTable[static_cast<std::size_t>(rows - 1)](weight.byteShape(), whole.panelData, job.columns,
                                               job.packedRows, scratch.sums + panel * sumStride);
  }
  finishTiles(job, 0, rows, firstPanel, panels, scratch.sums, sumStride);
}

template <WeightFormat kFormat>
void blockOfFormat(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
  if (job.rowTiles.rows <= kMostDirectRows) return directBlock<kFormat>(job, j, scratch);
  tileBlock<ByteProduct<kFormat>>(job, i, j, scratch);
}

using Block = decltype(MatmulKernels::block);

template <std::size_t kIndex>
constexpr Block blockAt() {
  constexpr compute::WeightFormatInfo kInfo = compute::kWeightFormats[kIndex];
  if constexpr (kInfo.isPacked()) return &blockOfFormat<kInfo.format>;
  return nullptr;
}

template <std::size_t... kIndex>
constexpr std::array<Block, sizeof...(kIndex)> blockTable(std::index_sequence<kIndex...> /*unused*/) {
  return {blockAt<kIndex>()...};
}

void block(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
  static constexpr auto kTable = blockTable(std::make_index_sequence<compute::kWeightFormats.size()>());
  kTable[static_cast<std::size_t>(job.weight->format())](job, i, j, scratch);
}

}  // namespace

MatmulKernels byteKernels() {
  return {.panelWidth = kFastWidth,
          .rowTile = kFastRowTile,
          .mostPanels = 1,
          .packedRowBytes = &packedRowBytes,
          .packRows = &packRows,
          .block = &block};
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES

#else

namespace spanscope::cpu {

MatmulKernels byteKernels() {
  return {};
}

}  // namespace spanscope::cpu

#endif
