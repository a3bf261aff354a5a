// SPDX-License-Identifier: GPL-3.0-or-later
// Products of bytes with AVX2. A vector has the four k of each of 8 features. A group of a panel therefore
// has four vectors.
//
// With AVX2 alone, codes of at most six bits are multiplied as bytes. The products of such codes are summed
// in 16 bits as long as no numbers can overflow. Codes of eight bits would overflow immediately. Eight-bit
// codes and their activations are widened to 16 bits, and the products are summed in 32 bits. AVX-VNNI sums
// four products of bytes in 32 bits with one instruction.
#include "kernels/cpu/fast/fast_kernels.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/byte_blocks.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")
namespace spanscope::cpu {
namespace {

using compute::PackedRule;
using compute::WeightFormat;

constexpr std::int64_t kGroup = BytePanelShape::kGroup;
constexpr std::int64_t kVector = 32;   ///< bytes
constexpr std::int64_t kFeatures = 8;  ///< of a vector
constexpr int kVectors = 4;            ///< of a group
constexpr int kTogether = 2;           ///< vectors whose sums are in registers beside those of many rows
constexpr int kMostActivation = 127;
/// How many bytes ahead of the arithmetic a stream of weights is prefetched.
constexpr std::int64_t kAhead = 1024;
constexpr std::int64_t kLine = 64;
/// Max rows whose sums all fit in registers together with the four vectors of a group.
constexpr int kMostUnrolledRows = 2;
/// Max rows whose sums all fit in registers together with kTogether of these vectors.
constexpr int kMostRows = 6;

/// How the products of a part are summed.
enum class Sums : std::uint8_t { Bytes, Words, Dots };

/// A format's weights, summed in one way.
template <WeightFormat kOfFormat, Sums kOfSums>
struct Way {
  static constexpr WeightFormat kFormat = kOfFormat;
  static constexpr Sums kSums = kOfSums;
  static constexpr bool kIsWide = kSums == Sums::Words;
  static constexpr ByteRowLayout kRowLayout = kIsWide ? ByteRowLayout::Words : ByteRowLayout::Bytes;
  // An unpacked part has codes, then factors, [32] f32. If the format has minima, minima follow: [32] f32.
  // Codes are unsigned bytes, [groups][4] vectors, or words, [groups][2][4] vectors. The first of two such
  // vectors has the first and third k.
  static constexpr std::int64_t kCodeBytes = kRuleOf<kFormat>.partElements * kFastWidth * (kIsWide ? 2 : 1);
  static constexpr std::int64_t kTakenBytes =
      kCodeBytes + 2 * kFastWidth * static_cast<std::int64_t>(sizeof(float));
};

constexpr Sums sumsOf(const PackedRule& rule) {
  return rule.bits == 8 || rule.hasTable ? Sums::Words : Sums::Bytes;
}

/// Max groups whose products fit in 16 bits. The instruction itself adds pairs of products.
template <WeightFormat kFormat>
constexpr int kSummedGroups = std::min(std::numeric_limits<std::int16_t>::max() /
                                           (((1 << kRuleOf<kFormat>.bits) - 1) * kMostActivation * 2),
                                       kRuleOf<kFormat>.partElements / static_cast<int>(kGroup));

__m256 halves(const std::byte* at) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
/// For factors in bf16.
__m256 upperHalves(const std::byte* at) {
  const __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
}
__m256 signedBytes(const std::byte* at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}
__m256 unsignedBytes(const std::byte* at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}

/// The values of the table as unsigned bytes.
template <WeightFormat kFormat>
__m256i tableVector() {
  alignas(16) std::uint8_t values[16];
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<std::uint8_t>(kRuleOf<kFormat>.table[i] + 128);
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(values)));
}

__m256i vectorAt(const std::byte* plane, std::int64_t vector) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plane + vector * kVector));
}

/// Returns `mask` of each byte, shifted right by `shift` bits.
__m256i bitsOf(__m256i bytes, unsigned shift, int mask) {
  return _mm256_and_si256(_mm256_srli_epi16(bytes, static_cast<int>(shift)),
                          _mm256_set1_epi8(static_cast<char>(mask)));
}

/// Moves bit `from` of each byte to bit `to`.
__m256i bitAt(__m256i bytes, unsigned from, unsigned to) {
  const __m256i moved = from >= to ? _mm256_srli_epi16(bytes, static_cast<int>(from - to))
                                   : _mm256_slli_epi16(bytes, static_cast<int>(to - from));
  return _mm256_and_si256(moved, _mm256_set1_epi8(static_cast<char>(1U << to)));
}

/// Returns the codes of a vector of a group, as unsigned bytes. Every vector of the planes in byte_panels.h
/// is two vectors here.
template <WeightFormat kFormat>
__m256i codesOf(const BytePart& place, std::int64_t group, unsigned vector) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  const unsigned half = vector / 2;
  const unsigned part = vector % 2;
  const auto pair = static_cast<unsigned>(group % 2 * 2) + half;  // place in a vector of two-bit codes
  if constexpr (kRule.bits == 8) return vectorAt(place.low, kVectors * group + vector);
  __m256i codes = kRule.bits >= 4 ? bitsOf(vectorAt(place.low, 2 * group + part), 4 * half, 15)
                                  : bitsOf(vectorAt(place.low, group / 2 * 2 + part), 2 * pair, 3);
  if constexpr (kRule.bits == 6) {
    const __m256i upper = bitsOf(vectorAt(place.high, group / 2 * 2 + part), 2 * pair, 3);
    codes = _mm256_or_si256(codes, _mm256_slli_epi16(upper, 4));
  }
  if constexpr (kRule.bits == 5 || kRule.bits == 3) {
    const auto bit = static_cast<unsigned>(group % 4 * 2) + half;
    const __m256i upper = vectorAt(place.high, group / 4 * 2 + part);
    codes = _mm256_or_si256(codes, bitAt(upper, bit, static_cast<unsigned>(kRule.bits) - 1));
  }
  if constexpr (kRule.hasTable) codes = _mm256_shuffle_epi8(tableVector<kFormat>(), codes);
  return codes;
}

__m256i firstAndThird(__m256i codes) {
  return _mm256_and_si256(codes, _mm256_set1_epi16(0xFF));
}
__m256i secondAndFourth(__m256i codes) {
  return _mm256_srli_epi16(codes, 8);
}

/// Returns the factors of the part's 8 features from `feature` on.
template <WeightFormat kFormat>
HWY_INLINE __m256 factorsOf(const BytePart& place, std::int64_t feature) {
  const std::byte* const at = place.block + 2 * feature;
  __m256 factors;
  if constexpr (kRuleOf<kFormat>.isPowerOfTwo)
    factors = upperHalves(at);
  else
    factors = halves(at);
  if constexpr (kRuleOf<kFormat>.hasScales) return _mm256_mul_ps(factors, signedBytes(place.part + feature));
  return factors;
}
template <WeightFormat kFormat>
HWY_INLINE __m256 minimaOf(const BytePart& place, std::int64_t feature) {
  const __m256 minima = halves(place.block + 2 * (kFastWidth + feature));
  if constexpr (kRuleOf<kFormat>.hasMinima) {
    const __m256 product = _mm256_mul_ps(minima, unsignedBytes(place.part + kFastWidth + feature));
    return _mm256_sub_ps(_mm256_setzero_ps(), product);
  }
  return minima;
}

void storeAt(std::byte* out, __m256i vector) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(out), vector);
}
__m256i loadAt(const std::byte* at) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
}

template <class Way>
void takeCodes(const BytePart& place, std::byte* out) {
  constexpr std::int64_t kGroups = kRuleOf<Way::kFormat>.partElements / kGroup;
#pragma GCC unroll 8
  for (std::int64_t group = 0; group < kGroups; ++group) {
#pragma GCC unroll 4
    for (int vector = 0; vector < kVectors; ++vector) {
      const __m256i codes = codesOf<Way::kFormat>(place, group, static_cast<unsigned>(vector));
      if constexpr (Way::kIsWide) {
        storeAt(out + vector * kVector, firstAndThird(codes));
        storeAt(out + (kVectors + vector) * kVector, secondAndFourth(codes));
      } else {
        storeAt(out + vector * kVector, codes);
      }
    }
    out += kVectors * kVector * (Way::kIsWide ? 2 : 1);
  }
}

/// Elements k … k + count − 1 of a panel, whole parts.
template <class Way>
void takeParts(const BytePanelShape& shape, const std::byte* panel, std::int64_t k, std::int64_t count,
               std::byte* out) {
  constexpr WeightFormat kFormat = Way::kFormat;
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  for (std::int64_t part = k / kRule.partElements; part < (k + count) / kRule.partElements; ++part) {
    const BytePart place(shape, panel, part);
    takeCodes<Way>(place, out);
    auto* const factors = reinterpret_cast<float*>(out + Way::kCodeBytes);
    for (std::int64_t feature = 0; feature < kFastWidth; feature += kFeatures) {
      _mm256_store_ps(factors + feature, factorsOf<kFormat>(place, feature));
      if constexpr (kRule.hasMinimum)
        _mm256_store_ps(factors + kFastWidth + feature, minimaOf<kFormat>(place, feature));
    }
    out += Way::kTakenBytes;
  }
}

/// One part of a tile of rows.
template <int kRows>
struct RowPart {
  const std::int32_t* initial;
  const float* factors;
  const float* sums;
  const std::int32_t* codes;

  explicit RowPart(const std::byte* rows)
      : initial(reinterpret_cast<const std::int32_t*>(rows)),
        factors(reinterpret_cast<const float*>(rows) + kRows),
        sums(factors + kRows),
        codes(initial + 3 * kRows) {}
};

/// Codes of a part that was unpacked, from the vector `codes` on.
struct TakenCodes {
  const std::byte* codes;

  HWY_INLINE __m256i bytes(int group, int vector) const {
    return loadAt(codes + (group * kVectors + vector) * kVector);
  }
  HWY_INLINE __m256i words(int group, int pair, int vector) const {
    return loadAt(codes + ((2 * group + pair) * kVectors + vector) * kVector);
  }
  HWY_INLINE void askAhead(int /*group*/) const {}
};

/// Codes of a part that are unpacked during the multiplication.
template <WeightFormat kFormat>
struct PackedCodes {
  const BytePart& place;

  HWY_INLINE __m256i bytes(int group, int vector) const {
    return codesOf<kFormat>(place, group, static_cast<unsigned>(vector));
  }
  HWY_INLINE __m256i words(int group, int pair, int vector) const {
    return pair == 0 ? firstAndThird(bytes(group, vector)) : secondAndFourth(bytes(group, vector));
  }
  /// Prefetches later weights: with each group, as many bytes as the group uses.
  HWY_INLINE void askAhead(int group) const {
    constexpr std::int64_t kGroupBytes = kRuleOf<kFormat>.bits * kGroup * kFastWidth / 8;
    const std::byte* const from = place.part + kAhead + group * kGroupBytes;
#pragma GCC unroll 4
    for (std::int64_t at = 0; at < kGroupBytes; at += kLine)
      _mm_prefetch(reinterpret_cast<const char*>(from + at), _MM_HINT_T0);
  }
};

// Without this fence, GCC would compute many products before the additions, and run out of registers.

HWY_INLINE void addProductsOfBytes(__m256i& sums, __m256i weights, __m256i x) {
  __m256i products;
  asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(sums), "=&x"(products) : "x"(weights), "x"(x));
}
HWY_INLINE void addProductsOfWords(__m256i& sums, __m256i weights, __m256i x) {
  __m256i products;
  asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sums), "=&x"(products) : "x"(weights), "x"(x));
}

/// AVX-VNNI. Its encoding differs from the encoding of AVX512_VNNI.
HWY_INLINE void addDots(__m256i& sums, __m256i weights, __m256i x) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(weights), "x"(x));
}

/// Adds the products of one group to sums in 16 bits, or begins the sums with these products.
template <int kRows, int kCount, class Codes>
HWY_INLINE void addBytes(const std::int32_t* activations, const Codes& codes, int group, bool isFirst,
                         __m256i (&sums)[kRows][kCount]) {
  codes.askAhead(group);
  __m256i weights[kCount];
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) weights[v] = codes.bytes(group, v);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    const __m256i x = _mm256_set1_epi32(activations[group * kRows + r]);
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      if (isFirst)
        sums[r][v] = _mm256_maddubs_epi16(weights[v], x);
      else
        addProductsOfBytes(sums[r][v], weights[v], x);
    }
  }
}

/// Sums of products of bytes of one part, [rows][vectors].
template <WeightFormat kFormat, int kRows, int kCount, class Codes>
HWY_INLINE void sumBytes(const RowPart<kRows>& row, const Codes& codes, __m256i (&dots)[kRows][kCount]) {
  constexpr int kGroups = kRuleOf<kFormat>.partElements / static_cast<int>(kGroup);
  constexpr int kSummed = kSummedGroups<kFormat>;
  static_assert(kGroups % kSummed == 0);
#pragma GCC unroll 4
  for (int first = 0; first < kGroups; first += kSummed) {
    __m256i sums[kRows][kCount];
    addBytes(row.codes, codes, first, true, sums);
    if constexpr (kRows <= kMostUnrolledRows) {
#pragma GCC unroll 8
      for (int group = 1; group < kSummed; ++group) addBytes(row.codes, codes, first + group, false, sums);
    } else {
#pragma GCC unroll 1
      for (int group = 1; group < kSummed; ++group) addBytes(row.codes, codes, first + group, false, sums);
    }
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) {
        const __m256i sum = _mm256_madd_epi16(sums[r][v], _mm256_set1_epi16(1));
        if (first != 0)
          dots[r][v] = _mm256_add_epi32(dots[r][v], sum);
        else if (kRuleOf<kFormat>.offset != 0)
          dots[r][v] = _mm256_add_epi32(_mm256_set1_epi32(row.initial[r]), sum);
        else
          dots[r][v] = sum;
      }
    }
  }
}

template <int kRows, int kCount>
HWY_INLINE void startDots(const RowPart<kRows>& row, __m256i (&dots)[kRows][kCount]) {
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) dots[r][v] = _mm256_set1_epi32(row.initial[r]);
  }
}

/// As sumBytes(), of words.
template <WeightFormat kFormat, int kRows, int kCount, class Codes>
HWY_INLINE void sumWords(const RowPart<kRows>& row, const Codes& codes, __m256i (&dots)[kRows][kCount]) {
  constexpr int kGroups = kRuleOf<kFormat>.partElements / static_cast<int>(kGroup);
  startDots(row, dots);
#pragma GCC unroll 1
  for (int group = 0; group < kGroups; ++group) {
    codes.askAhead(group);
#pragma GCC unroll 2
    for (int pair = 0; pair < 2; ++pair) {
      __m256i weights[kCount];
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) weights[v] = codes.words(group, pair, v);
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        const __m256i x = _mm256_set1_epi32(row.codes[(2 * group + pair) * kRows + r]);
#pragma GCC unroll 4
        for (int v = 0; v < kCount; ++v) addProductsOfWords(dots[r][v], weights[v], x);
      }
    }
  }
}

/// As sumBytes(), with AVX-VNNI.
template <WeightFormat kFormat, int kRows, int kCount, class Codes>
HWY_INLINE void sumDots(const RowPart<kRows>& row, const Codes& codes, __m256i (&dots)[kRows][kCount]) {
  constexpr int kGroups = kRuleOf<kFormat>.partElements / static_cast<int>(kGroup);
  startDots(row, dots);
#pragma GCC unroll 1
  for (int group = 0; group < kGroups; group += 2) {
#pragma GCC unroll 2
    for (int of = group; of < group + 2; ++of) {
      codes.askAhead(of);
      __m256i weights[kCount];
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) weights[v] = codes.bytes(of, v);
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        const __m256i x = _mm256_set1_epi32(row.codes[of * kRows + r]);
#pragma GCC unroll 4
        for (int v = 0; v < kCount; ++v) addDots(dots[r][v], weights[v], x);
      }
    }
  }
}

template <class Way, int kRows, int kCount, class Codes>
HWY_INLINE void sumPart(const RowPart<kRows>& row, const Codes& codes, __m256i (&dots)[kRows][kCount]) {
  if constexpr (Way::kSums == Sums::Words)
    sumWords<Way::kFormat>(row, codes, dots);
  else if constexpr (Way::kSums == Sums::Bytes)
    sumBytes<Way::kFormat>(row, codes, dots);
  else
    sumDots<Way::kFormat>(row, codes, dots);
}

/// sums[row][32] += Σ over `parts` parts of a tile of rows and a panel.
template <class Way, int kRows>
void multiplyParts(const std::byte* rows, const std::byte* panel, std::int64_t parts, float* sums) {
  constexpr WeightFormat kFormat = Way::kFormat;
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  for (std::int64_t part = 0; part < parts; ++part) {
    const RowPart<kRows> row(rows);
    const auto* const weights = reinterpret_cast<const float*>(panel + Way::kCodeBytes);
#pragma GCC unroll 1
    for (int vector = 0; vector < kVectors; vector += kTogether) {
      const std::byte* const codes = panel + vector * kVector;
      __m256i dots[kRows][kTogether];
      sumPart<Way>(row, TakenCodes{codes}, dots);
#pragma GCC unroll 2
      for (int v = 0; v < kTogether; ++v) {
        const std::int64_t feature = (vector + v) * kFeatures;
        const __m256 weight = _mm256_load_ps(weights + feature);
#pragma GCC unroll 6
        for (int r = 0; r < kRows; ++r) {
          float* const sum = sums + r * kFastWidth + feature;
          const __m256 dot = _mm256_mul_ps(_mm256_cvtepi32_ps(dots[r][v]), _mm256_set1_ps(row.factors[r]));
          __m256 value = _mm256_fmadd_ps(weight, dot, _mm256_loadu_ps(sum));
          if constexpr (kRule.hasMinimum) {
            const __m256 minimum = _mm256_load_ps(weights + kFastWidth + feature);
            value = _mm256_fmadd_ps(minimum, _mm256_set1_ps(row.sums[r]), value);
          }
          _mm256_storeu_ps(sum, value);
        }
      }
      // Without this fence, the compiler would keep the sums in memory, because they exceed the registers.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    rows += byteRowPartBytes(kRule.partElements, Way::kRowLayout) * kRows;
    panel += Way::kTakenBytes;
  }
}

/// sums[panel][row][32] = Σ over whole panels, whose parts are unpacked during the multiplication. Panels are
/// in different places of memory, so each panel in turn gives one part.
template <class Way, int kRows, std::size_t kPanels>
void multiplyWhole(const BytePanelShape& shape, const std::array<const std::byte*, kPanels>& panels,
                   std::int64_t columns, const std::byte* rows, const std::array<float*, kPanels>& sums) {
  constexpr WeightFormat kFormat = Way::kFormat;
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  __m256 acc[kPanels][kRows][kVectors];
#pragma GCC unroll 4
  for (std::size_t p = 0; p < kPanels; ++p) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) acc[p][r][v] = _mm256_setzero_ps();
    }
  }
  for (std::int64_t part = 0; part < columns / kRule.partElements; ++part) {
    const RowPart<kRows> row(rows);
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kPanels; ++p) {
      const BytePart place(shape, panels[p], part);
      __m256i dots[kRows][kVectors];
      sumPart<Way>(row, PackedCodes<kFormat>{place}, dots);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t feature = v * kFeatures;
        const __m256 weight = factorsOf<kFormat>(place, feature);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          __m256& sum = acc[p][r][v];
          const __m256 dot = _mm256_mul_ps(_mm256_cvtepi32_ps(dots[r][v]), _mm256_set1_ps(row.factors[r]));
          sum = _mm256_fmadd_ps(weight, dot, sum);
          if constexpr (kRule.hasMinimum)
            sum = _mm256_fmadd_ps(minimaOf<kFormat>(place, feature), _mm256_set1_ps(row.sums[r]), sum);
        }
      }
    }
    rows += byteRowPartBytes(kRule.partElements, Way::kRowLayout) * kRows;
  }
#pragma GCC unroll 4
  for (std::size_t p = 0; p < kPanels; ++p) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        _mm256_storeu_ps(sums[p] + r * kFastWidth + v * kFeatures, acc[p][r][v]);
    }
  }
}

template <class Way>
struct Avx2Kernel {
  static constexpr WeightFormat kFormat = Way::kFormat;
  static constexpr int kRowTile = kMostRows;
  static constexpr int kMostDirectRows = kMostUnrolledRows;
  static constexpr int kStreams = 2;
  static constexpr ByteRowLayout kRowLayout = Way::kRowLayout;

  static void take(const BytePanelShape& shape, const std::byte* panel, std::int64_t k, std::int64_t count,
                   std::byte* out) {
    takeParts<Way>(shape, panel, k, count, out);
  }
  template <int kRows>
  static void multiply(const std::byte* rows, const std::byte* taken, std::int64_t parts, float* sums) {
    multiplyParts<Way, kRows>(rows, taken, parts, sums);
  }
  template <int kRows, std::size_t kPanels>
  static void multiplyPanels(const BytePanelShape& shape, const std::array<const std::byte*, kPanels>& panels,
                             std::int64_t columns, const std::byte* rows,
                             const std::array<float*, kPanels>& sums) {
    multiplyWhole<Way, kRows, kPanels>(shape, panels, columns, rows, sums);
  }
};

template <bool kHasDots>
struct Avx2 {
  static constexpr Sums sumsFor(const PackedRule& rule) { return kHasDots ? Sums::Dots : sumsOf(rule); }
  static ByteRowLayout rowLayoutFor(const CpuWeight& weight) {
    const PackedRule& rule = compute::infoOf(weight.format()).rule;
    return sumsFor(rule) == Sums::Words ? ByteRowLayout::Words : ByteRowLayout::Bytes;
  }

  template <WeightFormat kFormat>
  static void block(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
    byteBlockOf<Avx2Kernel<Way<kFormat, sumsFor(kRuleOf<kFormat>)>>>(job, i, j, scratch);
  }
  static std::int64_t packedRowBytes(const CpuWeight& weight) {
    return byteRowBytes(weight, rowLayoutFor(weight));
  }
  static void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
                       std::int64_t last, std::byte* packed) {
    packByteRows(weight, rowLayoutFor(weight), x, rowTiles, first, last, packed);
  }
  static MatmulKernels kernels() {
    return {.panelWidth = kFastWidth,
            .rowTile = kMostRows,
            .mostPanels = 1,
            .packedRowBytes = &packedRowBytes,
            .packRows = &packRows,
            .block = &byteBlock<Avx2>};
  }
};

}  // namespace

MatmulKernels avx2ByteKernels() {
  return Avx2<false>::kernels();
}

MatmulKernels avxVnniByteKernels() {
  return Avx2<true>::kernels();
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
