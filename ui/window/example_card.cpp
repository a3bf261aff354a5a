// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/example_card.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>

namespace spanscope::ui {

ExampleCard::ExampleCard(const Example& example, QWidget* parent)
    : QAbstractButton(parent), m_example(example) {
  setText(example.title);
  setObjectName(example.file);
  setAccessibleName(tr("Example: %1").arg(example.title));
  setAccessibleDescription(example.description);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_Hover);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ExampleCard::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void ExampleCard::keyPressEvent(QKeyEvent* event) {
  // Return works like Space, because a card opens something.
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    click();
    return;
  }
  QAbstractButton::keyPressEvent(event);
}

void ExampleCard::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool isLit = underMouse() || hasFocus();
  QRectF card = QRectF(rect()).adjusted(1, 1, -1, -1);
  painter.setBrush(m_theme.color(isDown() ? Role::AccentFill : Role::Surface));
  painter.setPen(QPen(m_theme.color(isLit ? Role::Accent : Role::Line), hasFocus() ? 2 : 1));
  painter.drawRoundedRect(card, kDockRadius, kDockRadius);

  const QRect inner = rect().adjusted(3 * kSpace, 3 * kSpace, -3 * kSpace, -2 * kSpace);
  QFont title = m_theme.interfaceFont();
  title.setWeight(QFont::DemiBold);
  painter.setFont(title);
  painter.setPen(m_theme.color(Role::Text));
  const int titleHeight = QFontMetrics(title).height();
  painter.drawText(QRect(inner.left(), inner.top(), inner.width(), titleHeight),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(title).elidedText(m_example.title, Qt::ElideRight, inner.width()));
  QFont text = m_theme.titleFont();
  text.setWeight(QFont::Normal);
  painter.setFont(text);
  painter.setPen(m_theme.color(Role::TextSecond));
  painter.drawText(inner.adjusted(0, titleHeight + kSpace, 0, 0),
                   Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, m_example.description);
}

}  // namespace spanscope::ui
