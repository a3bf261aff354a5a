// SPDX-License-Identifier: GPL-3.0-or-later
// Every block of the pool, with its content, the requests that use it, and its age.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/block_history.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::ui {

enum class PoolBlockState : std::uint8_t {
  Null,      ///< block 0, which is never allocated
  Free,      ///< empty
  Cached,    ///< lookups can find the block; no request uses the block
  Held,      ///< lookups can find the block; requests use the block
  Computing  ///< a request uses the block; lookups cannot find the block yet
};

struct PoolBlock {
  PoolBlockState state = PoolBlockState::Free;
  std::int32_t references = 0;
  std::int32_t fill = 0;              ///< filled token slots
  BlockRole shown = BlockRole::Free;  ///< how the block serves the shown request; Free: the block does not
  bool loaded = false;                ///< the block was loaded from a tier for the shown request
  bool isOthers = false;              ///< only runs of other documents use the block.
  /// 0: newest … 1: oldest of the stored blocks. −1: nothing is stored, or the age is not known.
  float age = -1;
  bool operator==(const PoolBlock&) const = default;
};

struct PoolDetail {
  BlockId block = kNullBlock;  ///< kNullBlock: nothing is selected
  QString text;                ///< several lines of facts
  bool operator==(const PoolDetail&) const = default;
};

struct PoolTable {
  std::int32_t blockSize = 16;
  std::vector<PoolBlock> blocks;  ///< by block id; empty: the source reports no pool
  std::size_t others = 0;         ///< blocks in use that only runs of other documents use
  double oldest = 0;              ///< seconds since the oldest block was stored; 0: not PoolShade::Age
  bool anyLoaded = false;         ///< some block is `loaded`
  QString summary;
  bool operator==(const PoolTable&) const = default;
};

enum class PoolShade {
  State,
  Age,
};

/// The pool at the input's position. `history` must have followed the input's trace. Ages are only computed
/// for PoolShade::Age.
PoolTable poolTable(const ViewInput& input, const BlockHistory& history, PoolShade shade);

QString poolStateName(PoolBlockState state);

/// The facts of a block: owner, key, fill, references, age and place in the order of eviction.
PoolDetail poolDetail(const ViewInput& input, const BlockHistory& history, BlockId block);
/// A shorter form of these facts.
QString poolTip(const ViewInput& input, BlockId block);

/// The selection of a pool block: the physical block and its virtual block. The virtual block belongs to the
/// shown request if that request still uses the block. Otherwise the virtual block belongs to the request
/// that stored the block.
Selection selectionOfPhysical(const ViewInput& input, const BlockHistory& history, BlockId block);

QString poolCsv(const ViewInput& input);

}  // namespace spanscope::ui
