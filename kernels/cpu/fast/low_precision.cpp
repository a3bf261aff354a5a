// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/low_precision.h"

#include "kernels/cpu/row_kernels.h"

#include <string_view>

namespace spanscope::cpu {

std::string LowPrecision::words() const {
  std::string words = bf16Pairs ? "bf16 pairs" : "";
  if (byteDots != ByteDots::None) words += words.empty() ? "int8 dots" : " and int8 dots";
  return words;
}

LowPrecision lowPrecision() {
#if defined(__x86_64__)
  const std::string_view target = rowKernels().target;
  if (target == "AVX2") return {.byteDots = ByteDots::Avx2};
  if (target != "AVX3") return {};
  return {.bf16Pairs = __builtin_cpu_supports("avx512bf16") != 0,
          .byteDots = __builtin_cpu_supports("avx512vnni") != 0 ? ByteDots::Vnni : ByteDots::Avx2};
#else
  return {};
#endif
}

}  // namespace spanscope::cpu
