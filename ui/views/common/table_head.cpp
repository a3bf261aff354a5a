// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/table_head.h"

#include <QStyle>
#include <QStyleOptionHeader>

#include <algorithm>

namespace spanscope::ui {

TableHead::TableHead(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
  setTextElideMode(Qt::ElideRight);
  setSectionsClickable(true);
  setHighlightSections(false);
  setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void TableHead::initStyleOptionForIndex(QStyleOptionHeader* option, int section) const {
  QHeaderView::initStyleOptionForIndex(option, section);
  // The option gets its place later.
  QStyleOptionHeaderV2 placed;
  if (const auto* own = qstyleoption_cast<const QStyleOptionHeaderV2*>(option)) placed = *own;
  placed.rect = QRect(0, 0, sectionSize(section), viewport()->height());
  const int room = style()->subElementRect(QStyle::SE_HeaderLabel, &placed, this).width();
  option->text = option->fontMetrics.elidedText(option->text, textElideMode(), std::max(0, room));
}

}  // namespace spanscope::ui
