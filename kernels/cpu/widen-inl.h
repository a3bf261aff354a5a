// SPDX-License-Identifier: GPL-3.0-or-later
// Widens panels of packed weights to f32. The file is compiled once per instruction set. The values equal the
// results of compute::widen(), bit for bit: the same products and sums, in the same order. Open this file to
// speed up packed formats.

#if defined(SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_
#undef SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_
#else
#define SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_
#endif

#include "engine/compute/weight_format/weight_format.h"
#include "kernels/cpu/packed_panels.h"
#include "kernels/cpu/simd-inl.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {

using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
using SignedByteTag = hn::Rebind<std::int8_t, FloatTag>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using IntegerTag = hn::RebindToSigned<FloatTag>;
using IntegerVector = hn::Vec<IntegerTag>;

/// The two vectors of one k: features 0 … kLanes − 1, and the others.
struct PanelPair {
  FloatVector first;
  FloatVector second;
};
struct CodePair {
  IntegerVector first;
  IntegerVector second;
};

HWY_INLINE const std::uint8_t* bytesAt(const std::byte* data) {
  return reinterpret_cast<const std::uint8_t*>(data);
}

HWY_INLINE hn::Vec<WordTag> loadBytes(const std::byte* data) {
  return hn::PromoteTo(WordTag(), hn::LoadU(ByteTag(), bytesAt(data)));
}

HWY_INLINE FloatVector loadHalves(const std::byte* data) {
  const hn::Rebind<hwy::float16_t, FloatTag> halves;
  return hn::PromoteTo(FloatTag(), hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(data)));
}

HWY_INLINE PanelPair loadHalfPair(const std::byte* data) {
  return {loadHalves(data), loadHalves(data + 2 * kLanes)};
}

/// For factors in bf16.
HWY_INLINE PanelPair loadUpperPair(const std::byte* data) {
  const hn::Rebind<std::uint16_t, FloatTag> halves;
  const auto widened = [&](const std::byte* from) {
    const auto bits = hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(WordTag(), bits)));
  };
  return {widened(data), widened(data + 2 * kLanes)};
}

HWY_INLINE PanelPair loadSignedPair(const std::byte* data) {
  const SignedByteTag bytes;
  const auto* at = reinterpret_cast<const std::int8_t*>(data);
  const auto widened = [&](const std::int8_t* from) {
    return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntegerTag(), hn::LoadU(bytes, from)));
  };
  return {widened(at), widened(at + kLanes)};
}

HWY_INLINE PanelPair loadBytePair(const std::byte* data) {
  const auto widened = [](const std::byte* from) {
    return hn::ConvertTo(FloatTag(), hn::BitCast(IntegerTag(), loadBytes(from)));
  };
  return {widened(data), widened(data + kLanes)};
}

/// Returns the bits of both features of byte i in a plane. The bits of the first feature begin at bit kShift.
template <int kBitsOfPlane, int kShift>
HWY_INLINE CodePair takeBits(hn::Vec<WordTag> bytes) {
  const IntegerTag integers;
  const auto mask = hn::Set(WordTag(), (1U << kBitsOfPlane) - 1U);
  const auto first = hn::And(hn::ShiftRight<kShift>(bytes), mask);
  auto second = hn::ShiftRight<kShift + kBitsOfPlane>(bytes);
  if constexpr (kShift + 2 * kBitsOfPlane < 8) second = hn::And(second, mask);
  return {hn::BitCast(integers, first), hn::BitCast(integers, second)};
}

template <int kLeft>
HWY_INLINE CodePair joinBits(const CodePair& low, const CodePair& high) {
  return {hn::Or(low.first, hn::ShiftLeft<kLeft>(high.first)),
          hn::Or(low.second, hn::ShiftLeft<kLeft>(high.second))};
}

/// Returns the codes of k number `kK` of a group.
template <int kBits, int kK>
HWY_INLINE CodePair codesOf(const std::byte* group, const std::byte* high) {
  constexpr int kWidth = 2 * static_cast<int>(kLanes);
  constexpr int kHalf = static_cast<int>(kLanes);
  if constexpr (kBits == 8) {
    const IntegerTag integers;
    return {hn::BitCast(integers, loadBytes(group + kK * kWidth)),
            hn::BitCast(integers, loadBytes(group + kK * kWidth + kHalf))};
  } else if constexpr (kBits >= 4) {
    const CodePair low = takeBits<4, 0>(loadBytes(group + kK * kHalf));
    if constexpr (kBits == 5) return joinBits<4>(low, takeBits<1, 2 * kK>(loadBytes(high)));
    if constexpr (kBits == 6)
      return joinBits<4>(low, takeBits<2, kK % 2 * 4>(loadBytes(high + kK / 2 * kHalf)));
    return low;
  } else {
    const CodePair low = takeBits<2, kK % 2 * 4>(loadBytes(group + kK / 2 * kHalf));
    if constexpr (kBits == 3) return joinBits<2>(low, takeBits<1, 2 * kK>(loadBytes(high)));
    return low;
  }
}

/// Returns the values of four-bit codes by a table.
template <int kK>
HWY_INLINE CodePair tableValues(const std::byte* group, const std::int8_t* table) {
  const IntegerTag integers;
  const std::byte* at = group + kK * static_cast<int>(kLanes);
#if HWY_TARGET == HWY_SCALAR
  const auto byte = std::to_integer<unsigned>(*at);
  return {hn::Set(integers, table[byte & 15U]), hn::Set(integers, table[byte >> 4])};
#else
  const hn::FixedTag<std::uint8_t, 16> whole;
  const ByteTag bytes;
  const auto values = hn::LoadU(whole, reinterpret_cast<const std::uint8_t*>(table));
  const auto codes = hn::LoadU(bytes, bytesAt(at));
  const auto look = [&](hn::Vec<ByteTag> index) {
    return hn::PromoteTo(integers, hn::BitCast(SignedByteTag(), hn::TableLookupBytes(values, index)));
  };
  return {look(hn::And(codes, hn::Set(bytes, 15))), look(hn::ShiftRight<4>(codes))};
#endif
}

/// The rule of a packed format.
template <compute::WeightFormat kFormat>
constexpr const compute::PackedRule& kRuleOf =
    compute::kWeightFormats[static_cast<std::size_t>(kFormat)].rule;

/// Factors of the elements of a part, by feature.
struct PartFactors {
  PanelPair scale;
  PanelPair minimum;
};

#if HWY_TARGET != HWY_SCALAR
/// A vector has a byte for each k of a group and each of kLanes features. Alternatively, a vector has a word
/// for each of some features of one k.
using GroupTag = hn::Repartition<std::uint8_t, FloatTag>;
using GroupVector = hn::Vec<GroupTag>;
static_assert(hn::MaxLanes(GroupTag()) == kPackedGroup * kLanes);

struct GroupPair {
  GroupVector first;
  GroupVector second;
};

/// Returns words that are the same for all features of a k.
HWY_INLINE hn::Vec<WordTag> wordsOfGroup(std::uint32_t k0, std::uint32_t k1, std::uint32_t k2,
                                         std::uint32_t k3) {
  alignas(64) std::uint32_t words[kLanes];
  const std::array<std::uint32_t, kPackedGroup> ofK = {k0, k1, k2, k3};
  for (std::size_t i = 0; i < kLanes; ++i) words[i] = ofK[i * kPackedGroup / kLanes];
  return hn::Load(WordTag(), words);
}

/// Returns the kLanes bytes at `data`, once for each k.
HWY_INLINE GroupVector loadForEachK(const std::byte* data) {
  if constexpr (kLanes == 16) {
    return hn::LoadDup128(GroupTag(), bytesAt(data));
  } else {
    using Lane = std::conditional_t<kLanes == 8, std::uint64_t, std::uint32_t>;
    Lane lane = 0;
    std::memcpy(&lane, data, sizeof lane);
    return hn::BitCast(GroupTag(), hn::Set(hn::Repartition<Lane, FloatTag>(), lane));
  }
}

/// Returns the first kLanes bytes at `data` for k 0 and 1, and the next for k 2 and 3.
HWY_INLINE hn::Vec<WordTag> loadForPairsOfK(const std::byte* data) {
  const hn::Half<GroupTag> half;
  alignas(64) std::int32_t places[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i)
    places[i] = static_cast<std::int32_t>(i / (kLanes / 2) * (kLanes / 4) + i % (kLanes / 4));
  const auto both = hn::ZeroExtendVector(GroupTag(), hn::LoadU(half, bytesAt(data)));
  return hn::TableLookupLanes(hn::BitCast(WordTag(), both), hn::SetTableIndices(WordTag(), places));
}

/// Whether the codes of a group are combined for all its k together. This way is faster for codes in two
/// planes. For other codes, the way through memory takes the saved time.
template <compute::WeightFormat kFormat>
constexpr bool kTakesGroups =
    kRuleOf<kFormat>.bits == 3 || kRuleOf<kFormat>.bits == 5 || kRuleOf<kFormat>.bits == 6;

/// Returns the codes of all k of a group, of 3, 5 or 6 bits. Shifts work on words. A mask removes bits from
/// neighbours.
template <int kBits>
HWY_INLINE GroupPair codesOfGroup(const std::byte* group, const std::byte* high) {
  const GroupTag bytes;
  const auto masked = [&](hn::Vec<WordTag> words, std::uint8_t mask) {
    return hn::And(hn::BitCast(bytes, words), hn::Set(bytes, mask));
  };
  GroupPair codes;
  if constexpr (kBits > 4) {
    const auto low = hn::BitCast(WordTag(), hn::LoadU(bytes, bytesAt(group)));
    codes = {masked(low, 15), masked(hn::ShiftRight<4>(low), 15)};
  } else {
    const auto low = loadForPairsOfK(group);
    codes = {masked(hn::Shr(low, wordsOfGroup(0, 4, 0, 4)), 3),
             masked(hn::Shr(low, wordsOfGroup(2, 6, 2, 6)), 3)};
  }
  if constexpr (kBits == 6) {
    const auto upper = hn::Shl(loadForPairsOfK(high), wordsOfGroup(4, 0, 4, 0));
    codes = {hn::Or(codes.first, masked(upper, 0x30)),
             hn::Or(codes.second, masked(hn::ShiftRight<2>(upper), 0x30))};
  }
  if constexpr (kBits != 6) {
    const auto upper = loadForEachK(high);
    const auto value = hn::Set(bytes, kBits == 3 ? 4 : 16);
    const auto bitOf = [&](hn::Vec<WordTag> bits) {
      return hn::IfThenElseZero(hn::TestBit(upper, hn::BitCast(bytes, bits)), value);
    };
    codes = {hn::Or(codes.first, bitOf(wordsOfGroup(0x01010101U, 0x04040404U, 0x10101010U, 0x40404040U))),
             hn::Or(codes.second, bitOf(wordsOfGroup(0x02020202U, 0x08080808U, 0x20202020U, 0x80808080U)))};
  }
  return codes;
}

/// The values that factors are multiplied with, for all k of a group: [k][feature].
struct GroupValues {
  alignas(64) std::int8_t first[kPackedGroup * kLanes];
  alignas(64) std::int8_t second[kPackedGroup * kLanes];
};

/// All steps up to here work on bytes, which takes a quarter of the work for words. Loads from memory widen
/// the bytes.
template <compute::WeightFormat kFormat>
HWY_INLINE void takeGroup(const std::byte* group, const std::byte* high, GroupValues& out) {
  constexpr const compute::PackedRule& kRule = kRuleOf<kFormat>;
  const GroupTag bytes;
  GroupPair values = codesOfGroup<kRule.bits>(group, high);
  if constexpr (kRule.offset != 0) {
    const auto offset = hn::Set(bytes, static_cast<std::uint8_t>(kRule.offset));
    values = {hn::Sub(values.first, offset), hn::Sub(values.second, offset)};
  }
  hn::Store(values.first, bytes, reinterpret_cast<std::uint8_t*>(out.first));
  hn::Store(values.second, bytes, reinterpret_cast<std::uint8_t*>(out.second));
}
#endif

HWY_INLINE PanelPair scaled(const PanelPair& values, const PartFactors& factors, bool hasMinimum) {
  PanelPair out = {hn::Mul(factors.scale.first, values.first), hn::Mul(factors.scale.second, values.second)};
  if (hasMinimum) {
    out.first = hn::Add(out.first, factors.minimum.first);
    out.second = hn::Add(out.second, factors.minimum.second);
  }
  return out;
}

/// Returns the values of k number kK of a group.
template <compute::WeightFormat kFormat, int kK>
HWY_INLINE PanelPair widenOne(const std::byte* group, const std::byte* high, const PartFactors& factors) {
  constexpr const compute::PackedRule& kRule = kRuleOf<kFormat>;
  const FloatTag d;
  CodePair values;
  if constexpr (kRule.hasTable) {
    values = tableValues<kK>(group, kRule.table.data());
  } else {
    values = codesOf<kRule.bits, kK>(group, high);
    if constexpr (kRule.offset != 0) {
      const auto offset = hn::Set(IntegerTag(), kRule.offset);
      values = {hn::Sub(values.first, offset), hn::Sub(values.second, offset)};
    }
  }
  return scaled({hn::ConvertTo(d, values.first), hn::ConvertTo(d, values.second)}, factors, kRule.hasMinimum);
}

/// Passes the values of the four k of a group to `use`, in order.
template <compute::WeightFormat kFormat, class Use>
HWY_INLINE void eachOfGroup(const std::byte* group, const std::byte* high, const PartFactors& factors,
                            const Use& use) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kTakesGroups<kFormat>) {
    GroupValues values;
    takeGroup<kFormat>(group, high, values);
    SPANSCOPE_UNROLL
    for (int k = 0; k < static_cast<int>(kPackedGroup); ++k) {
      const auto widened = [&](const std::int8_t* from) {
        return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntegerTag(), hn::LoadU(SignedByteTag(), from)));
      };
      const int at = k * static_cast<int>(kLanes);
      use(scaled({widened(values.first + at), widened(values.second + at)}, factors,
                 kRuleOf<kFormat>.hasMinimum));
    }
    return;
  }
#endif
  use(widenOne<kFormat, 0>(group, high, factors));
  use(widenOne<kFormat, 1>(group, high, factors));
  use(widenOne<kFormat, 2>(group, high, factors));
  use(widenOne<kFormat, 3>(group, high, factors));
}

/// A part of a panel: its factors, and the place of its codes.
template <compute::WeightFormat kFormat>
struct Part {
  PartFactors factors;
  const std::byte* group;

  HWY_INLINE Part(const PackedPanelShape& shape, const std::byte* panel, std::int64_t part) {
    constexpr const compute::PackedRule& kRule = kRuleOf<kFormat>;
    const std::int64_t parts = shape.blockElements / shape.partElements;
    const std::byte* block = panel + part / parts * shape.blockBytes;
    const std::byte* at = block + shape.headBytes + part % parts * shape.partBytes;
    if constexpr (kRule.isPowerOfTwo)
      factors.scale = loadUpperPair(block);
    else
      factors.scale = loadHalfPair(block);
    if constexpr (kRule.hasScales) {
      const PanelPair scales = loadSignedPair(at);
      factors.scale = {hn::Mul(factors.scale.first, scales.first),
                       hn::Mul(factors.scale.second, scales.second)};
    }
    if constexpr (kRule.hasMinimum) factors.minimum = loadHalfPair(block + 2 * shape.width);
    if constexpr (kRule.hasMinima) {
      const PanelPair minima = loadBytePair(at + shape.width);
      factors.minimum = {hn::Neg(hn::Mul(factors.minimum.first, minima.first)),
                         hn::Neg(hn::Mul(factors.minimum.second, minima.second))};
    }
    group = at + shape.partHeadBytes;
  }
};

/// Passes the values of each k of parts first … last − 1 of a panel to `use`, in order.
template <compute::WeightFormat kFormat, class Use>
HWY_INLINE void eachOfParts(const PackedPanelShape& shape, const std::byte* panel, std::int64_t first,
                            std::int64_t last, const Use& use) {
  for (std::int64_t index = first; index < last; ++index) {
    const Part<kFormat> part(shape, panel, index);
    const std::byte* group = part.group;
    for (std::int64_t k = 0; k < shape.partElements; k += kPackedGroup, group += shape.groupBytes) {
      eachOfGroup<kFormat>(group, group + shape.lowBytes, part.factors, use);
    }
  }
}

/// Widens elements first … first + count − 1 along k, whole parts, to [count][width].
template <compute::WeightFormat kFormat>
void widenParts(const PackedPanelShape& shape, const std::byte* panel, std::int64_t first, std::int64_t count,
                float* HWY_RESTRICT out) {
  const FloatTag d;
  eachOfParts<kFormat>(shape, panel, first / shape.partElements, (first + count) / shape.partElements,
                       [&](const PanelPair& values) {
                         hn::StoreU(values.first, d, out);
                         hn::StoreU(values.second, d, out + kLanes);
                         out += 2 * kLanes;
                       });
}

/// Max rows that are multiplied with values without storing the values.
constexpr int kMostFusedRows = 2;

/// sums[row][width] = Σ over k of rows[k][row] · the values of the panel, in one chain each.
template <compute::WeightFormat kFormat, int kRows>
void multiplyParts(const PackedPanelShape& shape, const std::byte* panel, std::int64_t columns,
                   const float* HWY_RESTRICT rows, float* HWY_RESTRICT sums) {
  const FloatTag d;
  FloatVector acc[kRows][2];
  SPANSCOPE_UNROLL
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = hn::Zero(d);
  eachOfParts<kFormat>(shape, panel, 0, columns / shape.partElements, [&](const PanelPair& values) {
    SPANSCOPE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const FloatVector x = hn::Set(d, rows[r]);
      acc[r][0] = hn::MulAdd(x, values.first, acc[r][0]);
      acc[r][1] = hn::MulAdd(x, values.second, acc[r][1]);
    }
    rows += kRows;
  });
  SPANSCOPE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(acc[r][0], d, sums + r * 2 * kLanes);
    hn::StoreU(acc[r][1], d, sums + r * 2 * kLanes + kLanes);
  }
}

/// The functions for a packed format. Null for plain formats.
struct PackedFunctions {
  void (*widen)(const PackedPanelShape&, const std::byte* panel, std::int64_t first, std::int64_t count,
                float* out) = nullptr;
  /// By rows − 1.
  void (*multiply[kMostFusedRows])(const PackedPanelShape&, const std::byte* panel, std::int64_t columns,
                                   const float* rows, float* sums) = {};
};

template <std::size_t kIndex>
constexpr PackedFunctions functionsOf() {
  constexpr compute::WeightFormat kFormat = compute::kWeightFormats[kIndex].format;
  if constexpr (compute::kWeightFormats[kIndex].isPacked())
    return {&widenParts<kFormat>, {&multiplyParts<kFormat, 1>, &multiplyParts<kFormat, 2>}};
  return {};
}

template <std::size_t... kIndex>
constexpr std::array<PackedFunctions, sizeof...(kIndex)> functionTable(std::index_sequence<kIndex...>) {
  return {functionsOf<kIndex>()...};
}

inline const PackedFunctions& packedFunctions(compute::WeightFormat format) {
  static constexpr auto kTable = functionTable(std::make_index_sequence<compute::kWeightFormats.size()>());
  return kTable[static_cast<std::size_t>(format)];
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
