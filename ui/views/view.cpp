// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/view.h"

#include <QPainter>

#include <algorithm>

namespace spanscope::ui {

void View::paintTo(QPainter& painter, const QSize& size) {
  const double scale =
      std::min(double(size.width()) / std::max(1, width()), double(size.height()) / std::max(1, height()));
  painter.save();
  painter.scale(scale, scale);
  render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
  painter.restore();
}

namespace {
const QString kCompare = QStringLiteral("run.compare:");
}

QString compareRuns(RunId left, RunId right) {
  return kCompare + QStringLiteral("%1,%2").arg(left).arg(right);
}

std::optional<std::pair<RunId, RunId>> comparedRuns(const QString& command) {
  if (!command.startsWith(kCompare)) return std::nullopt;
  const QString runs = command.mid(kCompare.size());
  return std::pair<RunId, RunId>(runs.section(QLatin1Char(','), 0, 0).toUInt(),
                                 runs.section(QLatin1Char(','), 1).toUInt());
}

}  // namespace spanscope::ui
