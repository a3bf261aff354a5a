// SPDX-License-Identifier: GPL-3.0-or-later
// Gives plots the look of the window, and paints plots on any painter.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/plot_library.h"

namespace spanscope::ui {

/// Gives the plot a hairline grid, small type, the colours of the theme, and no box around it.
void stylePlot(QCustomPlot& plot, const Theme& theme);

/// Paints the plot into a rectangle, with any painter, not only one of QCustomPlot.
void paintPlot(QCustomPlot& plot, QPainter& painter, const QRect& area);

}  // namespace spanscope::ui
