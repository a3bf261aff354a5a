// SPDX-License-Identifier: GPL-3.0-or-later
// Paints how full the pool is over the events of a trace.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/pool/pool_levels.h"

#include <QRect>
#include <QString>
#include <QWidget>

#include <cstddef>
#include <functional>
#include <optional>

namespace spanscope::ui {

/// The levels of the pool as one stacked picture, with a mark for each eviction. It has one event beside the
/// other, as the time strip does, so that pauses between runs take no room. What comes after the position is
/// pale. Left and Right go from change to change, Up and Down from eviction to eviction; a click or Return
/// chooses.
class PoolPlot : public QWidget {
  Q_OBJECT
 public:
  explicit PoolPlot(QWidget* parent = nullptr);

  /// `levels` must stay valid until the next call or the end of the plot. `total`: events of the trace;
  /// `position`: how many of them have happened.
  void showLevels(const PoolLevels* levels, std::size_t total, std::size_t position, const Theme& theme);
  /// Says what an event is, for tool tips and readers of the screen.
  void setNames(std::function<QString(std::size_t event)> names) { m_names = std::move(names); }

  /// The change at x, an index into PoolLevels::levels(): an eviction close by, else the last change not
  /// behind x. Nothing: there is none.
  std::optional<std::size_t> changeAt(double x) const;
  /// The change on which the keys are; nothing: there is none.
  std::optional<std::size_t> current() const;
  double xOf(std::size_t change) const;  ///< x in this widget
  QString factsOf(std::size_t change) const;

  QSize sizeHint() const override { return {400, 160}; }
  QSize minimumSizeHint() const override { return {120, 60}; }
  void paint(QPainter& painter, const QRect& area) const;

 Q_SIGNALS:
  void chosen(std::size_t event);
  void cursorMoved();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRect plotIn(const QRect& area) const;
  double xIn(const QRect& plot, std::size_t position) const;
  std::size_t positionAt(const QRect& plot, double x) const;
  /// The last change among the first `position` events.
  std::optional<std::size_t> changeBefore(std::size_t position) const;
  std::int32_t top() const;  ///< blocks at the top of the plot
  void paintLevels(QPainter& painter, const QRect& plot) const;
  void paintEvictions(QPainter& painter, const QRect& plot) const;
  void paintLegend(QPainter& painter, const QRect& area) const;
  void moveTo(std::size_t change);

  const PoolLevels* m_levels = nullptr;
  std::size_t m_total = 0;
  std::size_t m_position = 0;
  Theme m_theme;
  std::function<QString(std::size_t)> m_names;
  std::optional<std::size_t> m_cursor;  ///< nothing: the keys begin at the position
};

}  // namespace spanscope::ui
