// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the types of numbers in tensors. Open this file to convert between f32 and 16-bit types.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace spanscope::compute {

enum class DType : std::uint8_t { F32, F16, BF16 };
std::size_t sizeOf(DType type);  ///< bytes
const char* nameOf(DType type);

// The 16-bit floating-point types of checkpoints, as bit patterns. Narrowing rounds to nearest, ties to even.

constexpr float floatFromBf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to bf16. A NaN stays a (quiet) NaN.
constexpr std::uint16_t bf16FromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

constexpr float floatFromF16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t widened = exponent == 0x1FU ? 0xFFU : exponent + 112U;
  return std::bit_cast<float>(sign | (widened << 23) | (mantissa << 13));
}

/// Rounds to f16. Beyond the largest finite value the result is infinity. A NaN stays a (quiet) NaN.
constexpr std::uint16_t f16FromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t result = 0;
  if (magnitude > 0x7F800000U) {
    result = 0x7E00U;
  } else if (magnitude >= 0x47800000U) {  // 2^16 and more
    result = 0x7C00U;
  } else if (magnitude >=
             0x38800000U) {  // 2^-14, the smallest normal value; a carry out of the largest gives infinity
    const std::uint32_t rebiased = magnitude - 0x38000000U;
    result = (rebiased + 0xFFFU + ((rebiased >> 13) & 1U)) >> 13;
  } else {  // 1/2 + x has a resolution of 2^-24, so the addition rounds correctly
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    result = std::bit_cast<std::uint32_t>(sum) - 0x3F000000U;
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// Reads one element and widens it exactly. `data` may have any alignment.
inline float loadElement(const std::byte* data, DType type) {
  if (type == DType::F32) {
    float value = 0;
    std::memcpy(&value, data, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, data, sizeof bits);
  return type == DType::F16 ? floatFromF16(bits) : floatFromBf16(bits);
}

/// Rounds a value to `type` and writes it. `data` may have any alignment.
inline void storeElement(std::byte* data, DType type, float value) {
  if (type == DType::F32) {
    std::memcpy(data, &value, sizeof value);
    return;
  }
  const std::uint16_t bits = type == DType::F16 ? f16FromFloat(value) : bf16FromFloat(value);
  std::memcpy(data, &bits, sizeof bits);
}

/// The arithmetic of products of activations and weights on a processor. With either kind, the bits of a row
/// do not depend on other rows. The two kinds round the numbers of a row differently. GPUs choose their own
/// arithmetic and ignore this setting.
enum class Arithmetic : std::uint8_t {
  F32,  ///< activations in f32, weights widened to f32 exactly, sums in f32.
  /// The fastest arithmetic of the processor, with sums in f32. Activations are rounded to bf16 for bf16
  /// weights, and to eight bits by blocks for packed weights. If the processor lacks such instructions, or
  /// for other formats, this value equals F32.
  Fast
};

inline constexpr std::array<const char*, 2> kArithmeticNames = {"f32", "fast"};

constexpr const char* nameOf(Arithmetic arithmetic) {
  return kArithmeticNames[static_cast<std::size_t>(arithmetic)];
}

/// Returns nothing for an unknown name.
constexpr std::optional<Arithmetic> arithmeticOf(std::string_view name) {
  for (std::size_t i = 0; i < kArithmeticNames.size(); ++i) {
    if (name == kArithmeticNames[i]) return static_cast<Arithmetic>(i);
  }
  return std::nullopt;
}

}  // namespace spanscope::compute
