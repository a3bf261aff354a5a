// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the instructions of compute::Arithmetic::Fast on this processor. Open this file to add an instruction
// set.
#pragma once

#include <cstdint>
#include <string>

namespace spanscope::cpu {

/// How products of bf16 elements are summed. Each way has its own order, see fast_kernels.h.
enum class PairDots : std::uint8_t {
  None,
  Avx512,  ///< AVX512_BF16: two at a time
  Amx,     ///< AMX_BF16: 32 at a time
};

/// How products of bytes are summed. The sums are exact. All ways therefore give the same bits.
enum class ByteDots : std::uint8_t {
  None,
  Avx2,     ///< first in integers of 16 bits, then in integers of 32 bits
  AvxVnni,  ///< AVX-VNNI: four at a time in integers of 32 bits
  Vnni,     ///< AVX512_VNNI: like AVX-VNNI, in longer vectors
  Amx,      ///< AMX_INT8 for many rows, AVX512_VNNI for few
};

struct LowPrecision {
  PairDots pairDots = PairDots::None;
  ByteDots byteDots = ByteDots::None;

  bool isAny() const { return pairDots != PairDots::None || byteDots != ByteDots::None; }
  /// Returns the instructions in words: "bf16 pairs and int8 dots". Empty if there are none.
  std::string words() const;
  /// Returns the instructions that the bits of results depend on. Empty if there are none.
  std::string sums() const;
};

/// Returns the instructions of this processor for fast arithmetic. Includes only instructions of the
/// instruction set that the other kernels use. If the system grants tile registers on demand, this function
/// requests these registers for the whole process.
LowPrecision lowPrecision();

}  // namespace spanscope::cpu
