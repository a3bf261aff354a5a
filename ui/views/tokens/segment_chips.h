// SPDX-License-Identifier: GPL-3.0-or-later
// The segments of a prompt by name, each on its tint, for a title bar.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/segment_names.h"

#include <QRect>
#include <QWidget>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

class SegmentChips : public QWidget {
  Q_OBJECT
 public:
  explicit SegmentChips(QWidget* parent = nullptr);

  void showNames(std::vector<SegmentName> names, const Theme& theme);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void chosen(std::size_t chip);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  /// Those that fit in the width; the rest is told as a number.
  std::vector<QRect> places(int width) const;

  std::vector<SegmentName> m_names;
  Theme m_theme;
};

}  // namespace spanscope::ui
