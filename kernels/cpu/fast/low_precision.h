// SPDX-License-Identifier: GPL-3.0-or-later
// What compute::Arithmetic::Fast computes with on this processor.
#pragma once

#include <cstdint>
#include <string>

namespace spanscope::cpu {

/// How products of bf16 elements are summed up. Each way has an order of its own, see fast_kernels.h.
enum class PairDots : std::uint8_t {
  None,
  Avx512,  ///< AVX512_BF16: two at a time
  Amx,     ///< AMX_BF16: 32 at a time
};

/// How products of bytes are summed up. The sums are exact, so all ways have the same bits.
enum class ByteDots : std::uint8_t {
  None,
  Avx2,     ///< in integers of 16 bits as far as these hold them, then of 32
  AvxVnni,  ///< AVX-VNNI: four at a time in integers of 32 bits
  Vnni,     ///< AVX512_VNNI: the same, in longer vectors
  Amx,      ///< AMX_INT8 for many rows, AVX512_VNNI for few
};

struct LowPrecision {
  PairDots pairDots = PairDots::None;
  ByteDots byteDots = ByteDots::None;

  bool isAny() const { return pairDots != PairDots::None || byteDots != ByteDots::None; }
  /// With which instructions: "bf16 pairs and int8 dots"; empty if there is neither.
  std::string words() const;
  /// The same as far as results' bits depend on it; empty if there is neither.
  std::string sums() const;
};

/// What this processor has, as far as it belongs to the instruction set that the other kernels use. Where the
/// system gives the processor's tile registers on demand, this asks for them, for the whole process.
LowPrecision lowPrecision();

}  // namespace spanscope::cpu
