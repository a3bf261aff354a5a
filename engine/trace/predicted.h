// SPDX-License-Identifier: GPL-3.0-or-later
// Distinguishes sessions of a cache simulator (engine/simulator) and of a watched server
// (engine/remote/watch) from sessions of an engine. A simulated session has no measurements. Open this file
// to change the mark of such sessions.
#pragma once

#include <string_view>

namespace spanscope::trace {

/// The end of SessionStarted::program in the trace of a cache simulator.
inline constexpr std::string_view kSimulatorMark = " (cache simulator)";
/// The same end in older traces.
inline constexpr std::string_view kOldSimulatorMark = " (twin)";

/// The end of SessionStarted::program in the trace of a watched server.
inline constexpr std::string_view kWatchedMark = " (watched)";

constexpr bool isWatched(std::string_view program) {
  return program.ends_with(kWatchedMark);
}

constexpr bool isPredicted(std::string_view program) {
  return program.ends_with(kSimulatorMark) || program.ends_with(kOldSimulatorMark);
}

}  // namespace spanscope::trace
