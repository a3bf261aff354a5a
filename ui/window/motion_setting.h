// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// "off", or "system" as where it is not set.
inline constexpr const char* kMotionSetting = "window/motion";

}  // namespace spanscope::ui
