// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/elided_text.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QToolTip>

#include <algorithm>
#include <array>

namespace spanscope::ui {

namespace {

constexpr int kSides = 2;  // pixels that styles leave beside the text

}  // namespace

QString ElidedCombo::shown() const {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  const QRect field =
      style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
  const QString text = currentIndex() < 0 ? placeholderText() : currentText();
  return fontMetrics().elidedText(text, Qt::ElideRight, field.width() - kSides);
}

bool ElidedCombo::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || currentIndex() < 0 || shown() == currentText())
    return QComboBox::event(event);
  QStringList lines{currentText()};
  if (!toolTip().isEmpty() && toolTip() != currentText()) lines += toolTip();
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

void ElidedCombo::paintEvent(QPaintEvent* /*event*/) {
  QStylePainter painter(this);
  QStyleOptionComboBox option;
  initStyleOption(&option);
  option.currentText = shown();
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

namespace {

constexpr qsizetype kFewestShown = 7;  ///< fewer characters of a cut text, ellipsis included, mean nothing
constexpr std::array<QStringView, 2> kPartSeparators{u" · ", u"     "};

}  // namespace

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::minimumSizeHint() const {
  return {0, QLabel::minimumSizeHint().height()};
}

QString ElidedLabel::shown() const {
  const int room = contentsRect().width();
  QString whole = text();
  const bool hasParts = std::ranges::any_of(
      kPartSeparators, [&whole](QStringView separator) { return whole.contains(separator); });
  if (!hasParts) {
    const QString shown = fontMetrics().elidedText(whole, Qt::ElideRight, room);
    return shown != whole && shown.size() < kFewestShown ? QString() : shown;
  }
  while (!whole.isEmpty() && fontMetrics().horizontalAdvance(whole) > room) {
    qsizetype end = -1;
    for (const QStringView separator : kPartSeparators) end = std::max(end, whole.lastIndexOf(separator));
    whole.truncate(std::max<qsizetype>(end, 0));
    while (whole.endsWith(QLatin1Char(' '))) whole.chop(1);
  }
  return whole;
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
