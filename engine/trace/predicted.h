// SPDX-License-Identifier: GPL-3.0-or-later
// Distinguishes sessions of a cache simulator (engine/simulator) from sessions of an engine or a server. A
// simulated session has no measurements. Open this file to change the mark of simulated sessions.
#pragma once

#include <string_view>

namespace spanscope::trace {

/// The end of SessionStarted::program in the trace of a cache simulator.
inline constexpr std::string_view kSimulatorMark = " (cache simulator)";
/// The same end in older traces.
inline constexpr std::string_view kOldSimulatorMark = " (twin)";

constexpr bool isPredicted(std::string_view program) {
  return program.ends_with(kSimulatorMark) || program.ends_with(kOldSimulatorMark);
}

}  // namespace spanscope::trace
