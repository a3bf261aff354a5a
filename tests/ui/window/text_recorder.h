// SPDX-License-Identifier: GPL-3.0-or-later
// A paint device that keeps only the texts: their places and the size of their type.
#pragma once

#include <QPaintDevice>
#include <QRectF>
#include <QSize>
#include <QString>

#include <memory>
#include <vector>

class QPaintEngine;

namespace spanscope::test {

/// A text as it was painted.
struct PaintedText {
  QString text;
  /// Its ink, as wide as the letters run and as high as digits and capitals are, in logical pixels of the
  /// device.
  QRectF place;
  double size = 0;  ///< of the type, in logical pixels
};

/// A device of a size in logical pixels. Painters do on it what they do on a screen of the scale.
class TextRecorder : public QPaintDevice {
 public:
  TextRecorder(QSize size, double scale);
  ~TextRecorder() override;

  const std::vector<PaintedText>& texts() const { return m_texts; }
  QPaintEngine* paintEngine() const override;

 protected:
  int metric(PaintDeviceMetric metric) const override;

 private:
  class Engine;

  QSize m_size;
  double m_scale;
  std::vector<PaintedText> m_texts;
  std::unique_ptr<Engine> m_engine;
};

}  // namespace spanscope::test
