// SPDX-License-Identifier: GPL-3.0-or-later
// What compute::Arithmetic::Fast computes with on this processor.
#pragma once

#include <string>

namespace spanscope::cpu {

struct LowPrecision {
  bool bf16Pairs = false;  ///< AVX512_BF16: two products of bf16 elements are added to a sum in f32
  bool byteDots = false;   ///< AVX512_VNNI: four products of bytes are added to a sum in 32-bit integers

  bool isAny() const { return bf16Pairs || byteDots; }
  /// "bf16 pairs and int8 dots"; empty if there is neither.
  std::string words() const;
};

/// What this processor has. Nothing unless the other kernels use AVX-512, too.
LowPrecision lowPrecision();

}  // namespace spanscope::cpu
