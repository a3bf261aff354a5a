// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/elided_label.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

namespace spanscope::ui {

namespace {

constexpr qsizetype kFewestShown = 3;  ///< with the ellipsis

}  // namespace

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::minimumSizeHint() const {
  return {0, QLabel::minimumSizeHint().height()};
}

QString ElidedLabel::shown() const {
  const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width());
  return shown != text() && shown.size() <= kFewestShown ? QString() : shown;
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || shown() == text()) return QLabel::event(event);
  QStringList lines{text()};
  if (!toolTip().isEmpty()) lines += toolTip();
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

void ElidedLabel::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment()), palette(), isEnabled(),
                        shown(), foregroundRole());
}

}  // namespace spanscope::ui
