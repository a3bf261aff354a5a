// SPDX-License-Identifier: GPL-3.0-or-later
// Limits of retrieval options.
#pragma once

#include <cstdint>

namespace spanscope::retrieve {

inline constexpr std::int32_t kMaxFragments = 10'000;  ///< of an augment
/// Number of tokens in a chunk.
inline constexpr std::int32_t kMinChunkTokens = 8;
inline constexpr std::int32_t kMaxChunkTokens = 1 << 20;

}  // namespace spanscope::retrieve
