// SPDX-License-Identifier: GPL-3.0-or-later
// Names contents towards the outside. A key is a pure function of the content: it is the same in every
// process and on every machine. Inside the cache, no lookup uses keys.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/pool_state.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace spanscope::cache {

/// A function that makes a key from bytes. Whatever makes keys takes it as a parameter, so that tests can
/// make every key collide.
using KeyHash = trace::BlockKey (*)(std::span<const std::uint8_t> bytes);

/// Makes keys by XXH3-128, the hash of the program.
trace::BlockKey xxh3Key(std::span<const std::uint8_t> bytes);

/// One entry of the list of what a segment sees; it names the seen segment by key.
struct SeenKey {
  trace::BlockKey end;            ///< key of the seen segment's last block or tail
  std::int64_t distance = 0;      ///< base of the seeing segment − base of the seen segment, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token
};

/// Key of the root of a chain. `fixedBase`: as for ContentTrie::root().
trace::BlockKey rootKey(KeyHash hash, std::string_view fingerprint, std::string_view salt,
                        std::span<const SeenKey> seen, std::int64_t fixedBase = 0);

/// Key of a block or tail that holds these tokens and follows `parent`.
trace::BlockKey blockKey(KeyHash hash, const trace::BlockKey& parent, std::span<const TokenId> tokens);

}  // namespace spanscope::cache
