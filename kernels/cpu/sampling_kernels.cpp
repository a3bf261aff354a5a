// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/sampling.h"
#include "kernels/cpu/sampler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sampling_kernels.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

using IntTag = hn::RebindToSigned<FloatTag>;
using IntVector = hn::Vec<IntTag>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A weight in two parts of 20 bits, whole · 2^20 + rest. Such a weight needs no vectors of 64 bits.
constexpr int kPartBits = 20;
constexpr float kPart = 1 << kPartBits;
static_assert(2 * kPartBits == compute::kWeightBits);
// Even one lane can hold the sum of a block.
static_assert((kSumBlock << kPartBits) < (std::size_t{1} << 31U));
struct Weight {
  IntVector whole;
  IntVector rest;
};

/// Calls each(i, vector) for every vector of logits from element i on. The last vector is filled up.
template <class Each>
HWY_INLINE void forLogits(const float* logits, std::size_t count, float filler, const Each& each) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) each(i, hn::LoadU(d, logits + i));
  if (i == count) return;
  HWY_ALIGN float part[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) part[lane] = i + lane < count ? logits[i + lane] : filler;
  each(i, hn::Load(d, part));
}

HWY_INLINE FloatVector exponents(FloatVector logits, const WeightFunction& function) {
  const FloatTag d;
  return hn::Mul(hn::Sub(logits, hn::Set(d, function.best)), hn::Set(d, function.scale));
}

/// compute::power
HWY_INLINE FloatVector power(FloatVector y) {
  const FloatTag d;
  const IntTag integers;
  const auto n = hn::Round(y);
  const auto f = hn::Sub(y, n);
  auto p = hn::Set(d, compute::kPowerTerms[5]);
  p = hn::Add(hn::Mul(p, f), hn::Set(d, compute::kPowerTerms[4]));
  p = hn::Add(hn::Mul(p, f), hn::Set(d, compute::kPowerTerms[3]));
  p = hn::Add(hn::Mul(p, f), hn::Set(d, compute::kPowerTerms[2]));
  p = hn::Add(hn::Mul(p, f), hn::Set(d, compute::kPowerTerms[1]));
  p = hn::Add(hn::Mul(p, f), hn::Set(d, compute::kPowerTerms[0]));
  p = hn::Add(hn::Mul(p, f), hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(integers, n));
  const auto scaled = hn::BitCast(d, hn::Add(hn::BitCast(integers, p), exponent));
  return hn::IfThenElseZero(hn::Ge(y, hn::Set(d, compute::kLeastExponent)), scaled);
}

/// compute::weightOf
HWY_INLINE Weight weight(FloatVector power) {
  const FloatTag d;
  const IntTag integers;
  const auto part = hn::Set(d, kPart);
  const auto scaled = hn::Mul(power, part);
  const auto whole = hn::ConvertTo(integers, scaled);
  const auto rest = hn::Sub(scaled, hn::ConvertTo(d, whole));
  return {whole, hn::ConvertTo(integers, hn::Mul(rest, part))};
}

HWY_INLINE std::uint64_t sumOfLanes(IntVector values) {
  const IntTag integers;
  HWY_ALIGN std::int32_t lanes[kLanes];
  hn::Store(values, integers, lanes);
  std::uint64_t sum = 0;
  for (const std::int32_t lane : lanes) sum += static_cast<std::uint64_t>(lane);
  return sum;
}

SamplingKernels::Largest largest(const float* logits, std::size_t count) {
  const FloatTag d;
  const auto infinity = hn::Set(d, kInfinity);
  SamplingKernels::Largest result{.logit = -kInfinity};
  for (std::size_t begin = 0; begin < count; begin += kSumBlock) {
    auto most = hn::Neg(infinity);
    auto sound = hn::Eq(infinity, infinity);
    forLogits(logits + begin, std::min(kSumBlock, count - begin), -kInfinity,
              [&](std::size_t, FloatVector x) HWY_ATTR {
                most = hn::Max(most, x);
                sound = hn::And(sound, hn::Lt(x, infinity));
              });
    const float best = hn::GetLane(hn::MaxOfLanes(d, most));
    if (best > result.logit) {
      result.logit = best;
      result.block = begin / kSumBlock;
    }
    result.damaged = result.damaged || !hn::AllTrue(d, sound);
  }
  return result;
}

void weights(const float* logits, std::size_t count, const WeightFunction& function, std::uint64_t* out) {
  const IntTag integers;
  HWY_ALIGN std::int32_t whole[kLanes];
  HWY_ALIGN std::int32_t rest[kLanes];
  forLogits(logits, count, -kInfinity, [&](std::size_t i, FloatVector x) HWY_ATTR {
    const Weight parts = weight(power(exponents(x, function)));
    hn::Store(parts.whole, integers, whole);
    hn::Store(parts.rest, integers, rest);
    const auto put = [&](std::size_t lane) {
      out[i + lane] =
          (static_cast<std::uint64_t>(whole[lane]) << kPartBits) + static_cast<std::uint64_t>(rest[lane]);
    };
    if (i + kLanes <= count) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) put(lane);
    } else {
      for (std::size_t lane = 0; i + lane < count; ++lane) put(lane);
    }
  });
}

std::uint64_t weightSums(const float* logits, std::size_t count, const WeightFunction& function,
                         std::uint64_t* sums) {
  const IntTag integers;
  std::uint64_t total = 0;
  for (std::size_t begin = 0; begin < count; begin += kSumBlock) {
    auto whole = hn::Zero(integers);
    auto rest = hn::Zero(integers);
    forLogits(logits + begin, std::min(kSumBlock, count - begin), -kInfinity,
              [&](std::size_t, FloatVector x) HWY_ATTR {
                const Weight parts = weight(power(exponents(x, function)));
                whole = hn::Add(whole, parts.whole);
                rest = hn::Add(rest, parts.rest);
              });
    const std::uint64_t sum = (sumOfLanes(whole) << kPartBits) + sumOfLanes(rest);
    sums[begin / kSumBlock] = sum;
    total += sum;
  }
  return total;
}

std::size_t pack(const float* logits, std::size_t count, const WeightFunction& function, float least,
                 float* packed, std::int32_t* ids) {
  const FloatTag d;
  const IntTag integers;
  const auto bound = hn::Set(d, least);
  const auto lanes = hn::Iota(integers, 0);
  std::size_t found = 0;
  forLogits(logits, count, -kInfinity, [&](std::size_t i, FloatVector x) HWY_ATTR {
    const auto likely = hn::Ge(exponents(x, function), bound);
    if (hn::AllFalse(d, likely)) return;
    const auto id = hn::Add(lanes, hn::Set(integers, static_cast<std::int32_t>(i)));
    // Compressing into memory is slow on some processors, and both outputs have room for a whole vector.
    hn::StoreU(hn::Compress(id, hn::RebindMask(integers, likely)), integers, ids + found);
    hn::StoreU(hn::Compress(x, likely), d, packed + found);
    found += hn::CountTrue(d, likely);
  });
  return found;
}

float smallest(const float* logits, std::size_t count) {
  const FloatTag d;
  auto least = hn::Set(d, kInfinity);
  forLogits(logits, count, kInfinity,
            [&](std::size_t, FloatVector x) HWY_ATTR { least = hn::Min(least, x); });
  return hn::GetLane(hn::MinOfLanes(d, least));
}

}  // namespace

SamplingKernels targetSamplingKernels() {
  static_assert(kLanes <= kPackTail);
  return {&largest, &weights, &weightSums, &pack, &smallest};
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spanscope::cpu {

HWY_EXPORT(targetSamplingKernels);

SamplingKernels samplingKernels() {
  return HWY_DYNAMIC_DISPATCH(targetSamplingKernels)();
}

}  // namespace spanscope::cpu
#endif
