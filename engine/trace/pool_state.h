// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the state of the KV pool in traces. Open this file to add a property of a block.
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::trace {

/// 128-bit block key, H(parent, tokens, extra).
struct BlockKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const BlockKey&) const = default;
};

/// One physical block.
struct BlockState {
  std::int32_t references = 0;
  bool cached = false;            ///< a lookup can find the block
  BlockKey key;                   ///< zero unless cached
  BlockKey parent;                ///< key of the chain's previous block or root; zero unless cached
  std::int32_t fill = 0;          ///< token slots that are cached; 0 unless cached
  std::int64_t base = 0;          ///< start position of the segment at the time of storing
  std::int32_t virtualIndex = 0;  ///< index of the block in the chain of this segment
  RunId storedByRun = 0;
  RequestId storedByRequest = 0;
  NodePath storedByNode;
  std::vector<TokenId> tokens;  ///< the cached tokens; size: `fill`
  bool operator==(const BlockState&) const = default;
};

/// The state of the pool: a dump of the engine, or rebuilt from events.
struct PoolState {
  std::int32_t blockSize = 16;
  std::vector<BlockState> blocks;  ///< by block id; entry 0 is the null block
  std::vector<BlockId> freeOrder;  ///< unreferenced blocks in the order in which they will be allocated
  bool operator==(const PoolState&) const = default;
};

}  // namespace spanscope::trace
