// SPDX-License-Identifier: GPL-3.0-or-later
// What a configuration may say. The limits are far above every model there is, and so low that no product of
// two of them overflows 64 bits.
#pragma once

#include <cstdint>

namespace spanscope::model {

inline constexpr std::int64_t kMaxVocabulary = 1 << 22;
inline constexpr std::int64_t kMaxHiddenSize = 1 << 16;
inline constexpr std::int64_t kMaxIntermediateSize = 1 << 20;
inline constexpr std::int64_t kMaxLayers = 1024;
inline constexpr std::int64_t kMaxHeads = 1024;
inline constexpr std::int64_t kMaxHeadSize = 1024;
inline constexpr std::int64_t kMaxPositions = 1 << 30;
inline constexpr double kMaxRopeTheta = 1e12;
inline constexpr double kDefaultRopeTheta = 10000;

/// A value within these limits.
inline std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace spanscope::model
