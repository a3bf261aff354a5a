// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of blocks that were not found (engine/trace/miss_reasons.h), in the language of the window.
#pragma once

#include <QString>

namespace spanscope::ui {

/// One of the texts of a reason; of an empty one nothing.
QString missWord(const char* text);

}  // namespace spanscope::ui
