// SPDX-License-Identifier: GPL-3.0-or-later
// How contents are named towards the outside. A key is a pure function of content: the same in every process
// and on every machine. Inside the cache nothing is looked up by key.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/pool_state.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace spanscope::cache {

/// Makes a key of bytes. A parameter wherever keys are made, so that tests can make every key collide.
using KeyHash = trace::BlockKey (*)(std::span<const std::uint8_t> bytes);

/// The hash of the program, XXH3-128.
trace::BlockKey xxh3Key(std::span<const std::uint8_t> bytes);

/// One entry of the list of what a segment sees, by key.
struct SeenKey {
  trace::BlockKey end;            ///< key of the seen segment's last block or tail
  std::int64_t distance = 0;      ///< seer's base − seen one's base, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token
};

/// Key of the root of a chain.
trace::BlockKey rootKey(KeyHash hash, std::string_view fingerprint, std::string_view salt,
                        std::span<const SeenKey> seen);

/// Key of a block or tail with these tokens after `parent`.
trace::BlockKey blockKey(KeyHash hash, const trace::BlockKey& parent, std::span<const TokenId> tokens);

}  // namespace spanscope::cache
