// SPDX-License-Identifier: GPL-3.0-or-later
// What would have made a hit of a block of a recorded request, from the pool as it was when it was looked up.
#pragma once

#include "engine/cache/what_if.h"
#include "engine/trace/pool_state.h"
#include "ui/session/view_input.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace spanscope::ui {

struct WhyChanges {
  std::vector<cache::WhatIf> changes;           ///< the least one first; none where the block was found
  std::map<BlockId, trace::BlockState> stored;  ///< the blocks that they name, as they were then
  std::int64_t blockCount = 0;                  ///< of the pool, the null block included
};

/// The last answer. What was before a lookup does not change, so that a live run costs nothing more for the
/// block that is looked at.
struct WhyChangesMemo {
  std::shared_ptr<const TraceStore> trace;  ///< kept, so that another one cannot have its address
  std::uint64_t lookup = 0;                 ///< sequence number
  WhyChanges changes;
};

/// None where the trace does not say enough. Asks the trace for other states: what its stateAt gave before is
/// not valid after it.
WhyChanges whyChanges(const ViewInput& input, const BlockRef& place, WhyChangesMemo* memo = nullptr);

}  // namespace spanscope::ui
