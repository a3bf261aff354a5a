// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/palette_delegate.h"

#include "ui/commands/key_caps.h"
#include "ui/commands/palette_model.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QTextLayout>

namespace spanscope::ui {
namespace {

/// The name in one line, the matched letters heavier and underlined (not told by colour alone).
void drawName(QPainter& painter, const QPointF& at, const QString& name, const QList<int>& matched,
              const QFont& font, const QColor& ink, const QColor& mark) {
  QTextLayout layout(name, font);
  QList<QTextLayout::FormatRange> ranges;
  for (const int place : matched) {
    QTextLayout::FormatRange range;
    range.start = place;
    range.length = 1;
    range.format.setFontWeight(QFont::DemiBold);
    range.format.setForeground(mark);
    range.format.setFontUnderline(true);
    ranges.append(range);
  }
  layout.setFormats(ranges);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  if (line.isValid()) line.setLineWidth(10000);
  layout.endLayout();
  painter.setPen(ink);
  layout.draw(&painter, at);
}

}  // namespace

QSize PaletteDelegate::sizeHint(const QStyleOptionViewItem& /*option*/, const QModelIndex& /*index*/) const {
  return {400, kPaletteRowHeight};
}

void PaletteDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const bool isEnabled = index.flags().testFlag(Qt::ItemIsEnabled);
  const bool isCurrent = option.state.testFlag(QStyle::State_Selected);
  const QRectF row = QRectF(option.rect).adjusted(kSpace, 0, -kSpace, 0);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  if (isCurrent) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_theme.color(Role::AccentFill));
    painter->drawRoundedRect(row, kSpace, kSpace);
    painter->setBrush(m_theme.color(Role::Accent));
    painter->drawRoundedRect(QRectF(row.left(), row.top() + 8, 3, row.height() - 16), 1.5, 1.5);
  }

  const QColor ink = m_theme.color(isEnabled ? Role::Text : Role::TextThird);
  double right = row.right() - 2 * kSpace;
  const QStringList keys = index.data(PaletteModel::KeysRole).toStringList();
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    right -= keyCapWidth(*key, m_theme);
    paintKeyCap(*painter, right, row.center().y(), *key, m_theme);
    right -= kSpace;
  }
  right -= kSpace;

  const double left = row.left() + 3 * kSpace;
  const QFontMetricsF nameMetrics(m_theme.interfaceFont());
  const QString name =
      nameMetrics.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, right - left);
  drawName(*painter, QPointF(left, row.top() + kSpace), name,
           index.data(PaletteModel::MatchedRole).value<QList<int>>(), m_theme.interfaceFont(), ink,
           m_theme.color(Role::Accent));

  painter->setFont(m_theme.smallFont());
  const QFontMetricsF small(m_theme.smallFont());
  // The category follows the name, where it reads as what it belongs to.
  const QString category = index.data(PaletteModel::CategoryRole).toString();
  const double nameWidth = nameMetrics.horizontalAdvance(name) + 12;
  if (left + nameWidth + small.horizontalAdvance(category) < right) {
    painter->setPen(m_theme.color(Role::TextThird));
    painter->drawText(QRectF(left + nameWidth, row.top() + kSpace, right - left - nameWidth, 18),
                      Qt::AlignLeft | Qt::AlignVCenter,
                      isEnabled ? category : tr("%1 · not now").arg(category));
  }
  painter->setPen(m_theme.color(isEnabled ? Role::TextSecond : Role::TextThird));
  painter->drawText(
      QRectF(left, row.bottom() - 21, right - left, 17), Qt::AlignLeft | Qt::AlignVCenter,
      small.elidedText(index.data(PaletteModel::HelpRole).toString(), Qt::ElideRight, right - left));
  painter->restore();
}

}  // namespace spanscope::ui
