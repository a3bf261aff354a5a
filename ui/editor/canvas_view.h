// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the scene on the screen: zoom, scrolling, the grid. canvas_gestures.h holds what the mouse does to
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
/// The least zoom that the canvas chooses by itself: a card still shows at least its title.
inline constexpr double kLeastFitZoom = 0.52;
/// Where this little shows the whole query, it is better than one that is cut off. Cards are then signs of
/// their operators.
inline constexpr double kLeastWholeZoom = 0.15;

class CanvasView : public QGraphicsView {
  Q_OBJECT
 public:
  CanvasView(CanvasScene& scene, QWidget* parent);

  /// Sets the object that gets mouse events first, before the view scrolls.
  void setGestures(CanvasGestures* gestures) { m_gestures = gestures; }

  double zoom() const { return transform().m11(); }
  /// Sets the zoom. The scene point below `anchor` (pixels of the viewport) stays there.
  void setZoom(double zoom, QPointF anchor);
  void setZoom(double zoom);
  /// The largest zoom, setMostFit() or less, at which the whole rectangle is in sight.
  double fittingZoom(const QRectF& rect) const;
  /// Shows the whole rectangle, at setMostFit() or less. If that would need a zoom below `least`, shows its
  /// middle at `least`.
  void fit(const QRectF& rect, double least = kLeastZoom);
  /// The zoom that a small query gets that is fitted: 1, until it is set.
  void setMostFit(double zoom) { m_mostFit = zoom; }
  /// The height in scene pixels that the view can show at this zoom.
  double heightAt(double zoom) const;
  QPointF centerPoint() const;
  QRectF visibleRect() const;
  /// Moves the view as little as is needed to show the rectangle.
  void bringIntoSight(const QRectF& rect);
  void panBy(QPoint pixels);
  void setPanCursor(bool on);
  /// Whether the wheel zooms, and scrolls with Ctrl; else it is the other way round.
  void setWheelZooms(bool on) { m_wheelZooms = on; }

 Q_SIGNALS:
  void placeChanged();
  void movedByUser();  ///< the person moved the view, with the wheel or the fingers

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
  /// Shifts the part of the picture that stays in sight by (dx, dy) pixels, and paints only the rest again.
  void movePicture(int dx, int dy);

  CanvasScene& m_scene;
  CanvasGestures* m_gestures = nullptr;
  bool m_wheelZooms = false;
  double m_mostFit = 1;
  QTransform m_painted;  ///< transform of the picture on the screen
};

}  // namespace spanscope::ui
