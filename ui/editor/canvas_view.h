// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the scene on the screen, with zoom, scrolling and the grid. canvas_gestures.h has the gestures on
// nodes.
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
/// The min zoom that the canvas chooses to show cards. At this zoom, a card still shows its title.
inline constexpr double kLeastFitZoom = 0.52;
/// The min zoom that the canvas chooses to show the whole query. At this zoom, a card is a sign of its
/// operator.
inline constexpr double kLeastWholeZoom = 0.15;

class CanvasView : public QGraphicsView {
  Q_OBJECT
 public:
  CanvasView(CanvasScene& scene, QWidget* parent);

  /// Sets the object that gets mouse events first, before the view scrolls.
  void setGestures(CanvasGestures* gestures) { m_gestures = gestures; }

  double zoom() const { return transform().m11(); }
  /// Sets the zoom. The scene point at `anchor` (pixels of the viewport) does not move.
  void setZoom(double zoom, QPointF anchor);
  void setZoom(double zoom);
  /// Returns the max zoom that shows the whole rectangle, but at most setMostFit().
  double fittingZoom(const QRectF& rect) const;
  /// Shows the whole rectangle, at most at setMostFit(). If the whole rectangle needs a zoom below `least`,
  /// shows the middle of the rectangle at `least`.
  void fit(const QRectF& rect, double least = kLeastZoom);
  /// Sets the max zoom of fit(), which a small query gets. Default: 1.
  void setMostFit(double zoom) { m_mostFit = zoom; }
  /// Returns the height that the view can show at this zoom, in scene pixels.
  double heightAt(double zoom) const;
  QPointF centerPoint() const;
  QRectF visibleRect() const;
  /// Moves the view by the min distance that shows the rectangle.
  void bringIntoSight(const QRectF& rect);
  void panBy(QPoint pixels);
  void setPanCursor(bool on);
  /// If `on`, the wheel zooms, and scrolls with Ctrl. Otherwise the wheel scrolls, and zooms with Ctrl.
  void setWheelZooms(bool on) { m_wheelZooms = on; }

 Q_SIGNALS:
  void placeChanged();
  void movedByUser();  ///< the user moved the view with the wheel or the fingers

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
  /// Shifts the picture by (dx, dy) pixels, and repaints only the part that was not visible before.
  void movePicture(int dx, int dy);

  CanvasScene& m_scene;
  CanvasGestures* m_gestures = nullptr;
  bool m_wheelZooms = false;
  double m_mostFit = 1;
  QTransform m_painted;  ///< transform of the picture on the screen
};

}  // namespace spanscope::ui
