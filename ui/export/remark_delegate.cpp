// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/remark_delegate.h"

#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QPainter>
#include <QWidget>

#include <algorithm>

namespace spanscope::ui {

using exports::Effect;

namespace {

constexpr int kTextLeft = 92;  ///< behind shape and word
constexpr int kPadding = 5;

Role roleOf(Effect effect) {
  switch (effect) {
    case Effect::Refused:
      return Role::Error;
    case Effect::Differs:
      return Role::ComputedInk;
    case Effect::Note:
      return Role::TextThird;
  }
  return Role::TextThird;
}

/// An octagon-like square for refused, a triangle for differs, a ring for a note.
void paintShape(QPainter& painter, const QPointF& middle, Effect effect, const QColor& ink) {
  painter.setPen(QPen(ink, 1.5));
  painter.setBrush(Qt::NoBrush);
  switch (effect) {
    case Effect::Refused:
      painter.setBrush(ink);
      painter.drawRoundedRect(QRectF(middle.x() - 4, middle.y() - 4, 8, 8), 1, 1);
      break;
    case Effect::Differs:
      painter.drawPolygon(
          QPolygonF({middle + QPointF(0, -4.5), middle + QPointF(5, 4), middle + QPointF(-5, 4)}));
      break;
    case Effect::Note:
      painter.drawEllipse(middle, 4, 4);
      break;
  }
}

}  // namespace

QString effectWord(Effect effect) {
  switch (effect) {
    case Effect::Refused:
      return tr("Refused");
    case Effect::Differs:
      return tr("Differs");
    case Effect::Note:
      return tr("Note");
  }
  return {};
}

QSize RemarkDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const int available = option.widget == nullptr ? 600 : option.widget->contentsRect().width() - 20;
  const QRect text = QFontMetrics(m_theme.interfaceFont())
                         .boundingRect(QRect(0, 0, std::max(160, available - kTextLeft - 3 * kSpace), 10000),
                                       Qt::TextWordWrap, index.data(Qt::DisplayRole).toString());
  return {available, text.height() + 2 * kPadding};
}

void RemarkDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  const auto effect = static_cast<Effect>(index.data(EffectRole).toInt());
  const QColor ink = m_theme.color(roleOf(effect));
  const QRect row = option.rect;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  if (option.state.testFlag(QStyle::State_Selected) && option.state.testFlag(QStyle::State_HasFocus)) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_theme.color(Role::AccentFill));
    painter->drawRoundedRect(row.adjusted(2, 1, -2, -1), kSpace, kSpace);
  }
  const int lineHeight = QFontMetrics(m_theme.interfaceFont()).height();
  paintShape(*painter, QPointF(row.left() + 16, row.top() + kPadding + lineHeight / 2.0), effect, ink);
  painter->setFont(m_theme.titleFont());
  painter->setPen(ink);
  painter->drawText(QRect(row.left() + 28, row.top() + kPadding, kTextLeft - 28, lineHeight),
                    Qt::AlignLeft | Qt::AlignVCenter, effectWord(effect));
  painter->setFont(m_theme.interfaceFont());
  painter->setPen(m_theme.color(effect == Effect::Note ? Role::TextSecond : Role::Text));
  painter->drawText(row.adjusted(kTextLeft, kPadding, -3 * kSpace, 0), Qt::TextWordWrap,
                    index.data(Qt::DisplayRole).toString());
  painter->restore();
}

}  // namespace spanscope::ui
