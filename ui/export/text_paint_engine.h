// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QSize>

namespace spanscope::ui {

/// Paints nothing but is told of every text: for measuring what a painter would write.
class TextPaintEngine : public QPaintEngine {
 public:
  TextPaintEngine() : QPaintEngine(AllFeatures) {}

  bool begin(QPaintDevice* /*device*/) override { return true; }
  bool end() override { return true; }
  void updateState(const QPaintEngineState& /*state*/) override {}
  Type type() const override { return User; }
  void drawPixmap(const QRectF& /*area*/, const QPixmap& /*pixmap*/, const QRectF& /*from*/) override {}
  void drawImage(const QRectF& /*area*/, const QImage& /*image*/, const QRectF& /*from*/,
                 Qt::ImageConversionFlags /*flags*/) override {}
  void drawTiledPixmap(const QRectF& /*area*/, const QPixmap& /*pixmap*/, const QPointF& /*from*/) override {}
  void drawPath(const QPainterPath& /*path*/) override {}
  void drawPolygon(const QPointF* /*points*/, int /*count*/, PolygonDrawMode /*mode*/) override {}
  void drawPolygon(const QPoint* /*points*/, int /*count*/, PolygonDrawMode /*mode*/) override {}
  void drawLines(const QLineF* /*lines*/, int /*count*/) override {}
  void drawLines(const QLine* /*lines*/, int /*count*/) override {}
  void drawRects(const QRectF* /*areas*/, int /*count*/) override {}
  void drawRects(const QRect* /*areas*/, int /*count*/) override {}
  void drawPoints(const QPointF* /*points*/, int /*count*/) override {}
  void drawPoints(const QPoint* /*points*/, int /*count*/) override {}
  void drawEllipse(const QRectF& /*area*/) override {}
  void drawEllipse(const QRect& /*area*/) override {}

  void drawTextItem(const QPointF& place, const QTextItem& item) override = 0;
};

/// What QPaintDevice::metric() of a device says, for `size` logical pixels on a screen of `scale`.
int screenMetric(QPaintDevice::PaintDeviceMetric metric, const QSize& size, double scale);

}  // namespace spanscope::ui
