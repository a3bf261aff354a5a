// SPDX-License-Identifier: GPL-3.0-or-later
// What changes in the pool between two events.
#pragma once

#include "ui/session/moment.h"
#include "ui/views/pool/pool_model.h"

#include <set>

namespace spanscope::ui {

struct PoolMotion {
  PoolTable before;        ///< the pool when what is underway began
  std::set<BlockId> lost;  ///< blocks whose content is evicted or cleared
};

/// What is underway at this moment, which is one of the input's position. `history` must have followed the
/// input's trace.
PoolMotion poolMotion(const ViewInput& input, const Moment& moment, const BlockHistory& history);

}  // namespace spanscope::ui
