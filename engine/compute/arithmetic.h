// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spanscope::compute {

/// How products of activations and weights are computed on a processor. Both give a row the same bits
/// whatever is computed beside it; they differ in what a row's numbers are rounded to on the way. Cards
/// choose their own arithmetic and take no notice.
enum class Arithmetic : std::uint8_t {
  F32,  ///< activations in f32, weights widened to f32 exactly, sums in f32
  /// What the processor does fastest: bf16 weights with activations rounded to bf16, packed weights with
  /// activations rounded to eight bits by blocks; sums in f32. Where the processor has no instructions for
  /// that, or a weight has another format, as F32.
  Fast
};

inline constexpr std::array<const char*, 2> kArithmeticNames = {"f32", "fast"};

constexpr const char* nameOf(Arithmetic arithmetic) {
  return kArithmeticNames[static_cast<std::size_t>(arithmetic)];
}

/// Nothing for a name that is none of these.
constexpr std::optional<Arithmetic> arithmeticOf(std::string_view name) {
  for (std::size_t i = 0; i < kArithmeticNames.size(); ++i) {
    if (name == kArithmeticNames[i]) return static_cast<Arithmetic>(i);
  }
  return std::nullopt;
}

}  // namespace spanscope::compute
