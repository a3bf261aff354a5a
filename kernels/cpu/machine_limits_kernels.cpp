// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/machine_limits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/machine_limits_kernels.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int kChains = 2 * kRowTile;

double multiplyAdd(std::int64_t rounds, float* sink) {
  const FloatTag d;
  FloatVector sums[kChains];
  SPANSCOPE_UNROLL
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Set(d, *sink + static_cast<float>(i));
  const FloatVector factor = hn::Set(d, 0.5F);
  const FloatVector addend = hn::Set(d, 1.0F);
  for (std::int64_t round = 0; round < rounds; ++round) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < kChains; ++i) sums[i] = hn::MulAdd(sums[i], factor, addend);
  }
  FloatVector total = sums[0];
  SPANSCOPE_UNROLL
  for (int i = 1; i < kChains; ++i) total = hn::Add(total, sums[i]);
  *sink = hn::GetLane(total);
  return 2.0 * static_cast<double>(rounds) * kChains * static_cast<double>(kLanes);
}

void read(const std::byte* data, std::size_t bytes, float* sink) {
  const FloatTag d;
  constexpr int kVectors = 8;
  const float* values = reinterpret_cast<const float*>(data);
  const std::size_t count = bytes / sizeof(float);
  FloatVector sums[kVectors];
  SPANSCOPE_UNROLL
  for (int i = 0; i < kVectors; ++i) sums[i] = hn::Zero(d);
  for (std::size_t at = 0; at < count; at += kVectors * kLanes) {
    SPANSCOPE_UNROLL
    for (int i = 0; i < kVectors; ++i) {
      sums[i] = hn::Xor(sums[i], hn::Load(d, values + at + static_cast<std::size_t>(i) * kLanes));
    }
  }
  FloatVector total = sums[0];
  SPANSCOPE_UNROLL
  for (int i = 1; i < kVectors; ++i) total = hn::Xor(total, sums[i]);
  *sink += hn::GetLane(total);
}

}  // namespace

LimitKernels targetLimitKernels() {
  return {&multiplyAdd, &read};
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spanscope::cpu {

HWY_EXPORT(targetLimitKernels);

LimitKernels limitKernels() {
  return HWY_DYNAMIC_DISPATCH(targetLimitKernels)();
}

}  // namespace spanscope::cpu
#endif
