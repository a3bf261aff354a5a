// SPDX-License-Identifier: GPL-3.0-or-later
// Code that the kernels share. The file is compiled once per instruction set. Open this file before you write
// a kernel.

#if defined(SPANSCOPE_KERNELS_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPANSCOPE_KERNELS_CPU_SIMD_INL_H_
#undef SPANSCOPE_KERNELS_CPU_SIMD_INL_H_
#else
#define SPANSCOPE_KERNELS_CPU_SIMD_INL_H_
#endif

#include "hwy/highway.h"

#include <cstddef>
#include <cstdint>

// Loops over arrays of vectors must be unrolled completely. Otherwise the vectors are in memory.
#undef SPANSCOPE_UNROLL
#if HWY_COMPILER_CLANG
#define SPANSCOPE_UNROLL _Pragma("unroll")
#else
#define SPANSCOPE_UNROLL _Pragma("GCC unroll 64")
#endif

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

// Sixteen vector registers contain 6 × 2 sums, thirty-two contain 12 × 2.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int kRowTile = 12;
#else
constexpr int kRowTile = 6;
#endif

HWY_INLINE FloatVector widen(FloatTag d, const float* source) {
  return hn::LoadU(d, source);
}

HWY_INLINE FloatVector widen(FloatTag d, const std::uint16_t* source) {
  const hn::Rebind<std::uint16_t, FloatTag> half;
  const hn::RebindToUnsigned<FloatTag> whole;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(whole, hn::LoadU(half, source))));
}

/// e^x with an error of at most 2 units in the last place for −87 ≤ x ≤ 88. The result is 0 below this range,
/// e^88 above this range, and NaN for NaN.
HWY_INLINE FloatVector exponential(FloatTag d, FloatVector x) {
  const hn::RebindToSigned<FloatTag> integers;
  const auto lowest = hn::Set(d, -87.0F);
  const auto isNormal = hn::Ge(x, lowest);
  const auto clamped = hn::Min(x, hn::Set(d, 88.0F));
  // x = n·ln 2 + r with |r| ≤ ln 2 / 2. ln 2 is split into two parts. The first part has few digits, so its
  // product with n is exact.
  const auto n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504F)));
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.69140625F), clamped);
  r = hn::NegMulAdd(n, hn::Set(d, 1.7409305599452862e-3F), r);
  // (e^r − 1 − r) / r², fitted over this interval.
  auto p = hn::Set(d, 1.9790247e-4F);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3944758e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.333498e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1666295e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.16666666F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5F));
  const auto power = hn::MulAdd(hn::Mul(r, r), p, hn::Add(r, hn::Set(d, 1.0F)));
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(integers, hn::IfThenElseZero(isNormal, n)));
  const auto scaled = hn::BitCast(d, hn::Add(hn::BitCast(integers, power), exponent));
  return hn::IfThenElse(isNormal, scaled, hn::IfThenElseZero(hn::IsNaN(x), x));
}

HWY_INLINE float exponential(float x) {
  const FloatTag d;
  return hn::GetLane(exponential(d, hn::Set(d, x)));
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
