// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/window/text_recorder.h"

#include "ui/export/view_picture.h"

#include <QFontInfo>
#include <QFontMetricsF>
#include <QPainter>
#include <QTransform>

#include <cmath>

namespace spanscope::test {

class TextRecorder::Engine : public ui::TextPaintEngine {
 public:
  Engine(std::vector<PaintedText>& texts, double scale) : m_texts(texts), m_scale(scale) {}

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
  return ui::screenMetric(metric, m_size, m_scale);
}

}  // namespace spanscope::test
