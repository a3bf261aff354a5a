// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_parts.h"

#include "ui/window/focus_keeper.h"

#include <QTimer>

#include <algorithm>

namespace spanscope::ui {

PageArea::PageArea(QWidget* welcome, QWidget* documents)
    : QSplitter(Qt::Horizontal), m_pages(new QStackedWidget) {
  m_pages->addWidget(welcome);
  m_pages->addWidget(documents);
  addWidget(m_pages);
}

void PageArea::addPanel(QWidget& panel) {
  keepFocusIn(panel);
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

namespace {

constexpr int kLaidOut = 200;  // milliseconds after which the docks of a new window have their sizes

}  // namespace

void CanvasPlaces::show(std::uint32_t tab, DocumentModel* model) {
  note();
  m_shown = tab;
  m_canvas.setModel(model);
  if (const auto place = m_places.find(m_shown); place != m_places.end()) {
    m_fitWanted = false;
    m_canvas.setPlace(place->second);
  } else if (m_shown != 0) {
    fitLater(0);
  }
}

void CanvasPlaces::note() {
  // Before the query is fitted, the canvas has no place to keep.
  if (m_shown == 0 || m_fitWanted) return;
  // A canvas that shows the whole query is fitted again later, because its size may change.
  const CanvasPlace place = m_canvas.place();
  if (place.isFitted)
    m_places.erase(m_shown);
  else
    m_places[m_shown] = place;
}

void CanvasPlaces::forget(std::uint32_t tab) {
  m_places.erase(tab);
  if (m_shown == tab) m_shown = 0;
}

const CanvasPlace* CanvasPlaces::find(std::uint32_t tab) const {
  const auto place = m_places.find(tab);
  return place == m_places.end() ? nullptr : &place->second;
}

void CanvasPlaces::put(const CanvasPlace& place) {
  m_fitWanted = false;
  m_canvas.setPlace(place);
  m_places[m_shown] = place;
}

void CanvasPlaces::putAgain() {
  QTimer::singleShot(kLaidOut, this, [this, shown = m_shown] {
    const CanvasPlace* place = find(shown);
    if (shown == m_shown && place != nullptr) m_canvas.setPlace(*place);
  });
}

void CanvasPlaces::fitLater(int milliseconds) {
  m_fitWanted = true;
  QTimer::singleShot(milliseconds, this, &CanvasPlaces::fit);
}

void CanvasPlaces::fit() {
  if (!m_fitWanted || !m_canvas.isVisible()) return;
  m_fitWanted = false;
  // The command view.fit-all would show the whole query at its second call, too small to read.
  m_canvas.fit();
}

}  // namespace spanscope::ui
