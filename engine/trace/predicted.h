// SPDX-License-Identifier: GPL-3.0-or-later
// Distinguishes sessions of a cache simulator (engine/simulator) from sessions of an engine or a server. A
// simulated session has no measurements. Open this file to change the mark of simulated sessions.
#pragma once

#include <string_view>

namespace spanscope::trace {

/// The end of SessionStarted::program in the trace of a cache simulator.
inline constexpr std::string_view kSimulatorMark = " (twin)";

constexpr bool isPredicted(std::string_view program) {
  return program.ends_with(kSimulatorMark);
}

}  // namespace spanscope::trace
