// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_view.h"

#include "ui/editor/alignment.h"
#include "ui/editor/canvas_gestures.h"
#include "ui/editor/node_look.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QNativeGestureEvent>
#include <QPainter>
#include <QPinchGesture>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kLeastGridStep = 14;  // pixels of the screen
constexpr double kFitMargin = 16;
/// Larger than any document, so that the user can scroll freely.
constexpr double kFreeSpace = 1e6;
constexpr double kWheelZoom = 1.0015;  // factor for each unit of the wheel's angle

}  // namespace

CanvasView::CanvasView(CanvasScene& scene, QWidget* parent) : QGraphicsView(&scene, parent), m_scene(scene) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setViewportUpdateMode(QGraphicsView::MinimalViewportUpdate);
  setOptimizationFlags(QGraphicsView::DontSavePainterState | QGraphicsView::DontAdjustForAntialiasing);
  setTransformationAnchor(QGraphicsView::NoAnchor);
  setResizeAnchor(QGraphicsView::NoAnchor);
  setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
  setMouseTracking(true);
  viewport()->setMouseTracking(true);
  // drawBackground() covers the whole viewport, so scrolling can move the visible picture without repainting
  // it.
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  // The canvas around the view has the focus, so that one widget handles keys and gestures.
  setFocusPolicy(Qt::NoFocus);
  viewport()->setFocusPolicy(Qt::NoFocus);
  viewport()->grabGesture(Qt::PinchGesture);
  setAcceptDrops(false);
  viewport()->setAcceptDrops(false);
  setSceneRect(-kFreeSpace, -kFreeSpace, 2 * kFreeSpace, 2 * kFreeSpace);
  centerOn(0, 0);
}

void CanvasView::setZoom(double zoom, QPointF anchor) {
  const double next = std::clamp(zoom, kLeastZoom, kMostZoom);
  const QTransform before = viewportTransform().inverted();
  const QPointF kept = before.map(anchor);
  setTransform(QTransform::fromScale(next, next));
  const QPointF size(viewport()->width(), viewport()->height());
  centerOn(kept + (size / 2 - anchor) / next);
  Q_EMIT placeChanged();
}

void CanvasView::setZoom(double zoom) {
  setZoom(zoom, QPointF(viewport()->rect().center()));
}

double CanvasView::fittingZoom(const QRectF& rect) const {
  const double wide = (viewport()->width() - 2 * kFitMargin) / std::max(1.0, rect.width());
  const double high = (viewport()->height() - 2 * kFitMargin) / std::max(1.0, rect.height());
  return std::min({wide, high, m_mostFit});
}

void CanvasView::fit(const QRectF& rect, double least) {
  if (rect.isNull()) {
    setTransform(QTransform());
    centerOn(0, 0);
  } else {
    const double zoom = std::clamp(fittingZoom(rect), least, kMostZoom);
    setTransform(QTransform::fromScale(zoom, zoom));
    centerOn(rect.center());
  }
  Q_EMIT placeChanged();
}

double CanvasView::heightAt(double zoom) const {
  return std::max(1.0, height() - 2 * kFitMargin) / zoom;
}

QPointF CanvasView::centerPoint() const {
  return visibleRect().center();
}

QRectF CanvasView::visibleRect() const {
  return viewportTransform().inverted().mapRect(QRectF(viewport()->rect()));
}

void CanvasView::bringIntoSight(const QRectF& rect) {
  const QRectF seen = visibleRect();
  const double margin = kFitMargin / zoom();
  const QRectF wanted = rect.adjusted(-margin, -margin, margin, margin);
  if (seen.contains(wanted)) return;
  double dx = 0;
  double dy = 0;
  if (wanted.width() > seen.width()) {
    dx = wanted.center().x() - seen.center().x();
  } else {
    dx = std::min(0.0, wanted.left() - seen.left()) + std::max(0.0, wanted.right() - seen.right());
  }
  if (wanted.height() > seen.height()) {
    dy = wanted.center().y() - seen.center().y();
  } else {
    dy = std::min(0.0, wanted.top() - seen.top()) + std::max(0.0, wanted.bottom() - seen.bottom());
  }
  centerOn(seen.center() + QPointF(dx, dy));
  Q_EMIT placeChanged();
}

void CanvasView::panBy(QPoint pixels) {
  horizontalScrollBar()->setValue(horizontalScrollBar()->value() - pixels.x());
  verticalScrollBar()->setValue(verticalScrollBar()->value() - pixels.y());
}

void CanvasView::setPanCursor(bool on) {
  if (on) {
    viewport()->setCursor(Qt::OpenHandCursor);
  } else {
    viewport()->unsetCursor();
  }
}

void CanvasView::drawBackground(QPainter* painter, const QRectF& rect) {
  m_painted = transform();
  const CanvasStyle& style = m_scene.style();
  const double scale = zoomOf(*painter);
  // The rectangle is enlarged, because a pixel that is only partly covered would mix with an undefined
  // colour.
  painter->fillRect(rect.adjusted(-1 / scale, -1 / scale, 1 / scale, 1 / scale), style.canvas);
  if (scale < kShapeZoom) return;
  double step = kGridStep;
  while (step * scale < kLeastGridStep) step *= 2;
  const double dot = std::max(1.0, std::round(1.5 * std::min(1.0, scale))) / scale;
  painter->setRenderHint(QPainter::Antialiasing, false);
  QList<QRectF> dots;
  for (double y = std::floor(rect.top() / step) * step; y < rect.bottom(); y += step) {
    for (double x = std::floor(rect.left() / step) * step; x < rect.right(); x += step) {
      dots.append(QRectF(x, y, dot, dot));
    }
  }
  painter->setPen(Qt::NoPen);
  painter->setBrush(style.grid);
  painter->drawRects(dots);
}

void CanvasView::drawForeground(QPainter* painter, const QRectF& /*rect*/) {
  if (m_gestures != nullptr) m_gestures->paintOver(*painter, m_scene.style());
}

void CanvasView::wheelEvent(QWheelEvent* event) {
  Q_EMIT movedByUser();
  if (((event->modifiers() & Qt::ControlModifier) != 0) != m_wheelZooms) {
    setZoom(zoom() * std::pow(kWheelZoom, event->angleDelta().y()), event->position());
    event->accept();
    return;
  }
  QPoint pixels = event->pixelDelta();
  if (pixels.isNull()) pixels = event->angleDelta() / 2;
  if ((event->modifiers() & Qt::ShiftModifier) != 0 && pixels.x() == 0) pixels = QPoint(pixels.y(), 0);
  panBy(pixels);
  event->accept();
}

bool CanvasView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::NativeGesture) {
    auto* gesture = static_cast<QNativeGestureEvent*>(event);
    if (gesture->gestureType() == Qt::ZoomNativeGesture) {
      Q_EMIT movedByUser();
      setZoom(zoom() * (1 + gesture->value()), gesture->position());
      return true;
    }
  }
  if (event->type() == QEvent::Gesture) {
    auto* gestures = static_cast<QGestureEvent*>(event);
    if (auto* pinch = static_cast<QPinchGesture*>(gestures->gesture(Qt::PinchGesture))) {
      Q_EMIT movedByUser();
      const QPointF at = viewport()->mapFromGlobal(pinch->centerPoint());
      setZoom(zoom() * pinch->scaleFactor(), at);
      gestures->accept(pinch);
      return true;
    }
  }
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = m_scene.tipAt(mapToScene(help->pos()));
    if (tip.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), tip, viewport());
    return true;
  }
  if (event->type() == QEvent::Leave && m_gestures != nullptr) m_gestures->leave();
  return QGraphicsView::viewportEvent(event);
}

void CanvasView::mousePressEvent(QMouseEvent* event) {
  if (m_gestures != nullptr) m_gestures->press(*event);
  event->accept();
}

void CanvasView::mouseMoveEvent(QMouseEvent* event) {
  if (m_gestures != nullptr) m_gestures->move(*event);
  event->accept();
}

void CanvasView::mouseReleaseEvent(QMouseEvent* event) {
  if (m_gestures != nullptr) m_gestures->release(*event);
  event->accept();
}

void CanvasView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (m_gestures != nullptr) m_gestures->doubleClick(*event);
  event->accept();
}

void CanvasView::contextMenuEvent(QContextMenuEvent* event) {
  // The canvas around the view handles the event.
  event->ignore();
}

void CanvasView::scrollContentsBy(int dx, int dy) {
  // Qt repaints the whole viewport if a widget covers a part of it. So Qt only updates its scroll state here,
  // and movePicture() moves the visible picture in pieces.
  viewport()->setAttribute(Qt::WA_UpdatesDisabled, true);
  QGraphicsView::scrollContentsBy(dx, dy);
  viewport()->setAttribute(Qt::WA_UpdatesDisabled, false);
  movePicture(dx, dy);
  Q_EMIT placeChanged();
}

void CanvasView::movePicture(int dx, int dy) {
  const auto isWhole = [this](int pixels) {
    const double onScreen = pixels * devicePixelRatioF();
    return onScreen == std::round(onScreen);
  };
  if (transform() != m_painted || !isWhole(dx) || !isWhole(dy)) {
    viewport()->update();
    return;
  }
  // Pieces are as long as possible in the direction of the movement, because each is repainted at one end.
  const bool columns = dx == 0;
  const auto turned = [columns](const QRect& rect) {
    return columns ? QRect(rect.y(), rect.x(), rect.height(), rect.width()) : rect;
  };
  QRegion free(turned(viewport()->rect()));
  for (const QWidget* over : parentWidget()->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
    if (over == this || !over->isVisible()) continue;
    const QRect place = over->geometry().translated(-viewport()->mapTo(parentWidget(), QPoint()));
    free -= turned(place);
    viewport()->update(place);
  }
  for (const QRect& piece : free) viewport()->scroll(dx, dy, turned(piece));
}

void CanvasView::resizeEvent(QResizeEvent* event) {
  QGraphicsView::resizeEvent(event);
  Q_EMIT placeChanged();
}

}  // namespace spanscope::ui
