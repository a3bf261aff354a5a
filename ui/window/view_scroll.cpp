// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_scroll.h"

#include <QEvent>
#include <QScrollBar>

namespace spanscope::ui {
namespace {

constexpr QSize kLeast(120, 64);

QSize leastOf(const QWidget& view) {
  return view.minimumSizeHint().expandedTo(view.minimumSize());
}

}  // namespace

ViewScroll::ViewScroll(QWidget* view, QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  viewport()->setAutoFillBackground(false);
  setWidget(view);
  view->setAutoFillBackground(false);
  view->installEventFilter(this);
  setFocusProxy(view);
}

QSize ViewScroll::minimumSizeHint() const {
  return leastOf(*widget()).boundedTo(kLeast);
}

QSize ViewScroll::sizeHint() const {
  return widget()->sizeHint();
}

bool ViewScroll::eventFilter(QObject* watched, QEvent* event) {
  // To try a width makes a view ask for a layout. If nothing else has changed, it is not tried again.
  if (watched == widget() && event->type() == QEvent::LayoutRequest &&
      (leastOf(*widget()) != m_least || maximumViewportSize() != m_room)) {
    fit();
    updateGeometry();
  }
  return QScrollArea::eventFilter(watched, event);
}

void ViewScroll::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the size of the view.
void ViewScroll::fit() {
  // QScrollArea's own way would give a view with wrapped texts its preferred height, although plots in it can
  // be lower.
  // What a view needs may depend on its width, so each width is tried.
  const auto leastAt = [this](int width) {
    if (widget()->width() < width || leastOf(*widget()).width() <= width)
      widget()->resize(width, widget()->height());
    return leastOf(*widget());
  };
  QSize room = maximumViewportSize();
  QSize least = leastAt(room.width());
  const bool isHigh = least.height() > room.height();
  if (isHigh) {
    room.rwidth() -= verticalScrollBar()->sizeHint().width();
    least = leastAt(room.width());
  }
  if (least.width() > room.width()) {
    room.rheight() -= horizontalScrollBar()->sizeHint().height();
    if (!isHigh && least.height() > room.height()) room.rwidth() -= verticalScrollBar()->sizeHint().width();
  }
  widget()->resize(room.expandedTo(least));
  m_least = leastOf(*widget());
  m_room = maximumViewportSize();
}

}  // namespace spanscope::ui
