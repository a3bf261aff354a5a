// SPDX-License-Identifier: GPL-3.0-or-later
// All that a replay holds, to compare two of them.
#pragma once

#include "engine/trace/replay.h"

namespace spanscope::trace::test {

struct ReplayState {
  Progress progress;
  PoolState pool;
  bool operator==(const ReplayState&) const = default;
};

inline ReplayState stateOf(const Replay& replay) {
  return {replay.progress(), replay.pool().state()};
}

}  // namespace spanscope::trace::test
