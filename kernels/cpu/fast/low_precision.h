// SPDX-License-Identifier: GPL-3.0-or-later
// What compute::Arithmetic::Fast computes with on this processor.
#pragma once

#include <cstdint>
#include <string>

namespace spanscope::cpu {

/// How products of bytes are summed up.
enum class ByteDots : std::uint8_t {
  None,
  Avx2,  ///< in integers of 16 bits as far as these hold them, then of 32
  Vnni,  ///< AVX512_VNNI: four at a time in integers of 32 bits
};

struct LowPrecision {
  bool bf16Pairs = false;  ///< AVX512_BF16: two products of bf16 elements are added to a sum in f32
  ByteDots byteDots = ByteDots::None;

  bool isAny() const { return bf16Pairs || byteDots != ByteDots::None; }
  /// "bf16 pairs and int8 dots"; empty if there is neither.
  std::string words() const;
};

/// What this processor has, as far as it belongs to the instruction set that the other kernels use.
LowPrecision lowPrecision();

}  // namespace spanscope::cpu
