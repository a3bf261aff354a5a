// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/low_precision.h"

#include "hwy/targets.h"
#include "kernels/cpu/row_kernels.h"

#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace spanscope::cpu {
namespace {

std::string_view nameOf(PairDots dots) {
  switch (dots) {
    case PairDots::Avx512:
      return "bf16 pairs";
    case PairDots::Amx:
      return "bf16 tiles";
    default:
      return "";
  }
}

std::string_view nameOf(ByteDots dots) {
  switch (dots) {
    case ByteDots::Avx2:
      return "int8 pairs";
    case ByteDots::AvxVnni:
    case ByteDots::Vnni:
      return "int8 dots";
    case ByteDots::Amx:
      return "int8 tiles";
    default:
      return "";
  }
}

#if defined(__x86_64__)
/// Linux reserves no memory for a thread's tiles before the process requests it (kernel documentation,
/// x86/xstate).
bool tilesAreGranted() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  static const bool isGranted = ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return isGranted;
#else
  return false;
#endif
}

struct Features {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

/// Extended features of Intel's leaf 7. Different compilers know different names of these features.
Features featuresOf(unsigned part) {
  Features features;
  __get_cpuid_count(7, part, &features.eax, &features.ebx, &features.ecx, &features.edx);
  return features;
}

// Highway has no sets of its own for processors with these instructions. Here they belong to a set whose
// kernels are not compiled. That set has all needed instructions, or is a subset.

bool hasTiles() {
  constexpr unsigned kTiles = 1U << 24U | 1U << 22U | 1U << 25U;  // AMX-TILE, AMX-BF16, AMX-INT8
  return (hwy::SupportedTargets() & HWY_AVX3_DL) != 0 && __builtin_cpu_supports("avx512bf16") != 0 &&
         (featuresOf(0).edx & kTiles) == kTiles && tilesAreGranted();
}

bool hasAvxVnni() {
  return (hwy::SupportedTargets() & HWY_SSSE3) != 0 && (featuresOf(1).eax & 1U << 4U) != 0;
}
#endif

std::string joined(std::string_view pairs, std::string_view bytes) {
  const bool areBoth = !pairs.empty() && !bytes.empty();
  return std::string(pairs) + (areBoth ? " and " : "") + std::string(bytes);
}

}  // namespace

std::string LowPrecision::words() const {
  return joined(nameOf(pairDots), nameOf(byteDots));
}

std::string LowPrecision::sums() const {
  return joined(nameOf(pairDots), byteDots == ByteDots::None ? "" : "int8 dots");
}

LowPrecision lowPrecision() {
#if defined(__x86_64__)
  const std::string_view target = rowKernels().target;
  if (target == "AVX2") return {.byteDots = hasAvxVnni() ? ByteDots::AvxVnni : ByteDots::Avx2};
  if (target != "AVX3") return {};
  if (hasTiles()) return {PairDots::Amx, ByteDots::Amx};
  return {__builtin_cpu_supports("avx512bf16") != 0 ? PairDots::Avx512 : PairDots::None,
          __builtin_cpu_supports("avx512vnni") != 0 ? ByteDots::Vnni : ByteDots::Avx2};
#else
  return {};
#endif
}

}  // namespace spanscope::cpu
