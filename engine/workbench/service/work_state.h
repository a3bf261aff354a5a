// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::workbench {

/// How far a work is that was submitted to a WorkService.
enum class WorkState : std::uint8_t {
  Waiting,
  Working,
  Finished,
  Stopped,  ///< whether it had begun or not
  Failed
};

constexpr bool hasEnded(WorkState state) {
  return state != WorkState::Waiting && state != WorkState::Working;
}

}  // namespace spanscope::workbench
