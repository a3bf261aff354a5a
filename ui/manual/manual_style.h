// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

class QTextDocument;

namespace spanscope::ui {

/// Gives a page as Qt read it from Markdown the fonts, colours and distances of the theme, and each heading
/// its anchor. Once a page. `larger`: pixels that every font is larger than usual.
void styleManual(QTextDocument& page, const Theme& theme, int larger = 0);

}  // namespace spanscope::ui
