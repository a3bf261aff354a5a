// SPDX-License-Identifier: GPL-3.0-or-later
// Widens panels of packed weights to f32. It is compiled once per instruction set. The values are those of
// compute::widen(), bit for bit: the same products and sums, in the same order.

#if defined(SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_
#undef SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_
#else
#define SPANSCOPE_KERNELS_CPU_WIDEN_INL_H_
#endif

#include "engine/compute/weight_format/weight_format.h"
#include "kernels/cpu/packed_panels.h"
#include "kernels/cpu/simd-inl.h"

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

/// The bits of both features of byte i that a plane has; those of the first begin at bit kShift.
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

/// The codes of k number `kK` of a group.
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

/// The values of four-bit codes by a table.
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

/// What a format has, as constants.
template <int kBitsOfCode, int kOffsetOfCodes, bool kTable, bool kScales, bool kMinimum, bool kMinima>
struct PackedTraits {
  static constexpr int kBits = kBitsOfCode;
  static constexpr int kOffset = kOffsetOfCodes;
  static constexpr bool kHasTable = kTable;
  static constexpr bool kHasScales = kScales;
  static constexpr bool kHasMinimum = kMinimum;
  static constexpr bool kHasMinima = kMinima;
};

/// Factors of the elements of a part, by feature.
struct PartFactors {
  PanelPair scale;
  PanelPair minimum;
};

/// The values of k number kK of a group.
template <class Traits, int kK>
HWY_INLINE PanelPair widenOne(const std::byte* group, const std::byte* high, const compute::PackedRule& rule,
                              const PartFactors& factors) {
  const FloatTag d;
  CodePair values;
  if constexpr (Traits::kHasTable) {
    values = tableValues<kK>(group, rule.table);
  } else {
    values = codesOf<Traits::kBits, kK>(group, high);
    if constexpr (!Traits::kHasMinimum) {
      const auto offset = hn::Set(IntegerTag(), Traits::kOffset);
      values = {hn::Sub(values.first, offset), hn::Sub(values.second, offset)};
    }
  }
  PanelPair out = {hn::Mul(factors.scale.first, hn::ConvertTo(d, values.first)),
                   hn::Mul(factors.scale.second, hn::ConvertTo(d, values.second))};
  if constexpr (Traits::kHasMinimum) {
    out.first = hn::Add(out.first, factors.minimum.first);
    out.second = hn::Add(out.second, factors.minimum.second);
  }
  return out;
}

/// A part of a panel: its factors, and where its codes begin.
template <class Traits>
struct Part {
  PartFactors factors;
  const std::byte* group;

  HWY_INLINE Part(const PackedPanelShape& shape, const std::byte* panel, std::int64_t part) {
    const std::int64_t parts = shape.blockElements / shape.partElements;
    const std::byte* block = panel + part / parts * shape.blockBytes;
    const std::byte* at = block + shape.headBytes + part % parts * shape.partBytes;
    factors.scale = loadHalfPair(block);
    if constexpr (Traits::kHasScales) {
      const PanelPair scales = loadSignedPair(at);
      factors.scale = {hn::Mul(factors.scale.first, scales.first),
                       hn::Mul(factors.scale.second, scales.second)};
    }
    if constexpr (Traits::kHasMinimum) factors.minimum = loadHalfPair(block + 2 * shape.width);
    if constexpr (Traits::kHasMinima) {
      const PanelPair minima = loadBytePair(at + shape.width);
      factors.minimum = {hn::Neg(hn::Mul(factors.minimum.first, minima.first)),
                         hn::Neg(hn::Mul(factors.minimum.second, minima.second))};
    }
    group = at + shape.partHeadBytes;
  }
};

/// Elements first … first + count − 1 along k, whole parts, to [count][width].
template <class Traits>
void widenParts(const compute::PackedRule& rule, const PackedPanelShape& shape, const std::byte* panel,
                std::int64_t first, std::int64_t count, float* HWY_RESTRICT out) {
  const FloatTag d;
  const auto store = [&](const PanelPair& values) {
    hn::StoreU(values.first, d, out);
    hn::StoreU(values.second, d, out + kLanes);
    out += 2 * kLanes;
  };
  const std::int64_t last = (first + count) / shape.partElements;
  for (std::int64_t index = first / shape.partElements; index < last; ++index) {
    const Part<Traits> part(shape, panel, index);
    const std::byte* group = part.group;
    for (std::int64_t k = 0; k < shape.partElements; k += kPackedGroup, group += shape.groupBytes) {
      const std::byte* high = group + shape.lowBytes;
      store(widenOne<Traits, 0>(group, high, rule, part.factors));
      store(widenOne<Traits, 1>(group, high, rule, part.factors));
      store(widenOne<Traits, 2>(group, high, rule, part.factors));
      store(widenOne<Traits, 3>(group, high, rule, part.factors));
    }
  }
}

/// Rows that are multiplied with values which are not stored in between.
constexpr int kMostFusedRows = 2;

/// sums[row][width] = Σ over k of rows[k][row] · the values of the panel, in one chain each.
template <class Traits, int kRows>
void multiplyParts(const compute::PackedRule& rule, const PackedPanelShape& shape, const std::byte* panel,
                   std::int64_t columns, const float* HWY_RESTRICT rows, float* HWY_RESTRICT sums) {
  const FloatTag d;
  FloatVector acc[kRows][2];
  SPANSCOPE_UNROLL
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = hn::Zero(d);
  const auto add = [&](const PanelPair& values) {
    SPANSCOPE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const FloatVector x = hn::Set(d, rows[r]);
      acc[r][0] = hn::MulAdd(x, values.first, acc[r][0]);
      acc[r][1] = hn::MulAdd(x, values.second, acc[r][1]);
    }
    rows += kRows;
  };
  for (std::int64_t index = 0; index * shape.partElements < columns; ++index) {
    const Part<Traits> part(shape, panel, index);
    const std::byte* group = part.group;
    for (std::int64_t k = 0; k < shape.partElements; k += kPackedGroup, group += shape.groupBytes) {
      const std::byte* high = group + shape.lowBytes;
      add(widenOne<Traits, 0>(group, high, rule, part.factors));
      add(widenOne<Traits, 1>(group, high, rule, part.factors));
      add(widenOne<Traits, 2>(group, high, rule, part.factors));
      add(widenOne<Traits, 3>(group, high, rule, part.factors));
    }
  }
  SPANSCOPE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(acc[r][0], d, sums + r * 2 * kLanes);
    hn::StoreU(acc[r][1], d, sums + r * 2 * kLanes + kLanes);
  }
}

/// The functions for a packed format.
struct PackedFunctions {
  void (*widen)(const compute::PackedRule&, const PackedPanelShape&, const std::byte* panel,
                std::int64_t first, std::int64_t count, float* out) = nullptr;
  /// By rows − 1.
  void (*multiply[kMostFusedRows])(const compute::PackedRule&, const PackedPanelShape&,
                                   const std::byte* panel, std::int64_t columns, const float* rows,
                                   float* sums) = {};
};

template <class Traits>
constexpr PackedFunctions functionsOf() {
  return {&widenParts<Traits>, {&multiplyParts<Traits, 1>, &multiplyParts<Traits, 2>}};
}

inline PackedFunctions packedFunctions(compute::WeightFormat format) {
  using compute::WeightFormat;
  switch (format) {
    case WeightFormat::Q8_0:
      return functionsOf<PackedTraits<8, 128, false, false, false, false>>();
    case WeightFormat::Q4_0:
      return functionsOf<PackedTraits<4, 8, false, false, false, false>>();
    case WeightFormat::Q4_1:
      return functionsOf<PackedTraits<4, 0, false, false, true, false>>();
    case WeightFormat::Q5_0:
      return functionsOf<PackedTraits<5, 16, false, false, false, false>>();
    case WeightFormat::Q5_1:
      return functionsOf<PackedTraits<5, 0, false, false, true, false>>();
    case WeightFormat::Q2_K:
      return functionsOf<PackedTraits<2, 0, false, true, true, true>>();
    case WeightFormat::Q3_K:
      return functionsOf<PackedTraits<3, 4, false, true, false, false>>();
    case WeightFormat::Q4_K:
      return functionsOf<PackedTraits<4, 0, false, true, true, true>>();
    case WeightFormat::Q5_K:
      return functionsOf<PackedTraits<5, 0, false, true, true, true>>();
    case WeightFormat::Q6_K:
      return functionsOf<PackedTraits<6, 32, false, true, false, false>>();
    case WeightFormat::IQ4_NL:
      return functionsOf<PackedTraits<4, 0, true, false, false, false>>();
    case WeightFormat::IQ4_XS:
      return functionsOf<PackedTraits<4, 0, true, true, false, false>>();
    case WeightFormat::F32:
    case WeightFormat::F16:
    case WeightFormat::BF16:
      break;
  }
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
