// SPDX-License-Identifier: GPL-3.0-or-later
// Translates the texts by which experiments describe themselves (engine/experiment/experiment.h).
#pragma once

#include <QString>

namespace spanscope::ui {

/// Translates a title, a sentence, or the name of a field, measure, axis or column.
QString experimentWord(const char* text);

}  // namespace spanscope::ui
