// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

class QTextDocument;

namespace spanscope::ui {

/// Gives a page that Qt has read from Markdown the fonts, colours and distances of the theme, and gives each
/// heading its anchor. Call it once for each page. `larger` makes every font that many pixels larger.
void styleManual(QTextDocument& page, const Theme& theme, int larger = 0);

}  // namespace spanscope::ui
