// SPDX-License-Identifier: GPL-3.0-or-later
// Paints sentences, for pictures of views that show them in labels.
#pragma once

#include "ui/theme/theme.h"

class QPainter;
class QRect;
class QString;

namespace spanscope::ui {

/// Paints a text at the top of the area in the small font, wrapped, and takes its height and a space off the
/// area.
void paintTextAtTop(QPainter& painter, QRect& area, const QString& text, const Theme& theme, Role ink);

}  // namespace spanscope::ui
