// SPDX-License-Identifier: GPL-3.0-or-later
// Computes block keys for events, traces and the disk. A key is a pure function of the content. The key is
// the same in every process and on every machine. The cache's own lookups do not use keys. Open this file to
// change how keys are computed.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/pool_state.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace spanscope::cache {

/// A function that makes a key from bytes. Code that makes keys takes the function as a parameter, so that
/// tests can make every key collide.
using KeyHash = trace::BlockKey (*)(std::span<const std::uint8_t> bytes);

/// Makes a key by XXH3-128, the default hash of the program.
trace::BlockKey xxh3Key(std::span<const std::uint8_t> bytes);

/// One entry of the list of segments that a segment can attend to. The entry names the target segment by key.
struct SeenKey {
  trace::BlockKey end;        ///< key of the target's last block, which may be partial
  std::int64_t distance = 0;  ///< start position of the attending segment − start position of the target, in
                              ///< tokens
  std::int32_t visibleBegin = 0;  ///< first visible position in the target segment
};

/// Key of the root of a chain. `fixedBase` has the meaning of ContentTrie::root().
trace::BlockKey rootKey(KeyHash hash, std::string_view fingerprint, std::string_view salt,
                        std::span<const SeenKey> seen, std::int64_t fixedBase = 0);

/// Key of a full or partial block with these tokens that follows `parent`.
trace::BlockKey blockKey(KeyHash hash, const trace::BlockKey& parent, std::span<const TokenId> tokens);

}  // namespace spanscope::cache
