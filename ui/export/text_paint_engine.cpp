// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/text_paint_engine.h"

#include <cmath>

namespace spanscope::ui {

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
