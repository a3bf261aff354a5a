// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of charts as SVG.
#pragma once

namespace spanscope::experiment {

inline constexpr const char* kInk = "#1f2430";
inline constexpr const char* kQuiet = "#5b6472";
inline constexpr const char* kGrid = "#e3e6eb";

}  // namespace spanscope::experiment
