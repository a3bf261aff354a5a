// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/window/text_recorder.h"

#include <QFontInfo>
#include <QFontMetricsF>
#include <QPaintEngine>
#include <QPainter>
#include <QTransform>

#include <cmath>

namespace spanscope::test {

class TextRecorder::Engine : public QPaintEngine {
 public:
  Engine(std::vector<PaintedText>& texts, double scale)
      : QPaintEngine(AllFeatures), m_texts(texts), m_scale(scale) {}

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

  void drawTextItem(const QPointF& place, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    const QFontMetricsF metrics(item.font());
    const double high = metrics.capHeight();
    // Of the device, which is `scale` times as many pixels.
    QTransform shown = painter()->combinedTransform();
    shown *= QTransform::fromScale(1 / m_scale, 1 / m_scale);
    const QRectF ink(place.x(), place.y() - high, item.width(), high);
    const double enlarged = std::sqrt(std::abs(shown.determinant()));
    m_texts.push_back({.text = item.text(),
                       .place = shown.mapRect(ink),
                       .size = QFontInfo(item.font()).pixelSize() * enlarged});
  }

 private:
  std::vector<PaintedText>& m_texts;
  double m_scale;
};

TextRecorder::TextRecorder(QSize size, double scale)
    : m_size(size), m_scale(scale), m_engine(std::make_unique<Engine>(m_texts, scale)) {}

TextRecorder::~TextRecorder() = default;

QPaintEngine* TextRecorder::paintEngine() const {
  return m_engine.get();
}

int TextRecorder::metric(PaintDeviceMetric metric) const {
  constexpr int kDotsPerInch = 96;
  constexpr double kMillimetres = 25.4;
  const auto pixels = [this](int logical) { return static_cast<int>(std::lround(logical * m_scale)); };
  switch (metric) {
    case PdmWidth:
      return pixels(m_size.width());
    case PdmHeight:
      return pixels(m_size.height());
    case PdmWidthMM:
      return static_cast<int>(m_size.width() * kMillimetres / kDotsPerInch);
    case PdmHeightMM:
      return static_cast<int>(m_size.height() * kMillimetres / kDotsPerInch);
    case PdmNumColors:
      return 1 << 24;
    case PdmDepth:
      return 32;
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY:
      return kDotsPerInch;
    case PdmDevicePixelRatio:
      return static_cast<int>(std::ceil(m_scale));
    case PdmDevicePixelRatioScaled:
      return static_cast<int>(m_scale * devicePixelRatioFScale());
  }
  return 0;
}

}  // namespace spanscope::test
