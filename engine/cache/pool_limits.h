// SPDX-License-Identifier: GPL-3.0-or-later
// The largest and smallest sizes of the pool of a KV cache.
#pragma once

#include <cstdint>
#include <limits>

namespace spanscope::cache {

inline constexpr std::int32_t kMaxBlockSize = 1024;  ///< token slots a block
/// Number of physical blocks, including the null block.
inline constexpr std::int32_t kMinBlockCount = 2;
inline constexpr std::int32_t kMaxBlockCount = 1 << 24;
/// Token slots of all blocks together.
inline constexpr std::int64_t kMaxTokenSlots = std::numeric_limits<std::int32_t>::max();

}  // namespace spanscope::cache
