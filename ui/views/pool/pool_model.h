// SPDX-License-Identifier: GPL-3.0-or-later
// Every block of the pool: what it holds, who holds it, how old it is.
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
  Null,      ///< block 0, never handed out
  Free,      ///< holds nothing
  Cached,    ///< can be found, nobody holds it
  Held,      ///< can be found, and requests hold it
  Computing  ///< held, but cannot be found yet
};

struct PoolBlock {
  PoolBlockState state = PoolBlockState::Free;
  std::int32_t references = 0;
  std::int32_t fill = 0;              ///< token slots
  BlockRole shown = BlockRole::Free;  ///< how it serves the shown request; Free: it does not
  bool loaded = false;                ///< it came from a tier for the shown request
  float age = -1;  ///< 0 the newest … 1 the oldest stored one; −1: nothing stored, or not known
  bool operator==(const PoolBlock&) const = default;
};

struct PoolDetail {
  BlockId block = kNullBlock;  ///< null: nothing is selected
  QString text;                ///< lines
  bool operator==(const PoolDetail&) const = default;
};

struct PoolTable {
  std::int32_t blockSize = 16;
  std::vector<PoolBlock> blocks;  ///< by block id; empty: the source reports no pool
  std::size_t free = 0;
  std::size_t cached = 0;  ///< that nobody holds
  std::size_t held = 0;
  double oldest = 0;       ///< seconds since the oldest stored block was stored; 0: ages were not asked for
  bool anyLoaded = false;  ///< of the blocks
  QString summary;
  bool operator==(const PoolTable&) const = default;
};

enum class PoolShade {
  State,
  Age,
};

/// `history` has followed the input's trace. Ages are computed for PoolShade::Age only.
PoolTable poolTable(const ViewInput& input, const BlockHistory& history, PoolShade shade);

QString poolStateName(PoolBlockState state);

/// Owner, key, fill, references, age and place in the order of eviction.
PoolDetail poolDetail(const ViewInput& input, const BlockHistory& history, BlockId block);
/// The same in short.
QString poolTip(const ViewInput& input, BlockId block);

/// What selecting a block of the pool selects: the block itself, and where the shown request, else the one
/// that stored it, uses it still.
Selection selectionOfPhysical(const ViewInput& input, const BlockHistory& history, BlockId block);

QString poolCsv(const ViewInput& input);

}  // namespace spanscope::ui
