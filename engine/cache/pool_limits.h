// SPDX-License-Identifier: GPL-3.0-or-later
// How large the pool of a KV cache may be.
#pragma once

#include <cstdint>
#include <limits>

namespace spanscope::cache {

inline constexpr std::int32_t kMaxBlockSize = 1024;  ///< token slots a block
/// Physical blocks, the null block included.
inline constexpr std::int32_t kMinBlockCount = 2;
inline constexpr std::int32_t kMaxBlockCount = 1 << 24;
/// Token slots of all blocks together.
inline constexpr std::int64_t kMaxTokenSlots = std::numeric_limits<std::int32_t>::max();

}  // namespace spanscope::cache
