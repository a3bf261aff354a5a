// SPDX-License-Identifier: GPL-3.0-or-later
// A scroll area whose content is painted, not made of widgets: only what is in sight is painted, however
// large the content is.
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractScrollArea>
#include <QRect>
#include <QSize>
#include <QString>

namespace spanscope::ui {

class PaintedScroll : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit PaintedScroll(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  const Theme& theme() const { return m_theme; }

  /// Paints the part of the content that `visible` touches; the painter stands in content coordinates.
  virtual void paintContent(QPainter& painter, const QRect& visible) = 0;
  virtual QSize contentSize() const = 0;

  QPoint offset() const;         ///< content coordinates of the viewport's top left
  QRect visibleContent() const;  ///< in content coordinates
  void scrollTo(const QPoint& topLeft);
  void makeVisible(const QRect& place, int margin = 2 * kSpace);
  /// Everything, scaled to fit, without scroll bars.
  void paintWhole(QPainter& painter, const QSize& size);

 protected:
  /// Whether the content is being painted for a file, where nothing should be made of pixels.
  bool exporting() const { return m_exporting; }
  /// The content has another size or look.
  void contentChanged();

  /// Left or right click at a place of the content.
  virtual void pressed(const QPoint& place) = 0;
  /// What the tool tip says there; empty: nothing.
  virtual QString tipAt(const QPoint& place) const = 0;
  /// Painted above the content, in viewport coordinates: what stays while scrolling.
  virtual void paintFixed(QPainter& painter);

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void updateBars();

  Theme m_theme;
  bool m_exporting = false;
};

}  // namespace spanscope::ui
