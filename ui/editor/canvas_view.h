// SPDX-License-Identifier: GPL-3.0-or-later
// The scene on the screen: zoom, scrolling, the grid. What the mouse does to nodes is in canvas_gestures.h.
#pragma once

#include "ui/editor/canvas_scene.h"

#include <QDragEnterEvent>
#include <QDragMoveEvent>
#include <QDropEvent>
#include <QGraphicsView>

namespace spanscope::ui {

class CanvasGestures;

inline constexpr double kLeastZoom = 0.05;
inline constexpr double kMostZoom = 4;
inline constexpr double kZoomStep = 1.25;
/// The least zoom at which a canvas shows itself without being asked to: a card has its title at least.
inline constexpr double kLeastFitZoom = 0.53;

class CanvasView : public QGraphicsView {
  Q_OBJECT
 public:
  CanvasView(CanvasScene& scene, QWidget* parent);

  /// Takes mouse events before the view's own scrolling.
  void setGestures(CanvasGestures* gestures) { m_gestures = gestures; }

  double zoom() const { return transform().m11(); }
  /// The scene point below `anchor` (pixels of the viewport) stays there.
  void setZoom(double zoom, QPointF anchor);
  void setZoom(double zoom);
  /// Shows the rectangle whole, at most at zoom 1 and at least at `least`: then its middle.
  void fit(const QRectF& rect, double least = kLeastZoom);
  /// Height in scene pixels that there is room for where texts keep their size.
  double readableHeight() const;
  QPointF centerPoint() const;
  QRectF visibleRect() const;
  /// Moves the view as little as is needed to show the rectangle.
  void bringIntoSight(const QRectF& rect);
  void panBy(QPoint pixels);
  void setPanCursor(bool on);

 Q_SIGNALS:
  void placeChanged();
  void movedByPerson();  ///< with the wheel or the fingers

 protected:
  void drawBackground(QPainter* painter, const QRectF& rect) override;
  void drawForeground(QPainter* painter, const QRectF& rect) override;
  void wheelEvent(QWheelEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override { event->ignore(); }
  void dragMoveEvent(QDragMoveEvent* event) override { event->ignore(); }
  void dropEvent(QDropEvent* event) override { event->ignore(); }

 private:
  /// Shows by so many pixels elsewhere what stays in sight, and has the rest painted.
  void movePicture(int dx, int dy);

  CanvasScene& m_scene;
  CanvasGestures* m_gestures = nullptr;
  QTransform m_painted;  ///< of what is on the screen
};

}  // namespace spanscope::ui
