// SPDX-License-Identifier: GPL-3.0-or-later
// What experiments say of themselves (engine/experiment/experiment.h), in the language of the window.
#pragma once

#include <QString>

namespace spanscope::ui {

/// A title, a sentence, or the name of a field, measure, axis or column.
QString experimentWord(const char* text);

}  // namespace spanscope::ui
