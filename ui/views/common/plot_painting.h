// SPDX-License-Identifier: GPL-3.0-or-later
// Plots in the window's look, and plots on any painter.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/plot_library.h"

namespace spanscope::ui {

/// Hairline grid, small type, colours of the theme, no box around.
void stylePlot(QCustomPlot& plot, const Theme& theme);

/// Paints the plot into a rectangle of a painter that need not be QCustomPlot's own.
void paintPlot(QCustomPlot& plot, QPainter& painter, const QRect& area);

}  // namespace spanscope::ui
