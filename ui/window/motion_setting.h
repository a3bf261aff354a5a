// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// Values: "off", and "system", the default.
inline constexpr const char* kMotionSetting = "window/motion";

}  // namespace spanscope::ui
