// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/page_area.h"

#include <algorithm>

namespace spanscope::ui {

PageArea::PageArea(QWidget* welcome, QWidget* documents)
    : QSplitter(Qt::Horizontal), m_pages(new QStackedWidget) {
  m_pages->addWidget(welcome);
  m_pages->addWidget(documents);
  addWidget(m_pages);
}

void PageArea::addPanel(QWidget& panel) {
  insertWidget(0, &panel);
  setStretchFactor(0, 0);
  setStretchFactor(indexOf(m_pages), 1);
  setCollapsible(0, false);
  setCollapsible(indexOf(m_pages), false);
}

void PageArea::giveWidth(QWidget& panel, int wide) {
  QList<int> sizes;
  for (int i = 0; i < count(); ++i) {
    const QWidget* one = widget(i);
    sizes.append(one == &panel ? wide : one == m_pages ? std::max(1, window()->width() - wide) : 0);
  }
  setSizes(sizes);
}

}  // namespace spanscope::ui
