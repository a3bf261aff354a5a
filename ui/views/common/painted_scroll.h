// SPDX-License-Identifier: GPL-3.0-or-later
// A scroll area that paints its content, without child widgets. The area paints only the visible part, so the
// content can be large.
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractScrollArea>
#include <QRect>
#include <QSize>
#include <QString>

#include <functional>

namespace spanscope::ui {

class PaintedScroll : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit PaintedScroll(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  const Theme& theme() const { return m_theme; }

  /// Paints the part of the content that `visible` touches. The painter uses content coordinates.
  virtual void paintContent(QPainter& painter, const QRect& visible) = 0;
  virtual QSize contentSize() const = 0;

  QPoint offset() const;         ///< content coordinates of the viewport's top left
  QRect visibleContent() const;  ///< the visible part, in content coordinates
  QSize seenSize() const;        ///< size of the visible part, in content coordinates
  /// The place of content in the viewport.
  QRect inViewport(const QRect& place) const;
  void scrollTo(const QPoint& topLeft);
  void makeVisible(const QRect& place, int margin = 2 * kSpace);
  /// Scrolls with this function now, and again after each change of the size, until the user scrolls. So a
  /// place stays visible that was revealed before the area had its size.
  void keepVisible(std::function<void()> reveal);
  bool keepsPlace() const { return m_reveal != nullptr; }
  /// Paints the whole content, scaled to fit into `size`, without scroll bars.
  void paintWhole(QPainter& painter, const QSize& size);

 protected:
  /// Whether the content is being painted for a file. Such painting should be vectors, not pixels.
  bool exporting() const { return m_exporting; }
  /// Sets how many pixels of the viewport a pixel of the content takes. Default: 1.
  void setScale(double scale);
  double scale() const { return m_scale; }
  /// Call this function after the size or the look of the content has changed.
  void contentChanged();

  /// Called at a left or right click on a place of the content.
  virtual void pressed(const QPoint& place) = 0;
  /// The tool tip at a place of the content; empty: none.
  virtual QString tipAt(const QPoint& place) const = 0;
  /// Paints things that do not scroll, above the content. The painter has the scale of the content.
  virtual void paintFixed(QPainter& painter);

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void updateBars();
  QPoint inContent(const QPoint& place) const;

  Theme m_theme;
  bool m_exporting = false;
  double m_scale = 1;
  std::function<void()> m_reveal;  ///< of keepVisible(); empty: the user has scrolled
};

/// A painted scroll area whose cells have several sizes. The keys + and −, and the wheel with Ctrl, go
/// through the sizes. The key 0 chooses the largest size that fits.
class ZoomedScroll : public PaintedScroll {
  Q_OBJECT
 public:
  using PaintedScroll::PaintedScroll;

 protected:
  /// Goes `steps` sizes up, or down if `steps` is negative, but not beyond the last size.
  virtual void zoom(int steps) = 0;
  virtual void zoomToFit() = 0;

  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
};

}  // namespace spanscope::ui
