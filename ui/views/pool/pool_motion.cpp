// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_motion.h"

#include <variant>

namespace spanscope::ui {

PoolMotion poolMotion(const ViewInput& input, const Moment& moment, const BlockHistory& history) {
  ViewInput earlier = input;
  earlier.position = moment.first;
  PoolMotion motion{.before = poolTable(earlier, history, PoolShade::State), .lost = {}};
  for (std::size_t i = moment.first; i < moment.last; ++i) {
    const trace::Payload& payload = input.trace->event(i).payload;
    if (const auto* removed = std::get_if<trace::BlockRemoved>(&payload)) {
      if (removed->reason != trace::RemovalReason::Grown) motion.lost.insert(removed->block);
    } else if (std::holds_alternative<trace::CacheCleared>(payload)) {
      for (std::size_t id = 0; id < motion.before.blocks.size(); ++id) {
        if (motion.before.blocks[id].state == PoolBlockState::Cached)
          motion.lost.insert(static_cast<BlockId>(id));
      }
    }
  }
  return motion;
}

}  // namespace spanscope::ui
