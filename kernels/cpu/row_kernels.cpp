// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/row_kernels.h"

#include <cmath>
#include <cstddef>
#include <string_view>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_kernels.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace spanscope::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kStep = static_cast<std::int64_t>(kLanes);

/// Calls whole(i) for every full vector, then rest(i, count) for the remaining elements.
template <class Whole, class Rest>
HWY_INLINE void forVectors(std::int64_t count, const Whole& whole, const Rest& rest) {
  std::int64_t i = 0;
  for (; i + kStep <= count; i += kStep) whole(i);
  if (i < count) rest(i, static_cast<std::size_t>(count - i));
}

/// Loads the first `count` elements; the others are zeros.
HWY_INLINE FloatVector loadPart(const float* source, std::size_t count) {
  const FloatTag d;
  HWY_ALIGN float part[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) part[i] = source[i];
  return hn::Load(d, part);
}

HWY_INLINE void storePart(FloatVector value, float* target, std::size_t count) {
  const FloatTag d;
  HWY_ALIGN float part[kLanes];
  hn::Store(value, d, part);
  for (std::size_t i = 0; i < count; ++i) target[i] = part[i];
}

/// The first `columns` elements of a row, minus `mean`. Elements after them are 0.
HWY_INLINE FloatVector centred(const float* x, std::int64_t at, std::int64_t columns, FloatVector mean) {
  const FloatTag d;
  if (at + kStep <= columns) return hn::Sub(hn::LoadU(d, x + at), mean);
  const auto count = static_cast<std::size_t>(columns - at);
  return hn::IfThenElseZero(hn::FirstN(d, count), hn::Sub(loadPart(x + at, count), mean));
}

void layerNorm(const float* x, const float* weight, float epsilon, std::int64_t columns, float* out) {
  const FloatTag d;
  const auto count = static_cast<float>(columns);
  auto sum = hn::Zero(d);
  for (std::int64_t i = 0; i < columns; i += kStep) sum = hn::Add(sum, centred(x, i, columns, hn::Zero(d)));
  const auto mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum)) / count);
  auto squares = hn::Zero(d);
  for (std::int64_t i = 0; i < columns; i += kStep) {
    const auto a = centred(x, i, columns, mean);
    squares = hn::MulAdd(a, a, squares);
  }
  const float variance = hn::GetLane(hn::SumOfLanes(d, squares)) / count;
  const auto factor = hn::Set(d, 1.0F / std::sqrt(variance + epsilon));
  forVectors(
      columns,
      [&](std::int64_t at) HWY_ATTR {
        const auto a = hn::Mul(centred(x, at, columns, mean), factor);
        hn::StoreU(hn::Mul(a, hn::LoadU(d, weight + at)), d, out + at);
      },
      [&](std::int64_t at, std::size_t part) HWY_ATTR {
        const auto a = hn::Mul(centred(x, at, columns, mean), factor);
        storePart(hn::Mul(a, loadPart(weight + at, part)), out + at, part);
      });
}

void rmsNorm(const float* x, const float* weight, float epsilon, std::int64_t columns, float* out) {
  const FloatTag d;
  auto sum = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * kStep <= columns; i += 2 * kStep) {
    const auto a = hn::LoadU(d, x + i);
    const auto b = hn::LoadU(d, x + i + kStep);
    sum = hn::MulAdd(a, a, sum);
    sum2 = hn::MulAdd(b, b, sum2);
  }
  for (; i < columns; i += kStep) {
    const auto a =
        i + kStep <= columns ? hn::LoadU(d, x + i) : loadPart(x + i, static_cast<std::size_t>(columns - i));
    sum = hn::MulAdd(a, a, sum);
  }
  const float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, sum2)));
  const float scale = 1.0F / std::sqrt(total / static_cast<float>(columns) + epsilon);
  const auto factor = hn::Set(d, scale);
  forVectors(
      columns,
      [&](std::int64_t at) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + at), factor), hn::LoadU(d, weight + at)), d, out + at);
      },
      [&](std::int64_t at, std::size_t count) HWY_ATTR {
        storePart(hn::Mul(hn::Mul(loadPart(x + at, count), factor), loadPart(weight + at, count)), out + at,
                  count);
      });
}

/// The activations, each a functor over vectors, and the other factor of the product.
struct PlainUp {
  HWY_INLINE static FloatVector up(FloatVector value) { return value; }
};

struct Silu : PlainUp {
  HWY_INLINE FloatVector operator()(FloatVector gate) const {
    const FloatTag d;
    return hn::Div(gate, hn::Add(hn::Set(d, 1.0F), exponential(d, hn::Neg(gate))));
  }
};

struct GeluTanh : PlainUp {
  HWY_INLINE FloatVector operator()(FloatVector gate) const {
    const FloatTag d;
    constexpr float kTwice = 2 * 0.79788456080286535588F;  // 2 · √(2/π)
    constexpr float kCubic = kTwice * 0.044715F;
    const auto factor = hn::MulAdd(hn::Mul(gate, gate), hn::Set(d, kCubic), hn::Set(d, kTwice));
    return hn::Div(gate, hn::Add(hn::Set(d, 1.0F), exponential(d, hn::Neg(hn::Mul(gate, factor)))));
  }
};

struct ClampedSwiglu {
  static constexpr float kLimit = 7;
  HWY_INLINE FloatVector operator()(FloatVector gate) const {
    const FloatTag d;
    const auto clamped = hn::Min(gate, hn::Set(d, kLimit));
    const auto power = exponential(d, hn::Mul(clamped, hn::Set(d, -1.702F)));
    return hn::Div(clamped, hn::Add(hn::Set(d, 1.0F), power));
  }
  HWY_INLINE static FloatVector up(FloatVector value) {
    const FloatTag d;
    return hn::Add(hn::Clamp(value, hn::Set(d, -kLimit), hn::Set(d, kLimit)), hn::Set(d, 1.0F));
  }
};

template <class Activation>
void multiplyGated(const float* gate, const float* up, std::int64_t columns, float* out) {
  const FloatTag d;
  const Activation activation;
  forVectors(
      columns,
      [&](std::int64_t at) HWY_ATTR {
        hn::StoreU(hn::Mul(activation(hn::LoadU(d, gate + at)), Activation::up(hn::LoadU(d, up + at))), d,
                   out + at);
      },
      [&](std::int64_t at, std::size_t count) HWY_ATTR {
        storePart(hn::Mul(activation(loadPart(gate + at, count)), Activation::up(loadPart(up + at, count))),
                  out + at, count);
      });
}

void scale(float* x, float factor, std::int64_t columns) {
  const FloatTag d;
  const auto by = hn::Set(d, factor);
  forVectors(
      columns, [&](std::int64_t at) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, x + at), by), d, x + at); },
      [&](std::int64_t at, std::size_t count)
          HWY_ATTR { storePart(hn::Mul(loadPart(x + at, count), by), x + at, count); });
}

/// tanh. The quotient of exponentials would lose digits near 0, so a polynomial replaces it there.
HWY_INLINE FloatVector hyperbolicTangent(FloatVector x) {
  const FloatTag d;
  const auto size = hn::Abs(x);
  const auto power = exponential(d, hn::Mul(hn::Set(d, -2.0F), size));
  const auto one = hn::Set(d, 1.0F);
  const auto large = hn::CopySign(hn::Div(hn::Sub(one, power), hn::Add(one, power)), x);
  const auto square = hn::Mul(x, x);
  // The series of tanh(x) / x. The next term is below half a unit in the last place.
  auto series = hn::Set(d, 62.0F / 2835);
  series = hn::MulAdd(series, square, hn::Set(d, -17.0F / 315));
  series = hn::MulAdd(series, square, hn::Set(d, 2.0F / 15));
  series = hn::MulAdd(series, square, hn::Set(d, -1.0F / 3));
  const auto small = hn::MulAdd(hn::Mul(x, square), series, x);
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.25F)), small, large);
}

void softCap(float* x, float cap, std::int64_t columns) {
  const FloatTag d;
  const auto limit = hn::Set(d, cap);
  const auto capped = [&](FloatVector value)
                          HWY_ATTR { return hn::Mul(hyperbolicTangent(hn::Div(value, limit)), limit); };
  forVectors(
      columns, [&](std::int64_t at) HWY_ATTR { hn::StoreU(capped(hn::LoadU(d, x + at)), d, x + at); },
      [&](std::int64_t at, std::size_t count)
          HWY_ATTR { storePart(capped(loadPart(x + at, count)), x + at, count); });
}

void addScaled(const float* x, float factor, std::int64_t columns, float* out) {
  const FloatTag d;
  const auto by = hn::Set(d, factor);
  forVectors(
      columns,
      [&](std::int64_t at)
          HWY_ATTR { hn::StoreU(hn::MulAdd(hn::LoadU(d, x + at), by, hn::LoadU(d, out + at)), d, out + at); },
      [&](std::int64_t at, std::size_t count) HWY_ATTR {
        storePart(hn::MulAdd(loadPart(x + at, count), by, loadPart(out + at, count)), out + at, count);
      });
}

void rotate(const float* head, const float* cosSin, std::int64_t pairs, float scale, float* out) {
  const FloatTag d;
  const auto factor = hn::Set(d, scale);
  const float* sines = cosSin + pairs;
  const auto first = [&](FloatVector x, FloatVector y, FloatVector c, FloatVector s)
                         HWY_ATTR { return hn::Mul(hn::MulSub(x, c, hn::Mul(y, s)), factor); };
  const auto second = [&](FloatVector x, FloatVector y, FloatVector c, FloatVector s)
                          HWY_ATTR { return hn::Mul(hn::MulAdd(x, s, hn::Mul(y, c)), factor); };
  forVectors(
      pairs,
      [&](std::int64_t at) HWY_ATTR {
        const auto x = hn::LoadU(d, head + at);
        const auto y = hn::LoadU(d, head + pairs + at);
        const auto c = hn::LoadU(d, cosSin + at);
        const auto s = hn::LoadU(d, sines + at);
        hn::StoreU(first(x, y, c, s), d, out + at);
        hn::StoreU(second(x, y, c, s), d, out + pairs + at);
      },
      [&](std::int64_t at, std::size_t count) HWY_ATTR {
        const auto x = loadPart(head + at, count);
        const auto y = loadPart(head + pairs + at, count);
        const auto c = loadPart(cosSin + at, count);
        const auto s = loadPart(sines + at, count);
        storePart(first(x, y, c, s), out + at, count);
        storePart(second(x, y, c, s), out + pairs + at, count);
      });
}

void exponentialOf(const float* x, std::int64_t count, float* out) {
  const FloatTag d;
  forVectors(
      count, [&](std::int64_t at) HWY_ATTR { hn::StoreU(exponential(d, hn::LoadU(d, x + at)), d, out + at); },
      [&](std::int64_t at, std::size_t part)
          HWY_ATTR { storePart(exponential(d, loadPart(x + at, part)), out + at, part); });
}

}  // namespace

RowKernels targetRowKernels() {
  const char* target = hwy::TargetName(HWY_TARGET);
  // Highway calls all levels of AVX-512 by names of its own.
  const char* instructionSet = std::string_view(target).substr(0, 4) == "AVX3" ? "AVX-512" : target;
  return {.target = target,
          .instructionSet = instructionSet,
          .lanes = kStep,
          .rmsNorm = &rmsNorm,
          .layerNorm = &layerNorm,
          .multiplyGated = {&multiplyGated<Silu>, &multiplyGated<GeluTanh>, &multiplyGated<ClampedSwiglu>},
          .scale = &scale,
          .softCap = &softCap,
          .addScaled = &addScaled,
          .rotate = &rotate,
          .exponential = &exponentialOf};
}

}  // namespace HWY_NAMESPACE
}  // namespace spanscope::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spanscope::cpu {

HWY_EXPORT(targetRowKernels);

RowKernels rowKernels() {
  return HWY_DYNAMIC_DISPATCH(targetRowKernels)();
}

}  // namespace spanscope::cpu
#endif
