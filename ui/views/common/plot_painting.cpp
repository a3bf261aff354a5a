// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/plot_painting.h"

#include <QPicture>

namespace spanscope::ui {

void stylePlot(QCustomPlot& plot, const Theme& theme) {
  plot.setBackground(QBrush(theme.color(Role::Surface)));
  for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
    axis->setLabelFont(theme.smallFont());
    axis->setLabelColor(theme.color(Role::TextSecond));
    axis->setTickLabelFont(theme.monoFont());
    axis->setTickLabelColor(theme.color(Role::TextSecond));
    axis->setBasePen(QPen(theme.color(Role::Outline), 1));
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelPadding(6);
    axis->setLabelPadding(4);
    axis->grid()->setPen(QPen(theme.color(Role::Grid), 1));
    axis->grid()->setZeroLinePen(Qt::NoPen);
    axis->grid()->setSubGridVisible(false);
  }
  plot.xAxis->grid()->setVisible(false);
  plot.yAxis->setBasePen(Qt::NoPen);
}

void paintPlot(QCustomPlot& plot, QPainter& painter, const QRect& area) {
  // QCustomPlot paints only with its own painter class. A QPicture transfers the result as vectors, not as
  // pixels.
  QPicture picture;
  QCPPainter own(&picture);
  plot.toPainter(&own, area.width(), area.height());
  own.end();
  painter.save();
  painter.setClipRect(area, Qt::IntersectClip);
  painter.drawPicture(area.topLeft(), picture);
  painter.restore();
}

}  // namespace spanscope::ui
