// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/turn/turn_model.h"

#include <QRect>
#include <QWidget>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

/// Draws one pair of elements of query and key as arrows in the plane, before and after turning, once for
/// each way of turning. The angle between the turned arrows is the same in all.
class TurnDrawing : public QWidget {
  Q_OBJECT
 public:
  explicit TurnDrawing(QWidget* parent = nullptr);

  void setContent(const TurnModel& model, const Theme& theme);
  /// How far the arrows have been turned, 0 … 1. The stored key stands.
  void setTurned(double share);
  void paint(QPainter& painter, const QRect& area, double turned = 1) const;
  enum class Arrow { Key, Query };
  /// Where the turned arrows of one kind end, one for each way of turning, in pixels; at rest.
  std::vector<QRect> tips(Arrow arrow) const;
  QSize sizeHint() const override { return {540, 230}; }
  QSize minimumSizeHint() const override { return {240, 190}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Head { Square, Triangle };
  /// The circle of one way of turning.
  struct Circle {
    QPointF middle;
    double radius = 0;
    double room = 0;  ///< of its height
  };
  Circle circleIn(const QRectF& area) const;
  QRectF areaOf(std::size_t place, const QRect& area) const;
  double longest() const;  ///< arrow of all ways of turning
  void paintPlace(QPainter& painter, const QRectF& area, const TurnPlace& place, double longest,
                  bool isStored, double turned) const;
  void paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& ink, Head head,
                  bool isTurned) const;

  TurnModel m_model;
  Theme m_theme;
  double m_turned = 1;
};

}  // namespace spanscope::ui
