// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the sessions of a twin (engine/twin) from those of an engine or a server: nothing in them was
// measured.
#pragma once

#include <string_view>

namespace spanscope::trace {

/// The end of SessionStarted::program in the trace of a twin.
inline constexpr std::string_view kTwinMark = " (twin)";

constexpr bool isForetold(std::string_view program) {
  return program.ends_with(kTwinMark);
}

}  // namespace spanscope::trace
