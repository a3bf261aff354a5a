// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/view_picture.h"

#include "ui/views/view.h"

#include <QCoreApplication>
#include <QFontInfo>
#include <QPainter>
#include <QTransform>

#include <algorithm>
#include <cmath>
#include <memory>

namespace spanscope::ui {

namespace {

constexpr int kRounds = 3;  // compute, show what came of it, lay it out

/// A view on no screen, with a copy of the document: views that edit show nothing without one.
struct OffscreenView {
  OffscreenView(const ViewInfo& info, ViewInput input, const Theme& theme, const QSize& size)
      : model(*input.document), view(info.make(nullptr)) {
    view->setAttribute(Qt::WA_DontShowOnScreen);
    view->setPalette(theme.palette());
    view->setStyleSheet(theme.styleSheet());
    view->setFont(theme.interfaceFont());
    view->resize(size);
    view->show();  // hidden views do not compute
    input.theme = theme;
    view->setModel(&model);
    view->setInput(input);
    settle();
    auto* late = dynamic_cast<LateView*>(view.get());
    if (late == nullptr) return;
    late->finish();
    settle();
  }

  /// Views that wait for a quiet moment to compute, and layouts, get theirs before anything is painted.
  static void settle() {
    for (int i = 0; i < kRounds; ++i) QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
  }

  DocumentModel model;
  std::unique_ptr<View> view;  ///< ends first: it refers to the model
};

}  // namespace

ViewInput inputForPicture(const QString& id, const ViewInput& input) {
  static const QStringList ofSelection{QStringLiteral("inspector"), QStringLiteral("why"),
                                       QStringLiteral("fragments"), QStringLiteral("next-token"),
                                       QStringLiteral("turn")};
  ViewInput unselected = input;
  if (ofSelection.contains(id)) return unselected;
  unselected.selection = {};
  if (const auto shown = input.shownRequest(); unselected.shownRequest() != shown)
    unselected.selection.request = shown;
  return unselected;
}

ExportItem exportItem(const ViewInfo& info, const ViewInput& input, const QSize& size) {
  return {.id = info.id,
          .title = info.title,
          .size = size,
          .paint =
              [info, input, size](QPainter& painter, const QSize& wanted, const Theme& theme) {
                OffscreenView(info, input, theme, size).view->paintTo(painter, wanted);
              },
          .csv = [info, input, size] { return OffscreenView(info, input, input.theme, size).view->csv(); }};
}

QSize pictureSize(const ExportItem& item) {
  if (item.isWindow) return item.size;
  const Theme theme;
  const PaintFunction paint = [&](QPainter& painter, const QSize& size) { item.paint(painter, size, theme); };
  return legibleSize(paint, item.size, theme.smallFont().pixelSize());
}

QImage renderItem(const ExportItem& item, const QSize& size, const Theme& theme, double scale) {
  QImage image(QSize(static_cast<int>(std::lround(size.width() * scale)),
                     static_cast<int>(std::lround(size.height() * scale))),
               QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(scale);
  image.fill(theme.color(Role::Surface));
  QPainter painter(&image);
  item.paint(painter, size, theme);
  return image;
}

namespace {

constexpr int kMostSide = 16384;                ///< pixels
constexpr double kMostArea = 64.0 * (1 << 20);  ///< pixels; at scale 2 the largest picture there is
constexpr double kTolerance = 0.05;             ///< pixels by which type may be smaller
constexpr double kBetter = 1.02;                ///< least gain that is worth a larger picture
constexpr int kMaxSteps = 6;

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
  for (int round = 0; round < kMaxSteps && smallest < least - kTolerance; ++round) {
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

int screenMetric(QPaintDevice::PaintDeviceMetric metric, const QSize& size, double scale) {
  constexpr int kDotsPerInch = 96;
  constexpr double kMillimetres = 25.4;
  const auto pixels = [scale](int logical) { return static_cast<int>(std::lround(logical * scale)); };
  switch (metric) {
    case QPaintDevice::PdmWidth:
      return pixels(size.width());
    case QPaintDevice::PdmHeight:
      return pixels(size.height());
    case QPaintDevice::PdmWidthMM:
      return static_cast<int>(size.width() * kMillimetres / kDotsPerInch);
    case QPaintDevice::PdmHeightMM:
      return static_cast<int>(size.height() * kMillimetres / kDotsPerInch);
    case QPaintDevice::PdmNumColors:
      return 1 << 24;
    case QPaintDevice::PdmDepth:
      return 32;
    case QPaintDevice::PdmDpiX:
    case QPaintDevice::PdmDpiY:
    case QPaintDevice::PdmPhysicalDpiX:
    case QPaintDevice::PdmPhysicalDpiY:
      return kDotsPerInch;
    case QPaintDevice::PdmDevicePixelRatio:
      return static_cast<int>(std::ceil(scale));
    case QPaintDevice::PdmDevicePixelRatioScaled:
      return static_cast<int>(scale * QPaintDevice::devicePixelRatioFScale());
  }
  return 0;
}

}  // namespace spanscope::ui
