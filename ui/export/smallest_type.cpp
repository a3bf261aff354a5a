// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/smallest_type.h"

#include "ui/export/text_paint_engine.h"

#include <QFontInfo>
#include <QPainter>
#include <QTransform>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr int kMostSide = 16384;                ///< pixels
constexpr double kMostArea = 64.0 * (1 << 20);  ///< pixels; at scale 2 the largest picture there is
constexpr double kTolerance = 0.05;             ///< pixels by which type may be smaller
constexpr double kBetter = 1.02;                ///< least gain that is worth a larger picture
constexpr int kRounds = 6;

/// Keeps how small the type gets.
class TypeEngine final : public TextPaintEngine {
 public:
  std::optional<double> smallest() const { return m_smallest; }

  void drawTextItem(const QPointF& /*place*/, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    const double enlarged = std::sqrt(std::abs(painter()->combinedTransform().determinant()));
    const double size = QFontInfo(item.font()).pixelSize() * enlarged;
    m_smallest = std::min(m_smallest.value_or(size), size);
  }

 private:
  std::optional<double> m_smallest;
};

class TypeDevice final : public QPaintDevice {
 public:
  explicit TypeDevice(const QSize& size) : m_size(size) {}

  std::optional<double> smallest() const { return m_engine.smallest(); }
  QPaintEngine* paintEngine() const override { return &m_engine; }

 protected:
  int metric(PaintDeviceMetric metric) const override { return screenMetric(metric, m_size, 1); }

 private:
  QSize m_size;
  mutable TypeEngine m_engine;
};

bool isPossible(const QSize& size) {
  return double(size.width()) * size.height() <= kMostArea;
}

}  // namespace

std::optional<double> smallestType(const PaintFunction& paint, const QSize& size) {
  TypeDevice device(size);
  QPainter painter(&device);
  painter.setClipRect(QRect(QPoint(), size));
  paint(painter, size);
  painter.end();
  return device.smallest();
}

QSize legibleSize(const PaintFunction& paint, const QSize& size, double least) {
  QSize best = size;
  double smallest = smallestType(paint, best).value_or(least);
  for (int round = 0; round < kRounds && smallest < least - kTolerance; ++round) {
    const double factor = least / smallest;
    const auto grown = [factor](int side) {
      return std::max(side, std::min(static_cast<int>(std::ceil(side * factor)) + 1, kMostSide));
    };
    const QSize larger(grown(best.width()), grown(best.height()));
    const QSize wider(larger.width(), best.height());
    const QSize higher(best.width(), larger.height());
    bool isBetter = false;
    for (const QSize& next : {wider, higher, larger}) {
      if (!isPossible(next)) continue;
      const double type = smallestType(paint, next).value_or(least);
      if (type < smallest * kBetter) continue;
      best = next;
      smallest = type;
      isBetter = true;
      break;
    }
    if (!isBetter) break;
  }
  return best;
}

}  // namespace spanscope::ui
